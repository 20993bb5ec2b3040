"""Devices that need no window to be tested: gamepad, announcements, the trackers' settings."""

import json
import sys
import types

import pytest

from experiment.announce import AnnouncingKeys
from experiment.keyboard import Gamepad, TimedKeyboard
from experiment.keys import Keys
from experiment.tracker import IoHubTracker, open_tracker
from experiment.window import WindowSizes, require_display
from stimuli.errors import InputError
from tests.experiment.apparatus import ScriptedKeys, make_plan, report
from tests.experiment.displays import make_trials


class Pad:
    """A gamepad whose buttons are set by the test."""

    def __init__(self):
        self.buttons = [False] * 6

    def getAllButtons(self):  # noqa: N802 (PsychoPy's name)
        return self.buttons


def test_a_gamepad_s_buttons_are_presses_once_each_and_the_keyboard_still_works():
    now, pad = [0.0], Pad()
    keyboard = ScriptedKeys(lambda: now[0], at=[report("space", 0.55)], down=set())
    keys = Keys(Gamepad(pad, keyboard, clock=lambda: now[0]))
    seen = []
    for step in range(10):
        now[0] = step / 10
        pad.buttons[4] = step in {2, 3, 4, 7}
        seen += [(press.key, press.time_s) for press in keys.poll()]
    assert seen == [("button4", 0.2), ("space", 0.55), ("button4", 0.7)]
    assert "read once a frame" in keys.device.name
    pad.buttons[5] = True
    assert keys.find_held(("button5",)) == ("button5",)


def test_without_a_display_no_window_and_no_keyboard_is_tried(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(InputError, match="there is no display"):
        require_display()
    with pytest.raises(InputError, match="there is no display"):
        TimedKeyboard(("f", "j"))
    monkeypatch.setattr(sys, "platform", "win32")
    require_display()


def test_announcements_name_what_is_shown_and_pass_everything_on(tmp_path):
    plan = make_plan(make_trials(8, n_practice=2))
    device = ScriptedKeys(lambda: 5.0)
    path = tmp_path / "events.jsonl"
    announcing = AnnouncingKeys(device, path, clock=lambda: 5.0)
    announcing.notice_page("space")
    announcing.notice_display(plan.trials[0], 4.9)
    first, second = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    assert (first["event"], first["name"]) == ("page", "space")
    assert (second["event"], second["name"]) == ("image", plan.trials[0].trial_id)
    assert first["monotonic_s"] - second["monotonic_s"] == pytest.approx(0.1, abs=0.05)
    assert device.onsets == [4.9]
    assert (announcing.name, announcing.is_simulated) == (device.name, True)
    announcing.close()
    with pytest.raises(InputError, match=r"--events .* can't be written"):
        AnnouncingKeys(device, tmp_path / "no" / "folder", clock=lambda: 0.0)


class FakeTracker:
    """Behaves as ioHub's trackers do."""

    def __init__(self):
        self.calls, self.position = [], None

    def getLastGazePosition(self):  # noqa: N802 (ioHub's names)
        return self.position

    def setRecordingState(self, state):  # noqa: N802
        self.calls.append(("recording", state))

    def sendMessage(self, text):  # noqa: N802
        self.calls.append(("message", text))

    def runSetupProcedure(self):  # noqa: N802
        self.calls.append(("setup",))

    def setConnectionState(self, state):  # noqa: N802
        self.calls.append(("connection", state))


def test_a_tracker_s_gaze_is_in_window_pixels_from_the_top_left():
    device = FakeTracker()
    server = types.SimpleNamespace(
        devices=types.SimpleNamespace(tracker=device), quit=lambda: device.calls.append(("quit",))
    )
    size = (800, 600)
    stage = types.SimpleNamespace(sizes=WindowSizes(requested=size, window=size, frame_buffer=size))
    tracker = IoHubTracker("eyelink", server, stage)
    assert tracker.read_gaze() is None
    device.position = [100.0, 50.0]  # ioHub: from the centre, y up
    assert tracker.read_gaze() == (500.0, 250.0)
    tracker.start_trial("t1")
    tracker.stop_trial()
    tracker.calibrate()
    tracker.close()
    assert device.calls == [
        ("recording", True), ("message", "TRIALID t1"), ("recording", False), ("setup",),
        ("connection", False), ("quit",),
    ]  # fmt: skip


def test_unknown_trackers_and_a_missing_pylink_are_refused_with_the_remedy(monkeypatch):
    with pytest.raises(InputError, match="tracker 'tobii' is unknown; known: mouse, eyelink"):
        open_tracker("tobii", None)
    monkeypatch.setitem(sys.modules, "pylink", None)
    with pytest.raises(InputError, match="EyeLink Developers Kit"):
        open_tracker("eyelink", None)
