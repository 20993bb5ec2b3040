"""The task's configuration: every number of a session, with its reason.

The default is the published study (methods 1.1); what the sources don't say is ours, and says so.
"""

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import get_args

from experiment.tables import OUTCOMES, Outcome
from stimuli.build import DESIGN_FILE
from stimuli.design import read_design
from stimuli.dots import PUBLISHED_DOT, DotStyle
from stimuli.errors import InputError
from stimuli.table_io import name_some, read_json

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """One session of the task. Times in seconds; they are shown in whole frames."""

    # ---- one trial ----
    # The central dot alone: fixation [paper].
    fixation_s: float = 0.5
    # Both dots without the image [paper].
    dots_s: float = 1.0
    # Longest wait for an answer. The paper waits until the response and names no limit; ours lies
    # above its longest RT, 4.623 s [data].
    timeout_s: float = 5.0
    # Both dots flicker on the image at 5 Hz [paper]: on for the first half of each cycle (ours).
    flicker_hz: float = 5.0
    # Blank between an answer and the next central dot (ours).
    inter_trial_s: float = 0.5
    # Grey around and before the image (ours).
    background_rgb: Rgb = (128, 128, 128)
    # Image pixels per degree: 1024 px over 30 degrees [paper]. The display's own pixels per degree
    # then say how large an image is on the screen.
    image_px_per_degree: float = 1024 / 30
    # A disc of 8 px radius in red with a white core of 5 px, in image pixels [paper, code].
    dot_style: DotStyle = PUBLISHED_DOT

    # ---- answers ----
    # The two response keys, left hand and right hand (ours; the paper used a gamepad).
    keys: tuple[str, str] = ("f", "j")
    # Or two buttons of a gamepad, counted from 0; None uses the keyboard.
    gamepad_buttons: tuple[int, int] | None = None
    continue_key: str = "space"
    quit_key: str = "escape"
    # An auditory tone marks an error [paper]; its pitch and length are ours.
    tone_outcomes: tuple[Outcome, ...] = ("wrong",)
    tone_hz: float = 400.0
    tone_s: float = 0.2

    # ---- the session ----
    # 32 practice trials, then four blocks with breaks [paper].
    n_practice: int = 32
    n_blocks: int = 4
    # Presses of each key before practice (ours).
    n_key_practice: int = 3
    # Practice ends early once this share of the last `practice_window` answers is correct; None runs
    # all of it once, as published. With a criterion it is repeated up to `practice_rounds` times.
    practice_criterion: float | None = None
    practice_window: int = 10
    practice_rounds: int = 3
    # How long the words of practice feedback stay (ours).
    feedback_s: float = 0.8
    # Outcomes after which a display is shown again at the end of its block (ours; the paper doesn't
    # say that any were), and how often a display is shown at most.
    repeat_outcomes: tuple[Outcome, ...] = ()
    max_presentations: int = 3
    # The blocks' order differs between people, so that no scene is always late (ours).
    shuffle_blocks: bool = True

    # ---- gaze, when there is a tracker ----
    # Gaze stays within 1 degree of the central dot for the whole trial [paper].
    gaze_limit_deg: float = 1.0
    # Drift check before each trial [paper]: gaze within the limit for this long (ours) ...
    drift_check_s: float = 0.3
    # ... and after this long without it, the check fails and the experimenter is told (ours).
    drift_check_limit_s: float = 10.0
    # Lost samples (a blink) shorter than this are no break (ours; 0: any loss is one).
    gaze_loss_s: float = 0.3

    # ---- the machine ----
    # A measured refresh further than this from the declared one stops the session (visigoth).
    refresh_tolerance_hz: float = 0.5
    # A frame longer than this many refresh periods was dropped (ours).
    dropped_frame_ratio: float = 1.5

    def __post_init__(self) -> None:
        _check_numbers(self)
        _check_choices(self)

    @property
    def response_keys(self) -> tuple[str, str]:
        """The names of the two keys, or of the two buttons of a gamepad."""
        if self.gamepad_buttons is None:
            return self.keys
        left, right = self.gamepad_buttons
        return f"button{left}", f"button{right}"


