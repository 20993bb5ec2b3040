"""The apparatus with a window: screen, keys, tracker, and the check of all of them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from experiment.checks import CheckReport, check_disk, make_report, write_report
from experiment.config import SessionConfig
from experiment.instructions import read_instructions
from experiment.keyboard import TimedKeyboard, open_gamepad
from experiment.keys import KeyDevice, Keys
from experiment.launch import Prepared, announce, make_person
from experiment.measure import N_FLIPS, measure_display, measure_keys
from experiment.screen import Display
from experiment.task import Lab
from experiment.tracker import open_tracker
from experiment.window import WindowStage, count_screens, require_display, require_psychopy
from stimuli.benchmark import Benchmark
from stimuli.errors import InputError


@contextmanager
def open_window_lab(prepared: Prepared) -> Iterator[tuple[Lab, CheckReport]]:
    """Give a lab with a window, checked; close everything at the end, in order.

    Raises
    ------
    InputError
        There is no display, no PsychoPy, no such screen, or no keyboard that times its keys.
    """
    request = prepared.request
    display = request.display
    if display is None:
        raise InputError("no display is named")
    require_display()
    require_psychopy()
    require_screen(display)
    words = read_instructions(request.language)
    with ExitStack() as stack:
        stage = WindowStage(
            display, config=request.config, font=words.font, direction=words.direction
        )
        stack.callback(stage.close)
        device = announce(find_keys(prepared, stage), prepared, clock=stage.now)
        stack.callback(device.close)
        checks = measure_display(stage, config=request.config, n_flips=request.n_check_flips)
        checks.append(check_disk(prepared.benchmark.responses_folder))
        tracker = None
        if request.tracker is not None:
            tracker = open_tracker(request.tracker, stage)
            stack.callback(tracker.close)
        report = make_report(display, checks)
        write_report(report, prepared.benchmark.responses_folder)
        yield Lab(stage=stage, keys=Keys(device), tracker=tracker), report


def find_keys(prepared: Prepared, stage: WindowStage) -> KeyDevice:
    """Return the simulated person's keys, or real ones."""
    request = prepared.request
    if request.is_simulated:
        return make_person(prepared, clock=stage.now)
    return open_keys(request.config, request.keyboard, stage)


def require_screen(display: Display) -> None:
    """Raise where the declared screen isn't there; PsychoPy would silently use the first.

    Raises
    ------
    InputError
        No such screen.
    """
    n_screens = count_screens()
    if display.screen >= n_screens:
        raise InputError(
            f"display {display.name!r}: screen {display.screen} doesn't exist; this computer offers "
            f"{n_screens}, counted from 0. Plug it in, or correct `screen` in the displays file"
        )


def open_keys(config: SessionConfig, backend: str, stage: WindowStage) -> KeyDevice:
    """Return the keyboard, or the gamepad if one is configured."""
    names = (*config.keys, config.continue_key, config.quit_key)
    keyboard = TimedKeyboard(names, backend=backend)
    if config.gamepad_buttons is None:
        return keyboard
    return open_gamepad(keyboard, clock=stage.now)


def check_apparatus(
    benchmark: Benchmark,
    *,
    display: Display,
    config: SessionConfig,
    language: str,
    keyboard: str,
    n_flips: int = N_FLIPS,
    key_limit_s: float = 30.0,
) -> CheckReport:
    """Return the page of everything that can be checked before people arrive.

    Parameters
    ----------
    benchmark
        Where data will be written.
    display, config, language, keyboard
        As the sessions will use them.
    n_flips
        Flips to time.
    key_limit_s
        How long somebody has to press each key.
    """
    require_display()
    require_psychopy()
    require_screen(display)
    words = read_instructions(language)
    with ExitStack() as stack:
        stage = WindowStage(display, config=config, font=words.font, direction=words.direction)
        stack.callback(stage.close)
        device = open_keys(config, keyboard, stage)
        stack.callback(device.close)
        checks = measure_display(stage, config=config, n_flips=n_flips)
        checks += measure_keys(
            stage,
            Keys(device),
            config=config,
            prompt=lambda key: f"{key.upper()} ?",
            limit_s=key_limit_s,
        )
        checks.append(check_disk(benchmark.responses_folder))
    return make_report(display, checks)
