"""Eye trackers through PsychoPy's ioHub: an EyeLink, or the mouse as a stand-in.

One of the modules that import PsychoPy. The mouse tracker is for tests and demonstrations. The
EyeLink needs SR Research's Developers Kit and the plug-in ``psychopy-eyetracker-sr-research``; this
path follows ioHub's documented interface and has not been run on an EyeLink by us.
"""

from typing import Any

from experiment.window import WindowStage
from stimuli.errors import InputError

MOUSE = "eyetracker.hw.mouse.EyeTracker"
EYELINK = "eyetracker.hw.sr_research.eyelink.EyeTracker"

# ioHub's settings by our name of the tracker. The published study recorded at 1000 Hz [paper].
_SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "mouse": (
        MOUSE,
        {
            "name": "tracker",
            "controls": {
                "move": "CONTINUOUS",
                "blink": ["MIDDLE_BUTTON"],
                "saccade_threshold": 0.5,
            },
            "runtime_settings": {"sampling_rate": 250},
        },
    ),
    "eyelink": (
        EYELINK,
        {
            "name": "tracker",
            "model_name": "EYELINK 1000 DESKTOP",
            "simulation_mode": False,
            "enable_interface_without_connection": False,
            "runtime_settings": {"sampling_rate": 1000, "track_eyes": "RIGHT_EYE"},
        },
    ),
}


class IoHubTracker:
    """A tracker behind an ioHub server, gaze in window pixels from the top left."""

    def __init__(self, name: str, server: Any, stage: WindowStage) -> None:  # noqa: ANN401
        self.name = name
        self._server = server
        self._device = server.devices.tracker
        self._width_px, self._height_px = stage.sizes.window

    def read_gaze(self) -> tuple[float, float] | None:
        """Return the latest gaze, or None when the eye is lost."""
        position = self._device.getLastGazePosition()
        if not isinstance(position, (list, tuple)):
            return None
        x, y = position
        return self._width_px / 2 + float(x), self._height_px / 2 - float(y)

    def calibrate(self) -> None:
        """Run the tracker's own set-up."""
        self._device.runSetupProcedure()

    def start_trial(self, label: str) -> None:
        """Record, and name the trial in the tracker's file."""
        self._device.setRecordingState(True)
        self._device.sendMessage(f"TRIALID {label}")

    def stop_trial(self) -> None:
        """Stop recording."""
        self._device.setRecordingState(False)

    def close(self) -> None:
        """Let the tracker and its server go."""
        self._device.setConnectionState(False)
        self._server.quit()


def open_tracker(name: str, stage: WindowStage) -> IoHubTracker:
    """Return a recording tracker: "mouse" or "eyelink".

    Raises
    ------
    InputError
        No such tracker, or it doesn't answer.
    """
    if name not in _SETTINGS:
        raise InputError(f"tracker {name!r} is unknown; known: {', '.join(_SETTINGS)}")
    device, settings = _SETTINGS[name]
    if name == "eyelink":
        _require_pylink()
    from psychopy.iohub.client.connect import launchHubServer

    server: Any = launchHubServer(window=stage.window, **{device: settings})
    if getattr(server.devices, "tracker", None) is None:
        server.quit()
        raise InputError(
            f"the tracker {name!r} doesn't answer; is it on, and its cable plugged in?"
        )
    tracker = IoHubTracker(name, server, stage)
    if name == "eyelink":
        tracker.calibrate()
    return tracker


def _require_pylink() -> None:
    try:
        import pylink  # type: ignore[import-not-found]  # noqa: F401 (SR Research's own package)
    except ImportError as error:
        raise InputError(
            f"the EyeLink needs SR Research's pylink ({error}): install the EyeLink Developers Kit "
            "and pip install psychopy-eyetracker-sr-research"
        ) from None