_ABOVE_0 = (
    "fixation_s",
    "dots_s",
    "timeout_s",
    "image_px_per_degree",
    "tone_hz",
    "gaze_limit_deg",
    "refresh_tolerance_hz",
    "n_blocks",
    "practice_window",
    "practice_rounds",
    "max_presentations",
)
_AT_LEAST_0 = (
    "flicker_hz",
    "inter_trial_s",
    "tone_s",
    "n_practice",
    "n_key_practice",
    "feedback_s",
    "drift_check_s",
    "drift_check_limit_s",
    "gaze_loss_s",
)


def fit_to_design(folder: Path) -> SessionConfig:
    """Return the published configuration with the dot and the scale that a benchmark was made for.

    A benchmark that says how it was designed (design.json) has its own dot radius and its own image
    pixels per degree; one that doesn't has the published ones.
    """
    path = folder / DESIGN_FILE
    if not path.is_file():
        return PUBLISHED_SESSION
    design = read_design(str(path))
    scale = design.dot_radius_px / PUBLISHED_DOT.radius_px
    style = replace(
        PUBLISHED_DOT,
        radius_px=design.dot_radius_px,
        core_radius_px=PUBLISHED_DOT.core_radius_px * scale,
    )
    return replace(PUBLISHED_SESSION, image_px_per_degree=design.px_per_degree, dot_style=style)


def read_config(path: Path | None, *, base: SessionConfig | None = None) -> SessionConfig:
    """Return the configuration of a JSON file; what the file leaves out is as in `base`.

    Parameters
    ----------
    path
        A JSON object of `SessionConfig`'s fields. None is `base`.
    base
        As from `fit_to_design`; None is the published study.

    Raises
    ------
    InputError
        No such file, a field that doesn't exist, or a value out of range.
    """
    base = base or PUBLISHED_SESSION
    if path is None:
        return base
    content = read_json(path)
    known = {item.name for item in fields(SessionConfig)}
    unknown = sorted(set(content) - known)
    if unknown:
        raise InputError(
            f"{path}: no setting {name_some(unknown)}; known: {', '.join(sorted(known))}"
        )
    try:
        return replace(base, **{k: _from_json(k, v, base) for k, v in content.items()})
    except (InputError, TypeError) as error:
        raise InputError(f"{path}: {error}") from None


def tabulate_config(config: SessionConfig) -> dict[str, object]:
    """Return the configuration as a JSON-able mapping."""
    return asdict(config)


def _from_json(name: str, value: object, base: SessionConfig) -> object:
    if name == "dot_style" and isinstance(value, dict):
        return replace(base.dot_style, **{k: _as_tuple(v) for k, v in value.items()})
    return _as_tuple(value)


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _check_numbers(config: SessionConfig) -> None:
    for name in (*_ABOVE_0, *_AT_LEAST_0):
        value = getattr(config, name)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not (value > 0 or (value == 0 and name in _AT_LEAST_0)):
            expected = "0 or more" if name in _AT_LEAST_0 else "a number above 0"
            raise InputError(f"{name} is {value!r}; expected {expected}")
        if name.startswith(("n_", "max_", "practice_")) and not isinstance(value, int):
            raise InputError(f"{name} is {value!r}; expected a whole number")
    if not config.dropped_frame_ratio > 1:
        raise InputError(
            f"dropped_frame_ratio is {config.dropped_frame_ratio!r}; expected above 1 refresh period"
        )
    criterion = config.practice_criterion
    if criterion is not None and not 0 < criterion <= 1:
        raise InputError(
            f"practice_criterion is {criterion!r}; expected a share above 0, at most 1"
        )


def _check_choices(config: SessionConfig) -> None:
    for name in ("tone_outcomes", "repeat_outcomes"):
        unknown = sorted(set(getattr(config, name)) - set(get_args(Outcome)))
        if unknown:
            raise InputError(f"{name} holds {name_some(unknown)}; known: {', '.join(OUTCOMES)}")
    names = [*config.keys, config.continue_key, config.quit_key]
    if len(config.keys) != 2 or len(set(names)) != len(names):
        raise InputError(
            f"keys {name_some(names)}: expected two response keys, a continue key and a quit key, "
            "all different"
        )
    buttons = config.gamepad_buttons
    if buttons is not None and (len(buttons) != 2 or buttons[0] == buttons[1]):
        raise InputError(f"gamepad_buttons is {buttons!r}; expected two different buttons")


# The published study.
PUBLISHED_SESSION = SessionConfig()
