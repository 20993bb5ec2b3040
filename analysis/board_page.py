"""The leaderboard page: one HTML file that needs no network and no server.

The table is in the HTML, so it can be read, copied and printed without JavaScript; what a row opens to
(layer curve, example trials, provenance) is data in the page, drawn when it is asked for.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from analysis.board_examples import Examples
from analysis.board_reported import CITATIONS
from analysis.board_text import (
    EXPLANATIONS,
    caption_set,
    format_number,
    format_row,
    format_share,
    name_board,
)
from analysis.leaderboard import RecordedScores, list_rows, pick_layers, split_sets
from analysis.metrics import HEADLINE_CEILING, HEADLINE_METRIC

TEMPLATES = Path(__file__).parent / "templates"
UNKNOWN = "not stated"

# Columns of the page: key, header, what it means (shown in the header's tip and in the explanations).
COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("rank", "Rank", "By the headline r among readouts scored on the same trials"),
    ("model", "Model", "Name, readout, layer; open it for its layers and example trials"),
    ("family", "Family", "As the model's score file states it"),
    ("objective", "Objective", "What it was trained for"),
    ("year", "Year", "Of the model's publication"),
    ("params", "Params", "Number of parameters"),
    ("headline", "Headline r", "Spearman r with people's mean RT, condition and distance removed"),
    ("all", "r all", "All trials, condition not removed"),
    ("gain", "− condition", "r all minus what the four condition means alone reach"),
    ("same", "Same", "Within the same-object trials"),
    ("different", "Diff.", "Within the different-object trials"),
    (
        "published",
        "Published",
        "Published form: r with halves of people; in brackets divided by half-with-half r",
    ),
    ("auc", "W/B AUC", "Within/between: how well a dot's affinity map picks out its object"),
    ("best", "Best layer", "Chosen on the same trials, so too high; never ranks"),
)
_ALWAYS = {"rank", "model", "headline"}


def render_board_page(
    board: pd.DataFrame,
    files: RecordedScores,
    *,
    reported: pd.DataFrame | None = None,
    examples: Examples | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    board
        As `analysis.leaderboard.build_leaderboard` returns it.
    files
        The score files that it was made of, for provenance.
    reported
        As `analysis.board_reported.read_reported` returns it.
    examples
        As `choose_examples` returns them; none where no benchmark was given.
    """
    examples = examples or Examples()
    record = files[0][1]
    records = {str(scores["model"].iloc[0]): (path, record) for path, record, scores in files}
    sets = [_describe_set(part, number) for number, part in enumerate(split_sets(board))]
    data = {
        "entries": {
            row["id"]: _describe_entry(row["raw"], board, records=records, examples=examples)
            for part in sets
            for row in part["rows"]
        },
        "trials": examples.trials,
    }
    for part in sets:
        for row in part["rows"]:
            del row["raw"]
    shown = board[board["is_shown"]]
    # A column that no model fills is left out.
    filled = {key for part in sets for row in part["rows"] for key in row["filled"]}
    columns = [column for column in COLUMNS if column[0] in filled]
    template = make_environment().get_template("board.html")
    return template.render(
        title=name_board(record),
        record=record,
        n_models=shown["model"].nunique(),
        columns=columns,
        sets=sets,
        families=_choices(shown["family"]),
        objectives=_choices(shown["objective"]),
        readouts=sorted(set(shown["readout"])),
        explanations=EXPLANATIONS,
        reported=[] if reported is None else _describe_reported(reported),
        data=embed_json(data),
    )


def make_environment() -> jinja2.Environment:
    """Return the templates, which escape everything that is put into them."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def embed_json(content: object) -> str:
    """Return JSON that can stand in a script element, whatever texts it holds."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _describe_set(part: pd.DataFrame, number: int) -> dict[str, Any]:
    """Return one table of the page: its caption, its axis and its rows."""
    rows = list_rows(part)
    low, high = _find_axis(part)
    ceiling = (rows[0]["partial_one_vs_rest_r"], rows[0][f"{HEADLINE_METRIC}_{HEADLINE_CEILING}"])
    return {
        "number": number,
        "caption": caption_set(part),
        "axis": [low, high],
        "zero": _place(0.0, low, high),
        "band": None
        if pd.isna(ceiling[0]) or pd.isna(ceiling[1])
        else [_place(value, low, high) for value in ceiling],
        "ceiling": [format_number(value) for value in ceiling],
        "rows": [
            _describe_row(row, f"s{number}r{k}", axis=(low, high)) for k, row in enumerate(rows)
        ],
    }


