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
from analysis.ceilings import Ceiling
from analysis.exclusions import FLAGGED_PREFIX
from analysis.leaderboard import RecordedScores, list_rows, split_sets
from analysis.metrics import METRIC_VERSION
from analysis.people import PeopleAnalysis
from analysis.report_methods import BIBTEX, list_versions, write_methods
from stimuli.benchmark import Benchmark
from stimuli.table_io import read_json

# Columns of the board that fit a page of paper; the others are in leaderboard.csv.
NARROW = ("rank", "model", "readout", "layer", "r partial [95 % CI]", "share of attainable [95 % CI]",
          "r all [95 % CI]", "condition's r all")  # fmt: skip
# A figure is shown a fifth larger than it is printed in a journal.
CSS_PX_PER_IN = 1.2 * 96
DEFAULT_DPI = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportParts:
    """What a report is made of.

    Attributes
    ----------
    benchmark, people
        The benchmark and its people.
    files, board
        The score files and the board made of them; none for a report on people alone.
    pictures
        PNG files of the figures, in order; a JSON of the same name beside each is its caption.
    audit
        The checks of the design (`stimuli.audit.Audit.table`), or None where it wasn't audited.
    """

    benchmark: Benchmark
    people: PeopleAnalysis
    files: RecordedScores = field(default_factory=list)
    board: pd.DataFrame | None = None
    pictures: list[Path] = field(default_factory=list)
    audit: pd.DataFrame | None = None


def render_report(parts: ReportParts) -> str:
    """Return the report as one self-contained HTML page."""
    manifest = parts.benchmark.manifest
    return (
        make_environment()
        .get_template("report.html")
        .render(
            title=name_board(
                parts.files[0][1] if parts.files else _name_benchmark(parts.benchmark)
            ),
            manifest=manifest,
            metric_version=METRIC_VERSION,
            trials_sha256=parts.benchmark.trials_sha256,
            methods=write_methods(parts.benchmark, parts.people, parts.files),
            audit=None if parts.audit is None else _cells(parts.audit),
            conditions=_tabulate_conditions(parts.people),
            exclusions=_tabulate_exclusions(parts.people),
            n_persons=len(parts.people.times.participant_ids),
            ceilings=_tabulate_ceilings(parts.people),
            sets=[] if parts.board is None else _describe_sets(parts.board),
            explanations=EXPLANATIONS,
            figures=[_embed(path) for path in parts.pictures],
            versions=_cells(list_versions(parts.files)),
            bibtex=list(BIBTEX.values()) if manifest.name == REPORTED_BENCHMARK else [],
        )
    )


def _name_benchmark(benchmark: Benchmark) -> dict[str, Any]:
    """Return what a score record would say of the benchmark."""
    manifest = benchmark.manifest
    return {
        "benchmark": manifest.name,
        "benchmark_version": manifest.version,
        "is_simulated": manifest.is_simulated,
    }


def _describe_sets(board: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {"caption": caption_set(part), "table": _cells(format_board(part)[list(NARROW)])}
        for part in split_sets(board)
    ]


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
    names = ("split_half", "spearman_brown", "attainable", "one_vs_rest")
    rows = [
        {"metric or condition": name}
        | {f"{key} r".replace("_", " "): _with_interval(ceiling, key) for key in names}
        | {"people": ceiling.n_people, "n": ceiling.n_trials, "note": ceiling.note or ""}
        for name, ceiling in people.ceilings.items()
    ]
    return _cells(pd.DataFrame(rows))


def _with_interval(ceiling: Ceiling, name: str) -> str:
    r, low, high = (getattr(ceiling, f"{name}{end}_r") for end in ("", "_low", "_high"))
    return _number(r) if low is None or high is None else f"{r:.3f} [{low:.3f}, {high:.3f}]"


def _cells(table: pd.DataFrame) -> dict[str, Any]:
    """Return a table for the template: its columns, and its rows as text."""
    rows = [[_text(value) for value in row.values()] for row in list_rows(table)]
    return {"columns": [str(name).replace("_", " ") for name in table.columns], "rows": rows}


def _embed(path: Path) -> dict[str, str]:
    """Return a figure for the template: title, picture, and what its caption's file says."""
    data = base64.b64encode(path.read_bytes()).decode()
    caption = path.with_suffix(".json")
    said = read_json(caption) if caption.is_file() else {}
    with Image.open(path) as picture:
        dpi = picture.info.get("dpi", (DEFAULT_DPI, DEFAULT_DPI))[0]
        width_in = picture.width / dpi
    return {
        "title": str(said.get("title", path.stem.replace("_", " ").capitalize())),
        "name": path.stem,
        "width_px": str(round(width_in * CSS_PX_PER_IN)),
        "uri": f"data:image/png;base64,{data}",
        "caption": str(said.get("text", "")),
    }


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _text(value: object) -> str:
    if value is None or (not isinstance(value, str) and pd.isna(value)):  # type: ignore[call-overload]
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
