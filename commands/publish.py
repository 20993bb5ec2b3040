"""`objecthood leaderboard` and `objecthood figures`: score files to what people look at."""

import os
from pathlib import Path
from typing import Annotated

import typer

from commands.console import print_result, progress_bar, say
from stimuli.errors import InputError

Results = Annotated[Path, typer.Argument(help="Folder with scores/, as 'evaluate' wrote it.")]
Out = Annotated[Path, typer.Option(help="Where to write.")]


def leaderboard(results: Results, out: Out) -> None:
    """Make the leaderboard: leaderboard.csv, .md and .html.

    Example: `objecthood leaderboard results --out results`
    """
    from analysis.leaderboard import build_leaderboard, render_html, render_markdown
    from analysis.records import read_score_files
    from stimuli.table_io import write_table, write_text

    files = read_score_files(results)
    board = build_leaderboard(files)
    record = files[0][1]
    write_table(board, out / "leaderboard.csv")
    markdown = render_markdown(board, record)
    write_text(markdown, out / "leaderboard.md")
    write_text(render_html(board, record), out / "leaderboard.html")
    say(f"{len(board)} readouts of {len(files)} models")
    print_result(str(out / "leaderboard.html"))


def figures(
    results: Annotated[
        Path | None, typer.Argument(help="Folder with scores/, as 'evaluate' wrote it.")
    ] = None,
    benchmark: Annotated[Path | None, typer.Option(help="The benchmark that was scored.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this figure (repeatable); see --list.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the figures and end.")] = False,
) -> None:
    """Draw the figures as PDF, SVG and PNG, each with its table and caption; and numbers.json.

    A figure that can't be drawn from what is there is named with its reason.

    Example: `objecthood figures results --benchmark bench --out figures --only rt_by_condition`
    """
    # matplotlib refuses to be imported under a backend that it does not know; nothing here opens one.
    os.environ["MPLBACKEND"] = "agg"
    from analysis.figures.catalogue import FIGURES, choose_figures
    from analysis.figures.draw_all import draw_figures
    from analysis.figures.material import load_material
    from analysis.records import read_score_files
    from stimuli.benchmark import open_benchmark

    if list_:
        for entry in FIGURES:
            print_result(f"{entry.name:26s} {entry.title}")
        return
    if results is None or benchmark is None or out is None:
        raise InputError("figures needs RESULTS, --benchmark and --out; or --list alone")
    entries = choose_figures(only)
    material = load_material(read_score_files(results), open_benchmark(benchmark), results=results)
    with progress_bar("drawing", total=len(entries)) as advance:
        drawn = draw_figures(material, folder=out, entries=entries, on_figure=advance)
    for paths in drawn.pictures.values():
        for path in paths:
            print_result(str(path))
    for name, reason in drawn.reasons.items():
        say(f"not drawn: {name}: {reason}")