def _describe_row(
    row: Mapping[str, Any], name: str, *, axis: tuple[float, float]
) -> dict[str, Any]:
    """Return one row: the text of each cell and what it sorts by."""
    cells = format_row(row)
    gain = row["all_r"] - row["all_control_condition_r"]
    family, objective = (row[n] if _is_given(row[n]) else UNKNOWN for n in ("family", "objective"))
    texts = {
        "rank": cells["rank"].replace("-", "–"),
        "family": family,
        "objective": objective,
        "year": cells["year"],
        "params": cells["n_parameters"],
        "all": _signed(row["all_r"]),
        "gain": _signed(gain),
        "same": _signed(row["same_r"]),
        "different": _signed(row["different_r"]),
        "published": f"{_signed(row['published_r'])} ({_signed(row['published_r_over_split_half'], 2)})",
        "auc": _signed(row["object_auc"]),
        "best": ""
        if pd.isna(row["best_layer"])
        else f"{row['best_layer']} ({_signed(row['best_layer_r'])})",
    }
    keys = {
        "rank": row["rank"],
        "model": str(row["model"]).casefold(),
        "family": _casefold(row["family"]),
        "objective": _casefold(row["objective"]),
        "year": row["year"],
        "params": row["n_parameters"],
        "headline": row["partial_r"],
        "all": row["all_r"],
        "gain": gain,
        "same": row["same_r"],
        "different": row["different_r"],
        "published": row["published_r"],
        "auc": row["object_auc"],
        "best": row["best_layer_r"],
    }
    return {
        "id": name,
        "raw": row,
        "model": str(row["model"]),
        "detail": " · ".join(
            part
            for part in (cells["readout"], cells["layer"] and f"layer {cells['layer']}")
            if part
        ),
        "readout": cells["readout"],
        "is_random": bool(row["is_random_weights"]),
        "family": family,
        "objective": objective,
        "texts": texts,
        "filled": _ALWAYS | {key for key, value in keys.items() if _is_given(value)},
        "keys": {key: None if pd.isna(value) else value for key, value in keys.items()},
        "headline": _describe_headline(row, axis),
    }


def _describe_headline(row: Mapping[str, Any], axis: tuple[float, float]) -> dict[str, Any] | None:
    if pd.isna(row["partial_r"]):
        return None
    low, high = row["partial_ci_low_r"], row["partial_ci_high_r"]
    has_interval = pd.notna(low) and pd.notna(high)
    return {
        "text": _signed(row["partial_r"]),
        "interval": f"{_signed(low)} to {_signed(high)}" if has_interval else "no interval",
        "at": _place(row["partial_r"], *axis),
        "from": _place(low, *axis) if has_interval else None,
        "to": _place(high, *axis) if has_interval else None,
    }


def _describe_entry(
    row: Mapping[str, Any],
    board: pd.DataFrame,
    *,
    records: Mapping[str, tuple[Path, Mapping[str, Any]]],
    examples: Examples,
) -> dict[str, Any]:
    """Return what a row opens to."""
    path, record = records[row["model"]]
    layers = pick_layers(board, row)
    model = record["model"]
    facts = {
        "source": row["source"],
        "score file": path.name,
        "weights": _shorten(row["weights_sha256"]),
        "readouts": _shorten(record.get("readouts_sha256")),
        "commit": _shorten(record.get("commit")),
        "scored": record.get("created"),
        "seed": (record.get("settings") or {}).get("seed"),
        "command": record.get("command"),
        "note": row["partial_note"],
        **{f"note {k + 1}": note for k, note in enumerate(model.get("notes") or ())},
    }
    return {
        "n": f"{row['n_trials']} trials, {row['n_scenes']} scenes, {row['n_people']} people",
        "share": f"{_minus(format_share(row, 2))} of {_signed(row['partial_attainable_r'], 2)}",
        "adds": f"{_say_what_it_adds(row)}{_say_what_leaks(row, is_learned='learned' in model)}",
        "layers": [
            [
                *(r[n] if _is_given(r[n]) else "" for n in ("layer", "representation")),
                *_curve_point(r),
            ]
            for r in list_rows(layers)
        ],
        "representation": row["representation"] if _is_given(row["representation"]) else "",
        "ceiling": [_round(row["partial_one_vs_rest_r"]), _round(row["partial_attainable_r"])],
        "facts": {key: str(value) for key, value in facts.items() if _is_given(value)},
        "examples": examples.by_entry.get(row["entry"]),
    }


