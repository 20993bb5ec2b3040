"""`objecthood leaderboard` and `objecthood figures`: score files to what people look at."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import print_result, say

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
    board = build_leaderboard(files)
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
    results: Results,
    benchmark: Annotated[Path, typer.Option(help="The benchmark that was scored.")],
    out: Out,
) -> None:
    """Draw the figures, as PDF and PNG, each with the table that it draws.

    Example: `objecthood figures results --benchmark bench --out figures`
    """
    from analysis.figures.draw_all import draw_all
    from analysis.records import read_score_files
    from stimuli.benchmark import open_benchmark

    for path in draw_all(read_score_files(results), open_benchmark(benchmark), folder=out):
        print_result(str(path))
