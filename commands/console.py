"""What every command shares: messages, JSON, progress."""

import json
from collections.abc import Mapping
from typing import Any

from rich.console import Console

# Results go to standard output, everything else to standard error, so that --json can be piped.
OUT = Console(highlight=False, soft_wrap=True)
ERR = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Print one line for a person, on standard error."""
    ERR.print(text, markup=False)


def print_result(text: str) -> None:
    """Print a result for a person, on standard output."""
    OUT.print(text, markup=False)


def print_json(content: Mapping[str, Any]) -> None:
    """Print a result for a program, on standard output."""
    OUT.file.write(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
