"""What a session refuses before anybody sits down, seen from outside."""

import pytest

from tests.experiment.driver import run_command, write_display

pytestmark = [pytest.mark.display, pytest.mark.slow]


def test_without_a_reason_the_session_does_not_start_on_a_virtual_screen(lab, screen):
    write_display(lab.parent, is_paced=False)
    done = run_command(
        "session", "run", lab, "--participant", "7", "--display", lab.parent / "displays.yaml",
        "--config", lab.parent / "config.json", env=screen,
    )  # fmt: skip
    assert done.returncode == 2
    assert "flips wait for the screen" in done.stderr
    assert "refresh as declared" in done.stderr
    assert "--despite REASON" in done.stderr
    assert not list((lab / "responses").glob("*.csv"))


def test_a_screen_that_is_not_there_is_refused(lab, screen):
    write_display(lab.parent, screen=3)
    done = run_command(
        "session", "run", lab, "--participant", "7", "--display", lab.parent / "displays.yaml",
        "--config", lab.parent / "config.json", env=screen,
    )  # fmt: skip
    assert done.returncode == 2
    assert "screen 3 doesn't exist; this computer offers 1" in done.stderr


def test_without_psychtoolbox_the_session_stops_with_the_remedy(lab, screen, tmp_path):
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "psychtoolbox.py").write_text(
        "raise ImportError('libjack.so.0: cannot open shared object file')", encoding="utf-8"
    )
    done = run_command(
        "session", "run", lab, "--participant", "7", "--display", lab.parent / "displays.yaml",
        "--config", lab.parent / "config.json", env=screen | {"PYTHONPATH": str(fake)},
    )  # fmt: skip
    assert done.returncode == 2
    assert "PsychoPy loses every answer" in done.stderr
    assert "apt-get install libjack0" in done.stderr


def test_without_any_display_the_message_says_so(lab, screen):
    env = {name: value for name, value in screen.items() if name != "DISPLAY"}
    done = run_command(
        "session", "run", lab, "--participant", "7", "--display", lab.parent / "displays.yaml",
        "--config", lab.parent / "config.json", env=env,
    )  # fmt: skip
    assert done.returncode == 2
    assert "there is no display" in done.stderr
