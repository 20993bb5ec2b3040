"""The check before people arrive: the physical world is as declared.

Each check is a function of what was measured, so that every one of them can be seen to fail. The
measuring is done by `measure.py` with a window; the result is one page, pass, warn or fail, saved
beside the data. A session refuses to start on a fail, unless it is told why it should.
"""

import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from experiment.screen import Display
from experiment.window import WindowSizes
from stimuli.table_io import replacing, write_json, write_text

Status = Literal["pass", "warn", "fail"]

# A flip shorter than this share of the refresh period didn't wait for the screen.
_BLOCKING_SHARE = 0.75
# A display's dots may be off by this much, window pixels.
DOT_TOLERANCE_PX = 0.5
# An injected key's RT may be off by a frame and this much: the injector's own jitter.
INJECTOR_JITTER_S = 0.005
# Room for a session: rows are below 200 kB.
_LEAST_FREE_BYTES = 20 * 2**20
_AMPLE_FREE_BYTES = 500 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the page.

    Attributes
    ----------
    found, expected
        In words, with units.
    remedy
        What to do; empty on a pass.
    """

    name: str
    status: Status
    found: str
    expected: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The page."""

    display: str
    checked_at: str
    checks: tuple[Check, ...]

    @property
    def status(self) -> Status:
        """The worst of all lines."""
        found = {check.status for check in self.checks}
        return "fail" if "fail" in found else "warn" if "warn" in found else "pass"

    @property
    def failed(self) -> tuple[Check, ...]:
        """The lines that failed."""
        return tuple(check for check in self.checks if check.status == "fail")


def check_screen_exists(display: Display, *, n_screens: int) -> Check:
    """Check that the declared screen is plugged in; PsychoPy would silently use the first."""
    has_it = display.screen < n_screens
    return Check(
        name="screen exists",
        status="pass" if has_it else "fail",
        found=f"{n_screens} screen(s)",
        expected=f"screen {display.screen}, counted from 0",
        remedy="" if has_it else "plug the screen in, or correct `screen` in the displays file",
    )


def check_flips_block(raw_flips_s: Iterable[float], display: Display) -> Check:
    """Check that a flip waits for the screen; else no duration and no onset can be trusted."""
    period_s = 1 / display.refresh_hz
    median_s = float(np.median(np.diff(np.asarray(list(raw_flips_s)))))
    blocks = median_s >= _BLOCKING_SHARE * period_s
    return Check(
        name="flips wait for the screen",
        status="pass" if blocks else "fail",
        found=f"a flip takes {median_s * 1000:.2f} ms",
        expected=f"{period_s * 1000:.2f} ms, the refresh period",
        remedy=""
        if blocks
        else "turn vertical synchronisation on in the graphics driver, and compositing off",
    )


def measure_refresh_hz(flips_s: Iterable[float]) -> float:
    """Return the refresh that the median interval of flips tells."""
    return float(1 / np.median(np.diff(np.asarray(list(flips_s)))))


def check_refresh(measured_hz: float, display: Display, *, tolerance_hz: float) -> Check:
    """Check that the measured refresh is the declared one."""
    is_right = abs(measured_hz - display.refresh_hz) <= tolerance_hz
    return Check(
        name="refresh as declared",
        status="pass" if is_right else "fail",
        found=f"{measured_hz:.2f} Hz",
        expected=f"{display.refresh_hz:g} ± {tolerance_hz:g} Hz",
        remedy=""
        if is_right
        else "set the screen's refresh in the operating system, or correct refresh_hz",
    )


def check_steady(flips_s: Iterable[float], display: Display, *, dropped_ratio: float) -> Check:
    """Check that few frames are dropped while nothing else happens."""
    intervals = np.diff(np.asarray(list(flips_s)))
    n_dropped = int((intervals > dropped_ratio / display.refresh_hz).sum())
    share = n_dropped / len(intervals)
    return Check(
        name="frames are steady",
        status="pass" if share <= 0.01 else "warn",
        found=f"{n_dropped} of {len(intervals)} frames dropped",
        expected="at most 1 %",
        remedy="" if share <= 0.01 else "close other programs, and power saving",
    )


def check_sizes(sizes: WindowSizes) -> Check:
    """Check that pixels asked for, got, and drawn are the same: no scaling in between."""
    is_right = sizes.requested == sizes.window == sizes.frame_buffer
    return Check(
        name="pixels are not scaled",
        status="pass" if is_right else "fail",
        found=f"window {_size(sizes.window)}, frame buffer {_size(sizes.frame_buffer)}",
        expected=_size(sizes.requested),
        remedy=""
        if is_right
        else "set the screen to its native resolution and display scaling to 100 %, or correct the "
        "displays file",
    )


