"""Every check passes on what is right and fires on what is wrong."""

import errno
import json
import os
import shutil
from collections import namedtuple

import numpy as np
import pytest

from experiment import checks
from experiment.checks import (
    check_colours,
    check_disk,
    check_dots,
    check_flips_block,
    check_injected_rt,
    check_keyboard,
    check_keys_seen,
    check_refresh,
    check_screen_exists,
    check_sizes,
    check_sound,
    check_steady,
    describe_report,
    format_report,
    make_report,
    measure_refresh_hz,
    write_report,
)
from experiment.screen import read_display
from experiment.window import WindowSizes

DISPLAY = read_display("adeli2023-crt")  # 100 Hz


def flips(period_s, n=100):
    return np.arange(n) * period_s


def test_a_missing_screen_fails():
    assert check_screen_exists(DISPLAY, n_screens=1).status == "pass"
    second = read_display("adeli2023-crt").__class__(
        **{k: getattr(DISPLAY, k) for k in DISPLAY.__slots__} | {"screen": 1}
    )
    check = check_screen_exists(second, n_screens=1)
    assert check.status == "fail"
    assert "plug the screen in" in check.remedy


def test_flips_that_do_not_block_fail():
    assert check_flips_block(flips(0.010), DISPLAY).status == "pass"
    check = check_flips_block(flips(0.0011), DISPLAY)
    assert check.status == "fail"
    assert check.found == "a flip takes 1.10 ms"


@pytest.mark.parametrize(
    ("measured_hz", "status"), [(100.0, "pass"), (100.4, "pass"), (99.4, "fail"), (60.0, "fail")]
)
def test_another_refresh_than_declared_fails(measured_hz, status):
    assert check_refresh(measured_hz, DISPLAY, tolerance_hz=0.5).status == status


def test_refresh_is_the_inverse_of_the_median_interval_whatever_single_frames_do():
    times = np.cumsum([0.0] + [0.01] * 50 + [0.2] + [0.01] * 50)
    assert measure_refresh_hz(times) == pytest.approx(100)


def test_dropped_frames_warn():
    assert check_steady(flips(0.01), DISPLAY, dropped_ratio=1.5).status == "pass"
    times = np.cumsum(([0.01] * 9 + [0.02]) * 10)
    check = check_steady(times, DISPLAY, dropped_ratio=1.5)
    assert check.status == "warn"
    assert check.found.startswith("10 of 99")


def test_a_scaled_frame_buffer_fails():
    right = WindowSizes(requested=(800, 600), window=(800, 600), frame_buffer=(800, 600))
    assert check_sizes(right).status == "pass"
    retina = WindowSizes(requested=(800, 600), window=(800, 600), frame_buffer=(1600, 1200))
    assert check_sizes(retina).status == "fail"
    windows = WindowSizes(requested=(800, 600), window=(640, 480), frame_buffer=(640, 480))
    assert "display scaling to 100 %" in check_sizes(windows).remedy


def test_dots_off_by_more_than_half_a_pixel_fail():
    expected = np.array([[10.0, 20.0], [30.0, 40.0]])
    assert check_dots(expected + 0.3, expected).status == "pass"
    assert check_dots(expected + np.array([0.6, 0.0]), expected).status == "fail"
    assert check_dots(None, expected).found == "no dots"


def test_other_colours_than_the_file_s_warn():
    assert check_colours(2).status == "pass"
    assert check_colours(3).status == "warn"


def test_only_timed_keyboards_pass():
    assert check_keyboard("ptb").status == "pass"
    assert check_keyboard("iohub").status == "pass"
    assert check_keyboard("event").status == "warn"


def test_a_key_that_does_not_arrive_fails_by_name():
    assert check_keys_seen(["j", "f"], ("f", "j")).status == "pass"
    check = check_keys_seen(["f"], ("f", "j"))
    assert (check.status, check.found) == ("fail", "not seen: j")


def test_an_injected_key_s_rt_may_be_off_by_a_frame_and_the_jitter():
    assert check_injected_rt(0.014, DISPLAY).status == "pass"
    assert check_injected_rt(-0.016, DISPLAY).status == "fail"
    assert check_injected_rt(None, DISPLAY).status == "warn"
    assert check_injected_rt(float("inf"), DISPLAY).found == "it never arrived"


def test_no_sound_warns():
    assert check_sound(None).status == "pass"
    assert check_sound("no device").status == "warn"


Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(("free_mib", "status"), [(5, "fail"), (100, "warn"), (5000, "pass")])
def test_little_room_warns_and_none_fails(tmp_path, monkeypatch, free_mib, status):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, free_mib * 2**20))
    assert check_disk(tmp_path / "new").status == status
    assert list((tmp_path / "new").iterdir()) == []


def test_a_folder_that_cannot_be_written_fails(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(checks, "replacing", refuse)
    check = check_disk(tmp_path)
    assert check.status == "fail"
    assert "Permission denied" in check.found


def test_the_page_has_the_worst_status_and_is_saved_as_text_and_json(tmp_path):
    good, bad = check_colours(0), check_keys_seen([], ("f", "j"))
    assert make_report(DISPLAY, [good]).status == "pass"
    assert make_report(DISPLAY, [good, check_sound("x")]).status == "warn"
    report = make_report(DISPLAY, [good, bad])
    assert report.status == "fail"
    assert report.failed == (bad,)
    path = write_report(report, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert text == format_report(report) + "\n"
    assert text.startswith("FAIL: display 'adeli2023-crt'")
    assert "not seen: f, j" in text
    content = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert content == json.loads(json.dumps(describe_report(report)))
    assert ":" not in path.name  # a file name on Windows too