def _say_what_it_adds(row: Mapping[str, Any]) -> str:
    """Say, in a sentence, what a readout knows beyond the condition of a trial."""
    if pd.isna(row["all_r"]) or pd.isna(row["all_control_condition_r"]):
        return "r over all trials isn't available."
    alone = f"The four condition means alone reach r {_signed(row['all_control_condition_r'])} on these trials"
    own = f"this readout reaches {_signed(row['all_r'])}"
    if pd.isna(row["partial_r"]):
        return f"{alone}; {own}, and nothing of it is left once condition and distance are removed."
    left = f"{_signed(row['partial_r'])}"
    if pd.notna(row["partial_ci_low_r"]):
        left += f" [{_signed(row['partial_ci_low_r'])}, {_signed(row['partial_ci_high_r'])}]"
    return f"{alone}; {own}. Beyond condition and distance it adds r {left}."


def _say_what_leaks(row: Mapping[str, Any], *, is_learned: bool) -> str:
    """Say, beside a learned readout, what the scene's other trials reach without any model."""
    if not is_learned or pd.isna(row["all_control_leak_r"]):
        return ""
    return (
        f" Condition and the mean RT of the photograph's other trials, with no model at all, reach "
        f"{_signed(row['all_control_leak_r'])}: what a readout could reach by learning photographs."
    )


def _describe_reported(reported: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table for each paper and place in it: a row per model, a column per quantity."""
    tables = []
    for (citation, place), part in reported.groupby(["citation", "place"], sort=False):
        rows = [
            {
                **{name: rows[name].iloc[0] for name in ("model", "family")},
                "readout": "; ".join(rows["readout"].unique()),
                "values": dict(zip(rows["quantity"], rows["value"], strict=True)),
            }
            for _, rows in part.groupby("model", sort=False)
        ]
        tables.append(
            {
                "source": f"{CITATIONS[str(citation)]}, {place}",
                "quantities": part["quantity"].unique().tolist(),
                "rows": rows,
                "notes": _describe_notes(part),
            }
        )
    return tables


def _describe_notes(part: pd.DataFrame) -> list[tuple[str, str]]:
    """Return what each quantity is; where it differs for a model, under the model's name too."""
    notes = []
    for quantity, rows in part.groupby("quantity", sort=False):
        usual = rows["note"].iloc[0]
        notes.append((str(quantity), str(usual)))
        odd = rows[rows["note"] != usual]
        notes += [(f"{quantity}, {m}", n) for m, n in zip(odd["model"], odd["note"], strict=True)]
    return notes


def _find_axis(part: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the headline's axis: everything that is drawn on it, and zero."""
    names = ("partial_r", "partial_ci_low_r", "partial_ci_high_r", "partial_attainable_r")
    values = pd.concat([part[name].astype(float) for name in names]).dropna()
    if values.empty:
        return 0.0, 1.0
    low, high = min(values.min(), 0.0), max(values.max(), 0.1)
    margin = 0.03 * (high - low)
    return low - margin, high + margin


def _place(value: float, low: float, high: float) -> float:
    return round(100 * (value - low) / (high - low), 2)


def _curve_point(row: Mapping[str, Any]) -> list[float | None]:
    return [_round(row[f"{HEADLINE_METRIC}_{name}"]) for name in ("r", "ci_low_r", "ci_high_r")]


def _casefold(value: object) -> str | None:
    return str(value).casefold() if _is_given(value) else None


def _choices(values: pd.Series) -> list[str]:
    return sorted({value if _is_given(value) else UNKNOWN for value in values}, key=str.casefold)


def _is_given(value: object) -> bool:
    return value is not None and not pd.isna(value) and value != ""  # type: ignore[call-overload]


def _signed(value: float | None, digits: int = 3) -> str:
    """Return a number with a real minus sign, or an en dash where there is none."""
    if value is None or pd.isna(value):
        return "–"
    return _minus(f"{value:.{digits}f}")


def _minus(text: str) -> str:
    """Return a text with real minus signs."""
    return text.replace("-", "−")


def _round(value: float | None) -> float | None:
    return None if value is None or pd.isna(value) else round(float(value), 4)


def _shorten(value: str | None) -> str | None:
    return value if value is None or len(str(value)) <= 16 else f"{str(value)[:12]}…"
