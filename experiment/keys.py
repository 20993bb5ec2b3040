"""Response keys: what a device reports becomes presses, each counted once, with the device's time.

A device reports key events as it saw them. A press is new when its key was up before: the repeats of
a held key, and a key still held from the last trial, are no answers. A tap that came and went between
two readings is one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from experiment.observers import Observer, answer_displays
from experiment.plan import KeyMap, PlannedTrial


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyReport:
    """One key event as a device tells it.

    Attributes
    ----------
    key
        The key's name.
    time_s
        When it went down, session clock.
    is_released
        It has come up again.
    """

    key: str
    time_s: float
    is_released: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """A key that went down."""

    key: str
    time_s: float


class KeyDevice(Protocol):
    """Where key events come from: a keyboard, a gamepad, a simulated person."""

    @property
    def name(self) -> str:
        """What timed the keys, as recorded in each row."""
        ...

    @property
    def is_simulated(self) -> bool:
        """No person sits there."""
        ...

    def read(self) -> list[KeyReport]:
        """Return the key events since the last reading."""
        ...

    def find_down(self) -> set[str] | None:
        """Return the keys that are down now; None when the device can't tell."""
        ...

    def notice_page(self, key: str) -> None:
        """Take note that a page waits for a key (a person reads it; a simulated one must be told)."""
        ...

    def notice_display(self, planned: PlannedTrial, onset_s: float) -> None:
        """Take note that a display was shown."""
        ...

    def close(self) -> None:
        """Let the device go."""
        ...


class Keys:
    """The presses of a device."""

    def __init__(self, device: KeyDevice) -> None:
        self.device = device
        self.n_repeats = 0
        self._down: dict[str, float] = {}
        self._latest: dict[str, float] = {}

    def poll(self) -> list[Press]:
        """Return the presses since the last poll, earliest first."""
        return self._take_in(self.device.read())

    def find_held(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return which of `keys` are down now.

        The device's own state wins over the events seen, so that a lost release can't make a key
        dead for the rest of the session.
        """
        down = self.device.find_down()
        if down is not None:
            self._down = {key: time_s for key, time_s in self._down.items() if key in down}
        return tuple(sorted(set(self._down if down is None else down) & set(keys)))

    def _take_in(self, reports: Iterable[KeyReport]) -> list[Press]:
        presses = []
        for report in sorted(reports, key=lambda report: report.time_s):
            is_known = report.time_s <= self._latest.get(report.key, float("-inf"))
            if not is_known:
                self._latest[report.key] = report.time_s
                if report.key in self._down:
                    self.n_repeats += 1
                else:
                    presses.append(Press(key=report.key, time_s=report.time_s))
                    self._down[report.key] = report.time_s
            if report.is_released:
                self._down.pop(report.key, None)
        return presses


class SimulatedPerson:
    """A drift-diffusion observer at the keys: reads pages, answers displays.

    Parameters
    ----------
    observer
        The person.
    difficulty_by_trial
        True difficulty of each display.
    key_map
        Which key says what.
    rng
        Source of the answers' noise.
    clock
        Tells the session clock's time.
    """

    name = "simulated"
    is_simulated = True
    # How long a page is read, and a key of the key practice looked for.
    reading_s = 0.3

    def __init__(
        self,
        *,
        observer: Observer,
        difficulty_by_trial: dict[str, float],
        key_map: KeyMap,
        rng: np.random.Generator,
        clock: Callable[[], float],
    ) -> None:
        self._observer = observer
        self._difficulty = difficulty_by_trial
        self._key_map = key_map
        self._rng = rng
        self._clock = clock
        self._due: list[KeyReport] = []

    def read(self) -> list[KeyReport]:
        """Return the presses whose time has come; each key is let go at once."""
        if not self._due or self._clock() < self._due[0].time_s:
            return []
        due, self._due = self._due, []
        return due

    def find_down(self) -> set[str]:
        """Return no key: none is held."""
        return set()

    def notice_page(self, key: str) -> None:
        """Press the key that a page waits for."""
        self._press(key, self._clock() + self.reading_s)

    def notice_display(self, planned: PlannedTrial, onset_s: float) -> None:
        """Answer a display after a time of the observer's, or not at all."""
        difficulty = self._difficulty.get(planned.trial_id, 0.0)
        answers = answer_displays(self._observer, np.array([difficulty]), self._rng)
        rt_s = float(answers.rt_s[0])
        said_same = planned.same_object == bool(answers.is_correct[0])
        self._due = []
        if np.isfinite(rt_s):
            self._press(self._key_map.key_for("same" if said_same else "different"), onset_s + rt_s)

    def close(self) -> None:
        """Do nothing."""

    def _press(self, key: str, time_s: float) -> None:
        self._due = [KeyReport(key=key, time_s=time_s, is_released=True)]
