"""Real keys: PsychoPy's keyboard through psychtoolbox or ioHub, and a gamepad.

One of the modules that import PsychoPy. Both back ends time a key by the device; without either,
PsychoPy falls back to a keyboard that loses every answer, so the session stops here with the remedy.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from experiment.keys import KeyReport
from experiment.plan import PlannedTrial
from experiment.window import require_display, require_psychopy
from stimuli.errors import InputError

TIMED_BACKENDS = ("ptb", "iohub")


class TimedKeyboard:
    """PsychoPy's keyboard, times on its default clock.

    Parameters
    ----------
    names
        The keys that matter.
    backend
        "ptb" (psychtoolbox), or "iohub" when an ioHub server runs.

    Raises
    ------
    InputError
        The back end isn't to be had.
    """

    is_simulated = False

    def __init__(self, names: tuple[str, ...], *, backend: str = "ptb") -> None:
        require_display()
        require_psychopy()
        _require_psychtoolbox(backend)
        from psychopy import logging
        from psychopy.hardware import keyboard

        self._names = names
        self._keyboard = keyboard.Keyboard(backend=backend)
        self.name = str(self._keyboard.getBackend())
        if self.name not in TIMED_BACKENDS:
            raise InputError(
                f"PsychoPy's keyboard came up with the back end {self.name!r}, which loses answers; "
                f"expected {' or '.join(TIMED_BACKENDS)}. Close other programs that use PsychoPy and "
                "see docs/experiment.md"
            )
        # KeyPress.rt counts from the keyboard's own clock with either back end.
        clock = self._keyboard.clock
        clock.reset()
        self._zero_s = clock.getLastResetTime() - logging.defaultClock.getLastResetTime()

    def read(self) -> list[KeyReport]:
        """Return the key events since the last reading, taps between two readings included."""
        down = self._keyboard.getKeys(waitRelease=False, clear=True)
        up = self._keyboard.getKeys(waitRelease=True, clear=True)
        return [self._report(press) for press in (*down, *up)]

    def find_down(self) -> set[str]:
        """Return which of the keys are down now."""
        states = self._keyboard.getState(list(self._names))
        return {name for name, is_down in zip(self._names, states, strict=True) if is_down}

    def notice_page(self, key: str) -> None:
        """Do nothing: a person reads."""

    def notice_display(self, planned: PlannedTrial, onset_s: float) -> None:
        """Do nothing: a person looks."""

    def close(self) -> None:
        """Stop listening, and end the ioHub server if this keyboard began one."""
        if self.name != "iohub":
            self._keyboard.stop()
            return
        from psychopy.iohub.client import ioHubConnection

        server = ioHubConnection.getActiveConnection()
        if server is not None:
            server.quit()

    def _report(self, press: Any) -> KeyReport:  # noqa: ANN401 (PsychoPy has no types)
        return KeyReport(
            key=str(press.name),
            time_s=float(press.rt) + self._zero_s,
            is_released=press.duration is not None,
        )


class Pad(Protocol):
    """What is needed of PsychoPy's joystick."""

    def getAllButtons(self) -> Sequence[bool]:  # noqa: N802 (PsychoPy's name)
        """Return which buttons are down."""
        ...


class Gamepad:
    """Two buttons of a gamepad, read once a frame, and the keyboard for everything else.

    A button's time is that of the reading, so its RT is up to one frame late; the name says so.
    """

    is_simulated = False

    def __init__(self, pad: Pad, keyboard: TimedKeyboard, *, clock: Callable[[], float]) -> None:
        self._pad = pad
        self._keyboard = keyboard
        self._clock = clock
        self._since_s: dict[str, float] = {}
        self.name = f"gamepad, read once a frame; {keyboard.name}"

    def read(self) -> list[KeyReport]:
        """Return what changed at the buttons, and the keyboard's events."""
        now_s = self._clock()
        down = self._find_buttons()
        reports = [
            KeyReport(key=key, time_s=now_s, is_released=False) for key in down - set(self._since_s)
        ]
        reports += [
            KeyReport(key=key, time_s=self._since_s[key], is_released=True)
            for key in set(self._since_s) - down
        ]
        self._since_s = {key: self._since_s.get(key, now_s) for key in down}
        return reports + self._keyboard.read()

    def find_down(self) -> set[str]:
        """Return the buttons and keys that are down."""
        return self._find_buttons() | self._keyboard.find_down()

    def notice_page(self, key: str) -> None:
        """Do nothing: a person reads."""

    def notice_display(self, planned: PlannedTrial, onset_s: float) -> None:
        """Do nothing: a person looks."""

    def close(self) -> None:
        """Let go."""
        self._keyboard.close()

    def _find_buttons(self) -> set[str]:
        return {f"button{k}" for k, is_down in enumerate(self._pad.getAllButtons()) if is_down}


def open_gamepad(keyboard: TimedKeyboard, *, clock: Callable[[], float]) -> Gamepad:
    """Return the first gamepad.

    Raises
    ------
    InputError
        There is none.
    """
    from psychopy.hardware import joystick

    if joystick.Joystick.getNumJoysticks() < 1:
        raise InputError(
            "no gamepad is plugged in; plug one in, or leave gamepad_buttons out of the "
            "configuration"
        )
    return Gamepad(cast("Pad", joystick.Joystick(0)), keyboard, clock=clock)


def _require_psychtoolbox(backend: str) -> None:
    if backend != "ptb":
        return
    try:
        import psychtoolbox  # noqa: F401 (asked for, not used)
    except (ImportError, OSError) as error:
        raise InputError(
            f"psychtoolbox can't be imported ({error}), and without it PsychoPy loses every answer. "
            "On Debian and Ubuntu: apt-get install libjack0. On Windows and macOS: "
            "pip install --force-reinstall psychtoolbox. Or use --keyboard iohub"
        ) from None
