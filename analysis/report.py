"""The report: one HTML file with all that a benchmark and its score files say, figures included.

No statistic is computed here; every number comes from the tables of `analysis`.
"""

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from analysis.board_page import make_environment
from analysis.board_reported import REPORTED_BENCHMARK
from analysis.board_text import EXPLANATIONS, caption_set, format_board, name_board
from analysis.exclusions import FLAGGED_PREFIX
from analysis.leaderboard import RecordedScores, list_rows, split_sets
from analysis.people import PeopleAnalysis
from analysis.report_methods import BIBTEX, list_versions, write_methods
from stimuli.benchmark import Benchmark
from stimuli.table_io import read_json

# Columns of the board that fit a page of paper; the others are in leaderboard.csv.
NARROW = ("rank", "model", "readout", "layer", "r partial [95 % CI]", "share of attainable",
          "r all [95 % CI]", "condition's r all")  # fmt: skip
# A figure is shown a fifth larger than it is printed in a journal.
CSS_PX_PER_IN = 1.2 * 96
DEFAULT_DPI = 300
TITLES = {
    "rt_by_condition": "Reaction time by condition",
    "models_and_ceiling": "Models against what people allow",
    "design_audit": "What the design gives away",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportParts:
    """What a report is made of.

    Attributes
    ----------
    benchmark, people, files, board
        The benchmark, its people, the score files, and the board made of them.
    pictures
        PNG files of the figures, in order; a JSON of the same name beside each is its caption.
    audit
        The checks of the design (`stimuli.audit.Audit.table`), or None where it wasn't audited.
    """

    benchmark: Benchmark
    people: PeopleAnalysis
    files: RecordedScores
    board: pd.DataFrame
    pictures: list[Path] = field(default_factory=list)
    audit: pd.DataFrame | None = None


def render_report(parts: ReportParts) -> str:
    """Return the report as one self-contained HTML page."""
    record = parts.files[0][1]
    manifest = parts.benchmark.manifest
    is_published = manifest.name == REPORTED_BENCHMARK
    return (
        make_environment()
        .get_template("report.html")
        .render(
            title=name_board(record),
            manifest=manifest,
            record=record,
            methods=write_methods(parts.benchmark, parts.people, parts.files),
            audit=None if parts.audit is None else _cells(parts.audit),
            conditions=_tabulate_conditions(parts.people),
            exclusions=_tabulate_exclusions(parts.people),
            n_persons=len(parts.people.times.participant_ids),
            ceilings=_tabulate_ceilings(parts.people),
            sets=[
                {"caption": caption_set(part), "table": _cells(format_board(part)[list(NARROW)])}
                for part in split_sets(parts.board)
            ],
            explanations=EXPLANATIONS,
            figures=[_embed(path) for path in parts.pictures],
            versions=_cells(list_versions(parts.files)),
            bibtex=list(BIBTEX.values()) if is_published else [],
        )
    )


def _tabulate_conditions(people: PeopleAnalysis) -> dict[str, Any]:
    table = people.conditions
    return _cells(
        pd.DataFrame(
            {
                "condition": table["condition"],
                "trials": table["n_trials"],
                "mean RT (ms)": (table["mean_rt_s"] * 1000).map("{:.1f}".format),
                "SEM over trials (ms)": (table["sem_rt_s"] * 1000).map("{:.1f}".format),
            }
        )
    )


def _tabulate_exclusions(people: PeopleAnalysis) -> dict[str, Any]:
    groups = people.exclusions.groupby("rule", sort=False)["n_presentations"]
    table = pd.DataFrame({"presentations": groups.sum(), "most of one person": groups.max()})
    table = table.rename_axis("rule").reset_index()
    table["rule"] = table["rule"].str.replace(FLAGGED_PREFIX, "flagged and kept: ", regex=False)
    return _cells(table)


def _tabulate_ceilings(people: PeopleAnalysis) -> dict[str, Any]:
    names = ("split_half_r", "spearman_brown_r", "attainable_r", "one_vs_rest_r")
    rows = [
        {"trials": name}
        | {key.replace("_", " "): _number(getattr(ceiling, key)) for key in names}
        | {"people": ceiling.n_people, "n": ceiling.n_trials, "note": ceiling.note or ""}
        for name, ceiling in people.ceilings.items()
    ]
    return _cells(pd.DataFrame(rows))


def _cells(table: pd.DataFrame) -> dict[str, Any]:
    """Return a table for the template: its columns, and its rows as text."""
    rows = [[_text(value) for value in row.values()] for row in list_rows(table)]
    return {"columns": [str(name).replace("_", " ") for name in table.columns], "rows": rows}


def _embed(path: Path) -> dict[str, str]:
    """Return a figure for the template: title, picture, and what its caption's file says."""
    data = base64.b64encode(path.read_bytes()).decode()
    caption = path.with_suffix(".json")
    said = read_json(caption) if caption.is_file() else {}
    plain = {
        key: value
        for key, value in said.items()
        if isinstance(value, (str, int, float)) and value is not False
    }
    with Image.open(path) as picture:
        dpi = picture.info.get("dpi", (DEFAULT_DPI, DEFAULT_DPI))[0]
        width_in = picture.width / dpi
    return {
        "title": TITLES.get(path.stem, path.stem.replace("_", " ").capitalize()),
        "name": path.stem,
        "width_px": str(round(width_in * CSS_PX_PER_IN)),
        "uri": f"data:image/png;base64,{data}",
        "caption": "; ".join(f"{key.replace('_', ' ')}: {_text(v)}" for key, v in plain.items()),
    }


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _text(value: object) -> str:
    if value is None or (not isinstance(value, str) and pd.isna(value)):  # type: ignore[call-overload]
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
