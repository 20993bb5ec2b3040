"""How a session ends before its last display, and how that is noticed.

Signals only leave a note: they are acted on at the next flip, never in the middle of writing a row.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal

Ending = Literal[
    "complete",
    "quit key",
    "window closed",
    "interrupted (Ctrl-C)",
    "terminated (SIGTERM)",
    "drift check failed",
    "storage failed",
    "died",
    "error",
]


class SessionAborted(Exception):  # noqa: N818 (the house's name for it)
    """The session ended early; every finished trial is on disk.

    Attributes
    ----------
    reason
        In words, as the sidecar records it.
    detail
        What happened and how to go on, for the message.
    """

    def __init__(self, reason: Ending, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason: Ending = reason
        self.detail = detail


class Interrupts:
    """Notes Ctrl-C and SIGTERM, and raises them where a trial can be ended cleanly."""

    def __init__(self) -> None:
        self._noted: Ending | None = None

    def check(self) -> None:
        """Raise if a signal came in.

        Raises
        ------
        SessionAborted
            Ctrl-C or SIGTERM.
        """
        if self._noted is not None:
            reason, self._noted = self._noted, None
            raise SessionAborted(reason)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the two signals over while the block runs; a second Ctrl-C ends the program at once."""
        before = {
            number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT and self._noted is not None:
            raise KeyboardInterrupt
        self._noted = "interrupted (Ctrl-C)" if number == signal.SIGINT else "terminated (SIGTERM)"
