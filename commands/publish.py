"""`objecthood leaderboard` and `objecthood figures`: score files to what people look at."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import print_result, progress_bar, say
from stimuli.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.board_examples import Examples
    from analysis.leaderboard import RecordedScores
    from stimuli.benchmark import Benchmark

Results = Annotated[Path, typer.Argument(help="Folder with scores/, as 'evaluate' wrote it.")]
Out = Annotated[Path, typer.Option(help="Where to write.")]


def leaderboard(
    results: Results,
    out: Out,
    benchmark: Annotated[
        Path | None,
        typer.Option(help="The benchmark that was scored: adds example trials to the page."),
    ] = None,
) -> None:
    """Make the leaderboard: a page that needs no network, and the same table as CSV, Markdown, LaTeX.

    Example: `objecthood leaderboard results --benchmark bench --out results`
    """
    from analysis.board_page import render_board_page
    from analysis.board_reported import read_reported
    from analysis.board_text import render_latex, render_markdown, tabulate_board
    from analysis.leaderboard import build_leaderboard
    from analysis.readout_files import read_kept_readouts
    from analysis.records import fill_readout_means, read_score_files
    from stimuli.benchmark import open_benchmark
    from stimuli.table_io import write_table, write_text

    files = read_score_files(results)
    opened = None if benchmark is None else open_benchmark(benchmark)
    readouts = read_kept_readouts(results, files, benchmark=opened)
    fill_readout_means(files, readouts)
    board = rank_board(build_leaderboard(files), results)
    record = files[0][1]
    reported = read_reported(record["benchmark"])
    examples = None if opened is None else _choose_examples(board, files, readouts, opened)
    page = render_board_page(board, files, reported=reported, examples=examples)
    write_table(tabulate_board(board), out / "leaderboard.csv")
    write_table(board.drop(columns=["entry", "order"]), out / "leaderboard_layers.csv")
    write_text(render_markdown(board, record, reported=reported), out / "leaderboard.md")
    write_text(render_latex(board, record), out / "leaderboard.tex")
    write_text(page, out / "leaderboard.html")
    n = int(board["is_shown"].sum())
    say(f"{n} readouts of {len(files)} models ({len(board)} with all layers)")
    print_result(str(out / "leaderboard.html"))


def rank_board(board: "pd.DataFrame", results: Path) -> "pd.DataFrame":
    """Fill the rank intervals of a comparison of these scores, where there is one."""
    from analysis.rank_intervals import add_rank_intervals, read_ranking

    ranking = read_ranking(results)
    if ranking is None:
        say("no rank intervals: 'objecthood compare' hasn't been run on these results")
        return board
    board, notes = add_rank_intervals(board, ranking)
    for note in notes:
        say(note)
    return board


def _choose_examples(
    board: "pd.DataFrame",
    files: "RecordedScores",
    readouts: "list[pd.DataFrame]",
    benchmark: "Benchmark",
) -> "Examples":
    """Choose the example trials of the page; models without readouts have none."""
    from analysis.board_examples import choose_examples
    from analysis.leaderboard import check_benchmark
    from analysis.people import analyse_human

    check_benchmark(files, benchmark)
    return choose_examples(board, readouts, benchmark=benchmark, human=analyse_human(benchmark))


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
