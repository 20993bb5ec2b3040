"""`objecthood submit-check`: whether a score file that somebody sends may go on the board."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from commands.console import print_json, print_result, say


def submit_check(
    file: Annotated[Path, typer.Argument(help="A score file, as 'score' or 'evaluate' wrote it.")],
    benchmark: Annotated[
        Path | None, typer.Option(help="The board's benchmark: is the file of it?")
    ] = None,
    readouts: Annotated[
        Path | None,
        typer.Option(help="What it was scored from (CSV or parquet): is scored again."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Check a score file that somebody sends, and say every reason to refuse it.

    The exit code is 0 for a file that may go on the board and 2 for one that is refused, so that a
    repository's checks can run it on a pull request (docs/publishing.md).

    Example: `objecthood submit-check scores/mine-1a2b3c4d.json --benchmark bench --readouts mine.parquet`
    """
    from analysis.submission import check_submission
    from stimuli.benchmark import open_benchmark

    opened = None if benchmark is None else open_benchmark(benchmark)
    verdict = check_submission(file, benchmark=opened, readouts=readouts)
    if as_json:
        print_json(asdict(verdict))
    else:
        for reason in verdict.reasons:
            print_result(f"refused: {reason}")
        for remark in verdict.remarks:
            say(f"note: {remark}")
        if not verdict.reasons:
            print_result(f"{file}: accepted ({', '.join(verdict.checked)})")
    if verdict.reasons:
        raise typer.Exit(2)
