"""The leaderboard: derived from score files, and from nothing else.

Readouts are ranked by the headline metric among those scored on the same rows: a score on 152 trials
is not compared with one on 1020. Of each model's readout the board shows the last layer that was
evaluated, a rule fixed beforehand, never the best. Files of another benchmark, trial table or metric
version are refused by name.
"""

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.metrics import HEADLINE_CEILING, HEADLINE_METRIC
from model_eval.tables import READOUT_KEY
from stimuli.errors import InputError

NOT_AVAILABLE = "n/a"

# What has to agree between files on one board.
MUST_AGREE = (
    "benchmark",
    "benchmark_version",
    "trials_sha256",
    "exclusion_rules",
    "metric_version",
)

BOARD_COLUMNS: Mapping[str, str] = {
    "rank": "rank",
    "model": "model",
    "readout": "readout",
    "layer": "layer",
    "partial": "r partial [95 % CI]",
    "share": "share of attainable",
    "all": "r all [95 % CI]",
    "same": "r same [95 % CI]",
    "different": "r different [95 % CI]",
    "control_condition_r": "condition's r all",
    "published": "r published [95 % CI]",
    "published_normalised": "published r / half-half r",
    "n": "trials / scenes / people",
}

EXPLANATIONS = (
    (
        "r: Spearman correlation of predicted difficulty with people's mean RT; below zero is worse "
        "than chance and stays below zero. Headline: partial, condition and distance removed. "
        "Intervals: 95 %, over people and scenes."
    ),
    "share of attainable: partial r divided by the root of the reliability of people's mean.",
    "condition's r all: what the four condition means alone reach on the same rows.",
    (
        "published r / half-half r: the published normalisation, whose 1 is no ceiling: the model "
        "meets half of the people and is divided by half with half (a perfect model would reach "
        "1.55 on the published data)."
    ),
)

RecordedScores = list[tuple[Path, dict[str, Any], pd.DataFrame]]


def build_leaderboard(files: RecordedScores) -> pd.DataFrame:
    """Return the board: a row per model, layer, representation and readout; metrics side by side.

    Parameters
    ----------
    files
        As `analysis.records.read_score_files` returns them.

    Returns
    -------
    DataFrame
        Sorted: sets of rows by size, then by the headline r. `rank` counts headline rows within
        their set; rows without a headline value have none.

    Raises
    ------
    InputError
        The files are of different benchmarks, trial tables or metric versions.
    """
    check_files_agree(files)
    board = pd.concat([_widen(scores, record) for _, record, scores in files], ignore_index=True)
    headline = f"{HEADLINE_METRIC}_r"
    board = board.sort_values(
        ["n_trials", "rows_sha256", headline, "all_r", "model"],
        ascending=[False, True, False, False, True],
        na_position="last",
        ignore_index=True,
    )
    ranked = board[board["is_shown"] & board[headline].notna()]
    ranks = ranked.groupby("rows_sha256")[headline].rank(ascending=False, method="min")
    board.insert(0, "rank", ranks.astype("Int64").reindex(board.index))
    return board


def check_files_agree(files: RecordedScores) -> None:
    """Raise unless all score files are of one benchmark, trial table and metric version.

    Raises
    ------
    InputError
        Names the file that differs from the first, and in what.
    """
    first_path, first, _ = files[0]
    for path, record, _ in files[1:]:
        for key in MUST_AGREE:
            if record.get(key) != first.get(key):
                raise InputError(
                    f"{path}: {key} is {record.get(key)!r}, but {first_path.name} has "
                    f"{first.get(key)!r}; scores of different versions don't share a board. Score "
                    "the model anew, or move the file away"
                )


def format_board(board: pd.DataFrame) -> pd.DataFrame:
    """Return the shown rows as text, columns as in `BOARD_COLUMNS`."""
    shown = board[board["is_shown"]]
    cells = pd.DataFrame(
        {
            "rank": shown["rank"].map(lambda rank: NOT_AVAILABLE if pd.isna(rank) else str(rank)),
            "model": shown["model"]
            + shown["is_random_weights"].map({True: " (random weights)"}).fillna(""),
            "readout": shown["readout"],
            "layer": [
                " ".join(str(part) for part in pair if pd.notna(part))
                for pair in zip(shown["layer"], shown["representation"], strict=True)
            ],
            "share": shown[f"{HEADLINE_METRIC}_r_over_{HEADLINE_CEILING.removesuffix('_r')}"].map(
                _number
            ),
            "control_condition_r": shown["all_control_condition_r"].map(_number),
            "published_normalised": shown["published_r_over_split_half"].map(_number),
            "n": shown[["n_trials", "n_scenes", "n_people"]].astype(str).agg(" / ".join, axis=1),
        }
    )
    for metric in ("partial", "all", "same", "different", "published"):
        cells[metric] = [
            _with_interval(r, low, high)
            for r, low, high in zip(
                shown[f"{metric}_r"],
                shown[f"{metric}_ci_low_r"],
                shown[f"{metric}_ci_high_r"],
                strict=True,
            )
        ]
    return cells[list(BOARD_COLUMNS)].rename(columns=dict(BOARD_COLUMNS))


