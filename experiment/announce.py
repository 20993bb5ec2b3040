"""Tell another program, as it happens, what is shown: for triggers, and for tests from outside.

One JSON object a line: the event, its name, and when it was, on the system's monotonic clock
(`time.monotonic`, shared by all programs of a machine on Linux and Windows) as well as the session's.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

from experiment.keys import KeyDevice, KeyReport
from experiment.plan import PlannedTrial
from stimuli.errors import InputError


class AnnouncingKeys:
    """A key device that writes down what it is told, and passes everything on.

    Raises
    ------
    InputError
        The file can't be written.
    """

    def __init__(self, device: KeyDevice, path: Path, *, clock: Callable[[], float]) -> None:
        self._device = device
        self._clock = clock
        self.name = device.name
        self.is_simulated = device.is_simulated
        try:
            self._file = path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise InputError(f"--events {path}: can't be written ({error})") from None

    def read(self) -> list[KeyReport]:
        """Return the device's reports."""
        return self._device.read()

    def find_down(self) -> set[str] | None:
        """Return the device's keys that are down."""
        return self._device.find_down()

    def notice_page(self, key: str) -> None:
        """Write that a page waits for a key."""
        self._write(event="page", name=key, at_s=self._clock())
        self._device.notice_page(key)

    def notice_display(self, planned: PlannedTrial, onset_s: float) -> None:
        """Write that an image was shown."""
        self._write(event="image", name=planned.trial_id, at_s=onset_s)
        self._device.notice_display(planned, onset_s)

    def close(self) -> None:
        """Close the file and the device."""
        self._file.close()
        self._device.close()

    def _write(self, *, event: str, name: str, at_s: float) -> None:
        monotonic_s = time.monotonic() - (self._clock() - at_s)
        line = {"event": event, "name": name, "session_s": at_s, "monotonic_s": monotonic_s}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
