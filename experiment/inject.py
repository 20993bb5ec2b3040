"""Pressing keys from a program, to measure the RT of a key whose time is known.

Only where the system lets a program press keys: X11 through XTEST (python-xlib, which PsychoPy brings
on Linux). Elsewhere there is none, and the check says so.
"""

import sys
from typing import Any

_NAMES = {"space": "space", "escape": "Escape"}


class KeyInjector:
    """Presses keys through XTEST."""

    def __init__(self) -> None:
        from Xlib import XK, X, display
        from Xlib.ext import xtest

        self._display = display.Display()
        self._press, self._release = X.KeyPress, X.KeyRelease
        self._to_keysym: Any = XK.string_to_keysym
        self._fake: Any = xtest.fake_input

    def press(self, key: str) -> None:
        """Press a key down."""
        self._send(self._press, key)

    def release(self, key: str) -> None:
        """Let a key go."""
        self._send(self._release, key)

    def close(self) -> None:
        """Disconnect."""
        self._display.close()

    def _send(self, what: int, key: str) -> None:
        code = self._display.keysym_to_keycode(self._to_keysym(_NAMES.get(key, key)))
        self._fake(self._display, what, code)
        self._display.sync()


def open_injector() -> KeyInjector | None:
    """Return an injector, or None where no key can be injected."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return KeyInjector()
    except (ImportError, OSError):
        return None