def render_markdown(board: pd.DataFrame, record: Mapping[str, Any]) -> str:
    """Return the board as a Markdown page, one table per set of rows."""
    parts = [f"# {_title(record)}", ""]
    for caption, table in _split_sets(board):
        header = "| " + " | ".join(table.columns) + " |"
        rule = "|" + " --- |" * len(table.columns)
        rows = [
            "| " + " | ".join(_escape_pipe(cell) for cell in row) + " |" for row in table.to_numpy()
        ]
        parts += [f"## {caption}", "", header, rule, *rows, ""]
    parts += [f"- {line}" for line in EXPLANATIONS]
    return "\n".join(parts) + "\n"


def render_html(board: pd.DataFrame, record: Mapping[str, Any]) -> str:
    """Return the board as one self-contained HTML page, one table per set of rows."""
    tables = "".join(
        f"<h2>{html.escape(caption)}</h2><div class=wide>{_html_table(table)}</div>"
        for caption, table in _split_sets(board)
    )
    notes = "".join(f"<li>{html.escape(line)}</li>" for line in EXPLANATIONS)
    title = html.escape(_title(record))
    return _PAGE.format(title=title, tables=tables, notes=notes)


def _widen(scores: pd.DataFrame, record: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per readout, with columns `<metric>_<quantity>`."""
    last_layer = scores.groupby(["representation", "readout"], dropna=False)["layer"].transform(
        "last"
    )
    is_last = scores["layer"].eq(last_layer) | (scores["layer"].isna() & last_layer.isna())
    scores = scores.assign(is_shown=is_last)
    rows = []
    for key, table in scores.groupby(READOUT_KEY, sort=False, dropna=False):
        row: dict[str, object] = dict(zip(READOUT_KEY, key, strict=True))
        row["kind"] = table["kind"].iloc[0]
        row["is_shown"] = bool(table["is_shown"].iloc[0])
        row["is_random_weights"] = bool(record["model"].get("is_random_weights", False))
        whole = table[table["metric"] == "all"].iloc[0]
        row |= {name: whole[name] for name in ("n_trials", "n_scenes", "n_people", "rows_sha256")}
        for _, score in table.iterrows():
            row |= {f"{score['metric']}_{name}": score[name] for name in _QUANTITIES}
        rows.append(row)
    return pd.DataFrame(rows)


_QUANTITIES = (
    "r",
    "se_r",
    "ci_low_r",
    "ci_high_r",
    "split_half_r",
    "attainable_r",
    "one_vs_rest_r",
    "r_over_split_half",
    "r_over_attainable",
    "r_over_one_vs_rest",
    "attainable_low_r",
    "attainable_high_r",
    "r_over_attainable_low",
    "r_over_attainable_high",
    "control_condition_r",
    "control_leak_r",
    "note",
)


def _split_sets(board: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    shown = board[board["is_shown"]]
    sets = []
    for _, part in shown.groupby("rows_sha256", sort=False):
        row = part.iloc[0]
        caption = (
            f"{row['n_trials']} trials of {row['n_scenes']} scenes, {row['n_people']} people "
            f"(attainable partial r {_number(row['partial_attainable_r'])})"
        )
        sets.append((caption, format_board(part)))
    return sets


def _html_table(table: pd.DataFrame) -> str:
    head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in table.to_numpy()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _title(record: Mapping[str, Any]) -> str:
    people = ", SIMULATED people" if record.get("is_simulated") else ""
    return f"objecthood: {record['benchmark']} {record['benchmark_version']}{people}"


def _number(value: float | None) -> str:
    return NOT_AVAILABLE if value is None or pd.isna(value) else f"{value:.3f}"


def _with_interval(r: float, low: float, high: float) -> str:
    return _number(r) if pd.isna(low) else f"{_number(r)} [{_number(low)}, {_number(high)}]"


def _escape_pipe(cell: object) -> str:
    return str(cell).replace("|", "\\|")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.45 system-ui, "DejaVu Sans", sans-serif; margin: 2rem auto; max-width: 80rem;
  padding: 0 1rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .88rem; }}
th, td {{ padding: .35rem .7rem; border-bottom: 1px solid #8886; text-align: left;
  white-space: nowrap; }}
thead th {{ border-bottom: 2px solid; white-space: normal; vertical-align: bottom; }}
li {{ max-width: 60rem; }}
</style></head>
<body><h1>{title}</h1>{tables}<ul>{notes}</ul></body></html>
"""
