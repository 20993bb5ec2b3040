"""`objecthood report`: everything about a benchmark and its scores in one file."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import print_result, say
from commands.publish import rank_board

if TYPE_CHECKING:
    import pandas as pd


def report(
    benchmark: Annotated[Path, typer.Argument(help="The benchmark that was scored.")],
    results: Annotated[
        Path | None,
        typer.Argument(
            help="Folder with scores/, as 'evaluate' wrote it; without it, people alone."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write [default: report in the results, or the benchmark]."),
    ] = None,
    with_audit: Annotated[
        bool, typer.Option("--audit/--no-audit", help="Audit the design, if that wasn't done yet.")
    ] = True,
    with_pdf: Annotated[
        bool,
        typer.Option("--pdf/--no-pdf", help="Print it as PDF too, where a Chromium is installed."),
    ] = True,
) -> None:
    """Write a report: design audit, people, exclusions, ceilings, models, figures, methods, versions.

    Without results it is a report on the people.

    Example: `objecthood report bench results --out report`
    """
    # matplotlib refuses to be imported under a backend that it does not know; nothing here opens one.
    os.environ["MPLBACKEND"] = "agg"
    from analysis.figures.draw_all import draw_all
    from analysis.leaderboard import build_leaderboard
    from analysis.people import analyse_people
    from analysis.print_pdf import find_chromium, print_pdf
    from analysis.records import read_score_files
    from analysis.report import ReportParts, render_report
    from stimuli.benchmark import open_benchmark
    from stimuli.table_io import write_text

    folder = out or (benchmark if results is None else results) / "report"
    opened = open_benchmark(benchmark)
    files = [] if results is None else read_score_files(results)
    pictures = draw_all(files, opened, folder=folder / "figures", results=results)
    audited, picture = _audit(benchmark, folder, is_wanted=with_audit)
    parts = ReportParts(
        benchmark=opened,
        people=analyse_people(opened),
        files=files,
        board=rank_board(build_leaderboard(files), results) if results and files else None,
        pictures=[*picture, *(path for path in pictures if path.suffix == ".png")],
        audit=audited,
    )
    page = folder / "report.html"
    write_text(render_report(parts), page)
    print_result(str(page))
    browser = find_chromium() if with_pdf else None
    if browser is not None:
        print_pdf(page, folder / "report.pdf", browser=browser)
        print_result(str(folder / "report.pdf"))
    elif with_pdf:
        say("no Chromium found, so no PDF; open the page and print it")


def _audit(
    benchmark: Path, folder: Path, *, is_wanted: bool
) -> "tuple[pd.DataFrame | None, list[Path]]":
    """Return the design's checks and their figure: those in the benchmark, or new ones."""
    import pandas as pd

    from analysis.figures.design_audit import NAME
    from commands.trials import audit

    place = benchmark / "audit"
    if not (place / f"{NAME}.csv").is_file():
        if not is_wanted:
            return None, []
        place = folder / "audit"
        with suppress(typer.Exit):  # a failed check is part of the report
            audit(benchmark, out=place)
    picture = place / f"{NAME}.png"
    return pd.read_csv(place / f"{NAME}.csv"), [picture] if picture.is_file() else []