def check_dots(found_xy: np.ndarray | None, expected_xy: np.ndarray) -> Check:
    """Check that the dots lie in the frame buffer where the table says.

    Parameters
    ----------
    found_xy : float array, shape (2, 2), or None
        Window pixels; None when no dot was found.
    expected_xy : float array, shape (2, 2)
    """
    expected = f"within {DOT_TOLERANCE_PX} px of the table's places"
    error = np.inf if found_xy is None else float(np.hypot(*(found_xy - expected_xy).T).max())
    is_right = error <= DOT_TOLERANCE_PX
    return Check(
        name="dots where the table says",
        status="pass" if is_right else "fail",
        found="no dots" if np.isinf(error) else f"off by at most {error:.2f} px",
        expected=expected,
        remedy="" if is_right else "see 'pixels are not scaled'; turn overlays off",
    )


def check_colours(largest_difference: int) -> Check:
    """Check that the image in the frame buffer has the file's own values."""
    return Check(
        name="image as in the file",
        status="pass" if largest_difference <= 2 else "warn",
        found=f"largest difference {largest_difference} of 255",
        expected="at most 2",
        remedy="" if largest_difference <= 2 else "turn colour management and night light off",
    )


def check_keyboard(backend: str) -> Check:
    """Check that keys are timed by the device."""
    is_right = backend in {"ptb", "iohub"}
    return Check(
        name="keys timed by the device",
        status="pass" if is_right else "warn",
        found=backend,
        expected="ptb or iohub",
        remedy="" if is_right else "a gamepad is read once a frame; use the keyboard for exact RTs",
    )


def check_keys_seen(seen: Iterable[str], wanted: tuple[str, ...]) -> Check:
    """Check that both response keys were pressed and arrived."""
    missing = sorted(set(wanted) - set(seen))
    return Check(
        name="both keys arrive",
        status="fail" if missing else "pass",
        found=f"not seen: {', '.join(missing)}" if missing else ", ".join(wanted),
        expected=", ".join(wanted),
        remedy="check the keyboard, its layout, and that the window has the focus"
        if missing
        else "",
    )


def check_injected_rt(error_s: float | None, display: Display) -> Check:
    """Check that a key injected at a known time after a flip reads that RT.

    Parameters
    ----------
    error_s
        RT read minus time injected; None where no key can be injected.
    """
    limit_s = 1 / display.refresh_hz + INJECTOR_JITTER_S
    if error_s is None:
        return Check(
            name="injected key's RT",
            status="warn",
            found="not tried: this system takes no injected keys",
            expected=f"within {limit_s * 1000:.1f} ms",
            remedy="measure RT with a photodiode and a button box once",
        )
    is_right = abs(error_s) <= limit_s
    return Check(
        name="injected key's RT",
        status="pass" if is_right else "fail",
        found="it never arrived" if np.isinf(error_s) else f"off by {error_s * 1000:+.2f} ms",
        expected=f"within {limit_s * 1000:.1f} ms",
        remedy="" if is_right else "close other programs; try --keyboard iohub",
    )


def check_sound(trouble: str | None) -> Check:
    """Check that the error tone can be heard."""
    return Check(
        name="error tone",
        status="pass" if trouble is None else "warn",
        found=trouble or "plays",
        expected="plays",
        remedy=""
        if trouble is None
        else "plug a loudspeaker in; the session runs silently otherwise",
    )


def check_disk(folder: Path) -> Check:
    """Check that the folder can be written and has room."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / "write-test.txt") as temporary:
            temporary.write_bytes(b"x" * 4096)
        (folder / "write-test.txt").unlink()
    except OSError as error:
        return Check(
            name="disk",
            status="fail",
            found=f"can't be written ({error})",
            expected=f"{folder} can be written",
            remedy="choose another folder, or ask for the right to write there",
        )
    free = shutil.disk_usage(folder).free
    enough: Status = "pass" if free >= _AMPLE_FREE_BYTES else "warn"
    status: Status = "fail" if free < _LEAST_FREE_BYTES else enough
    return Check(
        name="disk",
        status=status,
        found=f"{free / 2**20:.0f} MiB free",
        expected=f"at least {_LEAST_FREE_BYTES / 2**20:.0f} MiB",
        remedy="" if status == "pass" else "free some space",
    )


def make_report(display: Display, checks: Iterable[Check]) -> CheckReport:
    """Return the page of now."""
    return CheckReport(
        display=display.name,
        checked_at=datetime.now(UTC).isoformat(timespec="seconds"),
        checks=tuple(checks),
    )


def format_report(report: CheckReport) -> str:
    """Return the page as text."""
    lines = [f"{report.status.upper()}: display {report.display!r}, {report.checked_at}", ""]
    for check in report.checks:
        lines.append(f"{check.status:<5} {check.name:<26} {check.found}")
        if check.status != "pass":
            lines.append(f"      expected {check.expected}; {check.remedy}")
    return "\n".join(lines)


def write_report(report: CheckReport, folder: Path) -> Path:
    """Write the page as text and JSON into `folder`/checks, and return the text's path."""
    stem = "check_" + report.checked_at.replace(":", "").replace("+0000", "Z")
    path = folder / "checks" / f"{stem}.txt"
    write_text(format_report(report) + "\n", path)
    write_json(describe_report(report), path.with_suffix(".json"))
    return path


def describe_report(report: CheckReport) -> dict[str, Any]:
    """Return the page as a JSON-able mapping."""
    return {"status": report.status, **asdict(report)}


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]} px"
