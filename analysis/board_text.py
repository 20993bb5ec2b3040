"""The board as text: one table, as cells for people (Markdown, LaTeX, the page) and as numbers (CSV)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.leaderboard import list_rows, split_sets

NOT_AVAILABLE = "n/a"

BOARD_COLUMNS: Mapping[str, str] = {
    "rank": "rank",
    "model": "model",
    "family": "family",
    "objective": "objective",
    "year": "year",
    "n_parameters": "parameters",
    "readout": "readout",
    "layer": "layer",
    "partial": "r partial [95 % CI]",
    "share": "share of attainable [95 % CI]",
    "all": "r all [95 % CI]",
    "control_condition_r": "condition's r all",
    "same": "r same [95 % CI]",
    "different": "r different [95 % CI]",
    "published": "r published [95 % CI]",
    "published_normalised": "published r / half-half r",
    "object_auc": "within/between AUC",
    "best_layer": "best layer (its r)",
    "n": "trials / scenes / people",
}

# The numbers of the same table, for programs.
CSV_COLUMNS = (
    *("rank", "rank_low", "rank_high", "n_sharing_rank", "model", "family", "objective", "year"),
    *("n_parameters", "is_random_weights", "readout", "representation", "layer", "kind"),
    *("partial_r", "partial_ci_low_r", "partial_ci_high_r", "partial_r_over_attainable"),
    *("partial_r_over_attainable_low", "partial_r_over_attainable_high"),
    *("partial_attainable_r", "partial_one_vs_rest_r", "partial_control_leak_r"),
    *("all_r", "all_ci_low_r", "all_ci_high_r", "all_control_condition_r", "all_control_leak_r"),
    *("same_r", "same_ci_low_r", "same_ci_high_r"),
    *("different_r", "different_ci_low_r", "different_ci_high_r"),
    *("published_r", "published_ci_low_r", "published_ci_high_r", "published_r_over_split_half"),
    *("object_auc", "best_layer", "best_layer_r", "n_trials", "n_scenes", "n_people"),
    "rows_sha256",
)

WHY_ONE_IS_NO_CEILING = (
    "Why 1.0 of the published normalisation is no ceiling: the model meets the mean of half of the "
    "people and is divided by how well the other half meets it, so a model that knew everybody's true "
    "mean would score the inverse root of that number (1.55 on the published data); the share of the "
    "attainable divides by what such a model would reach."
)
WHY_FOLDS_GROUP_BY_SCENE = (
    "Why folds group by scene: the four trials of a photograph share its image and its central dot, so "
    "a readout that learns with folds over trials can learn photographs; the mean RT of a photograph's "
    "other three trials, which uses no model at all, would then beat every model (.88 in the published "
    "normalisation)."
)
WHY_CONDITION = (
    "What a model adds to control:condition: the four condition means alone, with no image, already "
    "correlate with people's RT (condition's r all); r partial is what is left of the model once "
    "condition and distance are removed, which is why it is the headline."
)

EXPLANATIONS = (
    (
        "r: Spearman correlation of predicted difficulty with people's mean RT; below zero is worse "
        "than chance and stays below zero. Headline: partial, condition and distance removed. "
        "Intervals: 95 %, over people and scenes."
    ),
    (
        "rank: by the headline among readouts scored on the same trials; '=' marks equal scores. In "
        "brackets its rank interval ('objecthood compare', corrected for the number of pairs): from "
        "one more than the rows that are separably better, to all that aren't separably worse. "
        "Rows without a headline have no rank."
    ),
    (
        "share of attainable: partial r divided by the root of the reliability of people's mean, "
        "95 % over people and scenes, with numerator and denominator varying together."
    ),
    "condition's r all: what the four condition means alone reach on the same rows.",
    (
        "within/between AUC: how well a dot's affinity map picks out the dot's object, mean over "
        "trials, same layer; of the central dot where it is known, else of the second."
    ),
    (
        "best layer: chosen on the trials that it is scored on, so its r is too high; it never ranks. "
        "The row's own layer is the last one evaluated."
    ),
    WHY_CONDITION,
    WHY_ONE_IS_NO_CEILING,
    WHY_FOLDS_GROUP_BY_SCENE,
)


def tabulate_board(board: pd.DataFrame) -> pd.DataFrame:
    """Return the shown rows as numbers, columns as in `CSV_COLUMNS`."""
    return board.loc[board["is_shown"], list(CSV_COLUMNS)].reset_index(drop=True)


def format_board(board: pd.DataFrame) -> pd.DataFrame:
    """Return the shown rows as text, columns named by `BOARD_COLUMNS`."""
    rows = list_rows(board[board["is_shown"]])
    cells = [format_row(row) for row in rows]
    table = pd.DataFrame(cells, columns=list(BOARD_COLUMNS), index=board.index[board["is_shown"]])
    return table.rename(columns=dict(BOARD_COLUMNS))


def format_row(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of one row of the board, by the keys of `BOARD_COLUMNS`."""
    cells = {
        "rank": format_rank(row),
        "model": f"{row['model']}{' (random weights)' if row['is_random_weights'] else ''}",
        "readout": row["readout"],
        "layer": " ".join(_text(row[name]) for name in ("layer", "representation")).strip(),
        "share": format_share(row),
        "control_condition_r": format_number(row["all_control_condition_r"]),
        "published_normalised": format_number(row["published_r_over_split_half"]),
        "object_auc": format_number(row["object_auc"]),
        "n_parameters": format_count(row["n_parameters"]),
        "year": "" if pd.isna(row["year"]) else str(int(row["year"])),
        "best_layer": format_best_layer(row),
        "n": " / ".join(str(row[name]) for name in ("n_trials", "n_scenes", "n_people")),
    }
    cells |= {name: _text(row[name]) for name in ("family", "objective")}
    for metric in ("partial", "all", "same", "different", "published"):
        cells[metric] = format_interval(row, metric)
    return cells


