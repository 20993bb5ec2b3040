"""`objecthood leaderboard` and `objecthood figures`: score files to what people look at."""

from pathlib import Path
from typing import Annotated

import typer

from commands.console import print_result, say

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
