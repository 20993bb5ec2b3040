"""Drives the real task from outside, as a person does: sees what is shown, presses real keys."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
KEYSYMS = {"escape": "Escape"}
VIRTUAL = {
    "width_px": 800,
    "height_px": 600,
    "width_cm": 28.6,
    "distance_cm": 70,
    "refresh_hz": 60,
    "is_fullscreen": False,
    "is_paced": True,
}
FAST = {
    "fixation_s": 0.15,
    "dots_s": 0.15,
    "timeout_s": 1.0,
    "inter_trial_s": 0.1,
    "feedback_s": 0.05,
    "n_key_practice": 1,
    "n_practice": 2,
    "n_blocks": 2,
}


class Fingers:
    """Presses keys and moves the mouse through XTEST."""

    def __init__(self, display):
        from Xlib import XK, X
        from Xlib import display as xdisplay
        from Xlib.ext import xtest

        self.display = xdisplay.Display(display)
        self.codes, self.xtest, self.X = XK, xtest, X

    def code(self, key):
        return self.display.keysym_to_keycode(self.codes.string_to_keysym(KEYSYMS.get(key, key)))

    def down(self, key):
        self.xtest.fake_input(self.display, self.X.KeyPress, self.code(key))
        self.display.sync()

    def up(self, key):
        self.xtest.fake_input(self.display, self.X.KeyRelease, self.code(key))
        self.display.sync()

    def tap(self, key, *, hold_s=0.04):
        self.down(key)
        time.sleep(hold_s)
        self.up(key)

    def look_at(self, x, y):
        self.xtest.fake_input(self.display, self.X.MotionNotify, x=x, y=y)
        self.display.sync()

    def close(self):
        self.display.close()


class KeyListener:
    """A second X client that notes when each key press reaches it: the injector's own delay.

    What a loaded machine and its X server add to a key's way is in this time too, and in the
    keyboard's of the task alike.
    """

    def __init__(self, display):
        from Xlib import display as xdisplay
        from Xlib.ext import xinput

        self.connection = xdisplay.Display(display)
        root = self.connection.screen().root
        root.xinput_select_events([(xinput.AllMasterDevices, xinput.RawKeyPressMask)])
        self.connection.sync()
        self.times_s = []
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self):
        from Xlib.error import ConnectionClosedError

        try:
            while True:
                self.connection.next_event()
                self.times_s.append(time.monotonic())
        except ConnectionClosedError:
            pass

    def arrival_after(self, time_s, *, limit_s=1.0):
        """Return when the first press after `time_s` arrived."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            after = [arrived for arrived in self.times_s if arrived >= time_s]
            if after:
                return after[0]
            time.sleep(0.001)
        raise TimeoutError("the injected key did not arrive")


def write_display(folder, **changes):
    path = folder / "displays.yaml"
    path.write_text(yaml.safe_dump({"test": VIRTUAL | changes}), encoding="utf-8")
    return path


def write_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(FAST | changes), encoding="utf-8")
    return path


def command_line(*words):
    return [sys.executable, str(ROOT / "objecthood.py"), *map(str, words)]


def run_command(*words, env, timeout_s=60):
    return subprocess.run(
        command_line(*words),
        env=env,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


class Task:
    """A running session, and what it shows as it shows it."""

    def __init__(self, bench, *options, env, participant="7"):
        folder = bench.parent
        self.events = folder / "events.jsonl"
        self.events.unlink(missing_ok=True)
        words = [
            "session", "run", bench, "--participant", participant,
            "--display", folder / "displays.yaml", "--config", folder / "config.json",
            "--events", self.events, "--check-flips", "40", "--despite", "a virtual screen", *options,
        ]  # fmt: skip
        self.log = (folder / "log.txt").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            command_line(*words), env=env, stdout=self.log, stderr=self.log
        )
        self.fingers = Fingers(env["DISPLAY"])
        self.n_read = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.fingers.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()

    def next_event(self, *, limit_s=30.0):
        """Return what is shown next; None when the task has ended."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            lines = (
                self.events.read_bytes().splitlines(keepends=True) if self.events.exists() else []
            )
            if len(lines) > self.n_read and lines[self.n_read].endswith(b"\n"):
                self.n_read += 1
                return json.loads(lines[self.n_read - 1])
            if self.process.poll() is not None:
                return None
            time.sleep(0.001)
        raise TimeoutError(f"nothing was shown for {limit_s} s\n{self.read_log()}")

    def read_log(self):
        self.log.flush()
        return Path(self.log.name).read_text(encoding="utf-8")

    def play(self, act, *, on_page=None):
        """Press through pages, and do `act(event)` at each image; return the exit status."""
        while (event := self.next_event()) is not None:
            if event["event"] == "image":
                act(event)
            elif on_page is None or not on_page(event):
                self.fingers.tap(event["name"])
        return self.process.wait(timeout=20)


def wait_until(monotonic_s):
    """Sleep, then spin for the last milliseconds; return when it really was."""
    while (left := monotonic_s - time.monotonic()) > 0:
        if left > 0.003:
            time.sleep(left - 0.003)
    return time.monotonic()