def format_rank(row: Mapping[str, Any]) -> str:
    """Return a rank as it is read: ``3``, ``=3`` for equal scores, with its interval where known.

    >>> format_rank({"rank": 3, "rank_low": 2, "rank_high": 5, "n_sharing_rank": 1})
    '3 (2-5)'
    """
    if pd.isna(row["rank"]):
        return NOT_AVAILABLE
    rank = f"{'=' if row['n_sharing_rank'] > 1 else ''}{int(row['rank'])}"
    if pd.isna(row["rank_low"]) or pd.isna(row["rank_high"]):
        return rank
    low, high = int(row["rank_low"]), int(row["rank_high"])
    return f"{rank} ({low})" if low == high else f"{rank} ({low}-{high})"


def format_number(value: float | None) -> str:
    """Return a number with three decimals, or ``n/a``."""
    return NOT_AVAILABLE if value is None or pd.isna(value) else f"{value:.3f}"


def format_share(row: Mapping[str, Any], digits: int = 3) -> str:
    """Return the headline's share of the attainable, with its interval where there is one."""
    names = ("", "_low", "_high")
    share, low, high = (row[f"partial_r_over_attainable{name}"] for name in names)
    if pd.isna(share):
        return NOT_AVAILABLE
    text = f"{share:.{digits}f}"
    return (
        text if pd.isna(low) or pd.isna(high) else f"{text} [{low:.{digits}f}, {high:.{digits}f}]"
    )


def format_interval(row: Mapping[str, Any], metric: str) -> str:
    """Return a metric's r with its interval, where there is one."""
    r, low, high = (row[f"{metric}_{name}"] for name in ("r", "ci_low_r", "ci_high_r"))
    if pd.isna(low) or pd.isna(high):
        return format_number(r)
    return f"{format_number(r)} [{format_number(low)}, {format_number(high)}]"


def format_best_layer(row: Mapping[str, Any]) -> str:
    """Return the layer of the highest headline r and that r; empty where only one was evaluated."""
    if pd.isna(row["best_layer"]):
        return ""
    return f"{row['best_layer']} ({format_number(row['best_layer_r'])})"


def format_count(value: float | None) -> str:
    """Return a number of parameters: ``86.6 M``; empty for none."""
    if value is None or pd.isna(value):
        return ""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.1f}{unit}"
    return str(int(value))


def caption_set(part: pd.DataFrame) -> str:
    """Return what a set of rows is: how many trials, scenes and people, and what is attainable."""
    row = part.iloc[0]
    return (
        f"{row['n_trials']} trials of {row['n_scenes']} scenes, {row['n_people']} people "
        f"(attainable partial r {format_number(row['partial_attainable_r'])})"
    )


def name_board(record: Mapping[str, Any]) -> str:
    """Return the board's title: the benchmark, its version, and whether people are simulated."""
    people = ", SIMULATED people" if record.get("is_simulated") else ""
    return f"objecthood: {record['benchmark']} {record['benchmark_version']}{people}"


def render_markdown(
    board: pd.DataFrame, record: Mapping[str, Any], *, reported: pd.DataFrame | None = None
) -> str:
    """Return the board as a Markdown page: a table per set of rows, then what papers report."""
    parts = [f"# {name_board(record)}", ""]
    for caption, table in _list_tables(board):
        parts += [f"## {caption}", "", *_markdown_table(table), ""]
    parts += [f"- {line}" for line in EXPLANATIONS]
    if reported is not None and len(reported):
        parts += ["", "## Reported in the papers, not computed here and not ranked", ""]
        parts += _markdown_table(reported.astype(object).where(reported.notna(), ""))
    return "\n".join(parts) + "\n"


def render_latex(board: pd.DataFrame, record: Mapping[str, Any]) -> str:
    """Return the board as LaTeX tables (packages booktabs and graphicx), one per set of rows."""
    parts = [f"% {name_board(record)}; needs \\usepackage{{booktabs,graphicx}}"]
    kind = "table"
    for caption, table in _list_tables(board):
        head = " & ".join(_escape_latex(name) for name in table.columns)
        body = [
            " & ".join(_escape_latex(cell) for cell in row) + r" \\" for row in table.to_numpy()
        ]
        parts += [
            rf"\begin{{{kind}}}",
            rf"\caption{{{_escape_latex(name_board(record))}. {_escape_latex(caption)}.}}",
            r"\resizebox{\textwidth}{!}{%",
            rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\end{{{kind}}}",
        ]
    return "\n".join(parts) + "\n"


def _list_tables(board: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return each set's caption and cells, without the columns that no row of the board fills."""
    whole = format_board(board)
    filled = [name for name in whole.columns if (whole[name] != "").any()]
    return [(caption_set(part), format_board(part)[filled]) for part in split_sets(board)]


_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\n": " ",
    }
)


def _escape_latex(cell: object) -> str:
    return str(cell).translate(_LATEX)


def _markdown_table(table: pd.DataFrame) -> list[str]:
    header = "| " + " | ".join(map(str, table.columns)) + " |"
    rule = "|" + " --- |" * len(table.columns)
    rows = [
        "| " + " | ".join(_escape_markdown(cell) for cell in row) + " |" for row in table.to_numpy()
    ]
    return [header, rule, *rows]


def _escape_markdown(cell: object) -> str:
    text = str(cell).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("<", "&lt;").replace("\n", " ")


def _text(value: object) -> str:
    return "" if value is None or pd.isna(value) else str(value)  # type: ignore[call-overload]
