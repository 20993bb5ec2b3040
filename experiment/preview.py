"""A picture of every phase, as it stands in the frame buffer, for methods sections and committees."""

from collections.abc import Callable, Iterator
from pathlib import Path

from experiment.config import SessionConfig
from experiment.instructions import PageName, read_instructions
from experiment.launch import Request, make_shelf, prepare
from experiment.plan import PlannedTrial
from experiment.screen import Display
from experiment.session import fill_page
from experiment.window import WindowStage
from experiment.window_lab import require_screen
from stimuli.errors import InputError
from stimuli.images import write_image

_BEFORE: tuple[PageName, ...] = ("welcome", "keys", "press_same", "practice")
_AFTER: tuple[PageName, ...] = (
    "correct", "wrong", "timeout", "early", "gaze_break", "block", "break", "resume", "debrief",
)  # fmt: skip


def write_preview(
    benchmark: Path,
    folder: Path,
    *,
    display: Display,
    config: SessionConfig,
    language: str,
    practice: Path | None = None,
    trial_id: str | None = None,
) -> list[Path]:
    """Write a PNG of each phase into `folder`, and return the files in order.

    Raises
    ------
    InputError
        No such display, benchmark or trial, or the trial has no image.
    """
    require_screen(display)
    request = Request(
        benchmark=benchmark,
        participant="preview-1",
        session="1",
        config=config,
        display=display,
        language=language,
        practice=practice,
    )
    prepared = prepare(request)
    shelf = make_shelf(prepared, display)
    planned = _choose([t for t in prepared.plan.trials if shelf.has_image(t)], trial_id)
    words = read_instructions(language)
    pictures = shelf.find_pictures(planned)
    stage = WindowStage(display, config=config, font=words.font, direction=words.direction)
    try:
        stage.load(pictures)
        paths = []
        values = {"block": 1, "percent_correct": 93}

        def fill(page: PageName) -> str:
            return fill_page(words, prepared.plan, page=page, config=config, values=values)

        has_practice = any(trial.is_practice for trial in prepared.plan.trials)
        for name, draw in _list_phases(stage, fill):
            if name == "practice" and not has_practice:
                continue
            draw()
            path = folder / f"{len(paths) + 1:02d}-{name}.png"
            write_image(stage.grab(), path)
            stage.flip()
            paths.append(path)
    finally:
        stage.close()
    return paths


def _choose(trials: list[PlannedTrial], trial_id: str | None) -> PlannedTrial:
    """Return the display that is asked for, or the first test display, of those with an image."""
    for trial in trials:
        if trial.trial_id == trial_id or (trial_id is None and not trial.is_practice):
            return trial
    if not trials:
        raise InputError(
            "no display of the preview's list has an image; fetch the photographs first"
        )
    raise InputError(
        f"trial {trial_id!r} isn't among those of the preview's list that have an image; take one "
        f"that is, such as {trials[-1].trial_id!r}"
    )


def _list_phases(
    stage: WindowStage, fill: Callable[[PageName], str]
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Return name and drawing of each phase, in the order of a session."""
    for page in _BEFORE:
        yield page, lambda page=page: stage.draw_text(fill(page))
    yield "central-dot", stage.draw_first_dot
    yield "both-dots", stage.draw_both_dots
    yield "image-dots-on", lambda: stage.draw_image(with_dots=True)
    yield "image-dots-off", lambda: stage.draw_image(with_dots=False)
    for page in _AFTER:
        yield page, lambda page=page: stage.draw_text(fill(page))
