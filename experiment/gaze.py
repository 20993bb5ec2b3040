"""Gaze: fixation within a limit of the central dot, for the whole trial.

Works on positions in window pixels, whatever the tracker. A lost sample (a blink) is a break only
when it lasts longer than the configuration allows.
"""

import math
from dataclasses import dataclass
from typing import Protocol


class Tracker(Protocol):
    """An eye tracker that records."""

    @property
    def name(self) -> str:
        """What is recorded in each row."""
        ...

    def read_gaze(self) -> tuple[float, float] | None:
        """Return the gaze, window pixels from the top left; None when the eye is lost."""
        ...

    def calibrate(self) -> None:
        """Run the tracker's own calibration."""
        ...

    def start_trial(self, label: str) -> None:
        """Begin recording a trial, named in the tracker's own file."""
        ...

    def stop_trial(self) -> None:
        """End the trial's recording."""
        ...

    def close(self) -> None:
        """Save the tracker's file and let it go."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FixationLimit:
    """Where gaze must stay."""

    x_px: float
    y_px: float
    radius_px: float
    loss_s: float


class FixationWatch:
    """Says, sample by sample, whether gaze is at the dot, and when fixation is broken."""

    def __init__(self, limit: FixationLimit) -> None:
        self._limit = limit
        self._lost_since_s: float | None = None

    def is_inside(self, gaze: tuple[float, float] | None) -> bool:
        """Return whether gaze lies within the limit; a lost eye doesn't."""
        if gaze is None:
            return False
        limit = self._limit
        return math.hypot(gaze[0] - limit.x_px, gaze[1] - limit.y_px) <= limit.radius_px

    def is_broken(self, gaze: tuple[float, float] | None, now_s: float) -> bool:
        """Return whether this sample ends the fixation."""
        if gaze is not None:
            self._lost_since_s = None
            return not self.is_inside(gaze)
        if self._lost_since_s is None:
            self._lost_since_s = now_s
        return now_s - self._lost_since_s >= self._limit.loss_s
