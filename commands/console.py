"""What every command shares: messages, JSON, progress."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

# Results go to standard output, everything else to standard error, so that --json can be piped.
OUT = Console(highlight=False, soft_wrap=True, emoji=False)
ERR = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def say(text: str) -> None:
    """Print one line for a person, on standard error."""
    ERR.print(text, markup=False)


def print_result(text: str) -> None:
    """Print a result for a person, on standard output."""
    OUT.print(text, markup=False)


def print_json(content: Mapping[str, Any]) -> None:
    """Print a result for a program, on standard output."""
    OUT.file.write(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


class Advance:
    """Moves a progress bar on by one step when called."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def __call__(self) -> None:
        """Move on by one step."""
        self._progress.update(self._task, advance=1)

    def set_total(self, total: int) -> None:
        """Say how many steps there are, once it is known."""
        self._progress.update(self._task, total=total)


@contextmanager
def progress_bar(title: str, *, total: int | None) -> Iterator[Advance]:
    """Show a progress bar on standard error; call what it gives once per step."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=ERR, transient=True) as progress:
        yield Advance(progress, progress.add_task(title, total=total))
