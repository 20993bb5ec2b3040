"""What the task needs of a screen, and a screen that isn't there.

The task draws, flips, and learns from each flip when it happened. `VirtualStage` does so at full
speed on a clock of its own, for simulated people without a window.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from experiment.pictures import Pictures


class Stage(Protocol):
    """A screen with a clock. Times are seconds of the session clock."""

    @property
    def refresh_hz(self) -> float:
        """Measured refresh."""
        ...

    def load(self, pictures: Pictures | None) -> None:
        """Make a display's pictures ready, which takes time."""
        ...

    def draw_first_dot(self) -> None:
        """Draw the central dot on the blank."""
        ...

    def draw_both_dots(self) -> None:
        """Draw both dots on the blank."""
        ...

    def draw_image(self, *, with_dots: bool) -> None:
        """Draw the image, with the dots or without."""
        ...

    def draw_text(self, text: str) -> None:
        """Draw words in the middle."""
        ...

    def flip(self) -> float:
        """Show what was drawn, and return when.

        Raises
        ------
        SessionAborted
            The window was closed.
        """
        ...

    def now(self) -> float:
        """Return the time."""
        ...

    def play_tone(self) -> None:
        """Sound the error tone, if there is sound."""
        ...

    def close(self) -> None:
        """Take the screen away."""
        ...


class VirtualStage:
    """No window: each flip moves the clock on by one refresh period, and takes no time."""

    def __init__(self, *, refresh_hz: float = 60.0) -> None:
        self.refresh_hz = refresh_hz
        self.n_tones = 0
        self._n_flips = 0

    def load(self, pictures: Pictures | None) -> None:
        """Do nothing."""

    def draw_first_dot(self) -> None:
        """Do nothing."""

    def draw_both_dots(self) -> None:
        """Do nothing."""

    def draw_image(self, *, with_dots: bool) -> None:
        """Do nothing."""

    def draw_text(self, text: str) -> None:
        """Do nothing."""

    def flip(self) -> float:
        """Move the clock on by one refresh period, and return it."""
        self._n_flips += 1
        return self._n_flips / self.refresh_hz

    def now(self) -> float:
        """Return the time."""
        return self._n_flips / self.refresh_hz

    def play_tone(self) -> None:
        """Count the tone."""
        self.n_tones += 1

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameStatistics:
    """The intervals between a trial's flips.

    Attributes
    ----------
    n_frames
        Flips.
    median_s, longest_s
        Of the intervals; None with fewer than two flips.
    n_dropped
        Intervals longer than the ratio times the refresh period.
    is_onset_dropped
        Whether the interval that ends with the image's onset is one of them; None without an onset.
    """

    n_frames: int
    median_s: float | None
    longest_s: float | None
    n_dropped: int
    is_onset_dropped: bool | None


def summarise_frames(
    flips_s: list[float], *, onset_index: int | None, refresh_hz: float, dropped_ratio: float
) -> FrameStatistics:
    """Return the statistics of a trial's flip times.

    Parameters
    ----------
    flips_s
        In order.
    onset_index
        Which flip showed the image; None if none did.
    refresh_hz
        Measured refresh.
    dropped_ratio
        An interval longer than this many refresh periods was dropped.
    """
    intervals = np.diff(flips_s)
    is_dropped = intervals > dropped_ratio / refresh_hz
    return FrameStatistics(
        n_frames=len(flips_s),
        median_s=float(np.median(intervals)) if intervals.size else None,
        longest_s=float(intervals.max()) if intervals.size else None,
        n_dropped=int(is_dropped.sum()),
        is_onset_dropped=bool(is_dropped[onset_index - 1]) if onset_index else None,
    )
