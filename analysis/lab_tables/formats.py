"""The formats that are known by their columns, and how each is read.

Sources: PsychoPy 2026.2.5's wide CSV; jsPsych's data as `get().csv()` and `get().json()` write them
(rt in milliseconds, null without an answer); the columns of the published raw table (Adeli 2023
[code], its README and preprocessing notebook): RT in ms, `same_button` the button that means "same",
the trial named by image, annotation image and cell.
"""

from collections.abc import Callable
from dataclasses import dataclass

from analysis.lab_tables.findings import FindingLog
from analysis.lab_tables.mapping import COLUMNS, DEFAULT_CODES, Mapping
from stimuli.table_io import name_some

_PEOPLE = (
    "participant_id",
    "participant",
    "subject_id",
    "subject",
    "PROLIFIC_PID",
    "prolific_pid",
    "sona_id",
)
_JSPSYCH_PEOPLE = (*_PEOPLE, *(f"data.{name}" for name in _PEOPLE))


def _with_data(*names: str) -> tuple[str, ...]:
    return (*names, *(f"data.{name}" for name in names))


OWN = Mapping(
    format="objecthood",
    unit="s",
    columns={
        **{name: (name,) for name in COLUMNS if name not in {"rt", "is_correct", "truth"}},
        "rt": ("rt_s",),
    },
    mark="participant_id",
)
PSYCHOPY = Mapping(
    format="psychopy",
    unit="s",
    columns={
        "participant_id": _PEOPLE,
        "session": ("session",),
        "trial_id": ("trial_id",),
        "is_practice": ("is_practice", "practice"),
        "rt": ("*.rt",),
        "key": ("*.keys",),
        "is_correct": ("*.corr",),
        "response": ("response",),
        "same_key": ("same_key",),
        "truth": ("same_diff", "truth"),
        "position": ("trial_number",),
        "started_at": ("date",),
    },
    constants={"session": "1", "is_practice": "false"},
    missing=frozenset({"", "None"}),
)
JSPSYCH = Mapping(
    format="jspsych",
    unit="ms",
    columns={
        "participant_id": _JSPSYCH_PEOPLE,
        "session": _with_data("session"),
        "trial_id": _with_data("trial_id"),
        "is_practice": _with_data("is_practice", "practice"),
        "rt": _with_data("rt"),
        "key": _with_data("response", "key_press"),
        "is_correct": _with_data("correct"),
        "same_key": _with_data("same_key"),
        "truth": _with_data("same_diff", "truth"),
        "position": _with_data("trial_index"),
    },
    constants={"session": "1", "is_practice": "false"},
    missing=frozenset({"", "null"}),
    mark="is_correct",
)
EYELINK = Mapping(
    format="eyelink",
    unit="ms",
    columns={
        "participant_id": ("RECORDING_SESSION_LABEL",),
        "session": ("session",),
        "trial_id": ("{image_id}_{img_id}_{same_diff}_{close_far}",),
        "is_practice": ("trial_type", "practice"),
        "rt": ("REACTION_TIME",),
        "key": ("RT_EVENT_BUTTON_ID",),
        "same_key": ("same_button",),
        "truth": ("same_diff",),
        "position": ("Trial_Index_", "TRIAL_INDEX"),
        "block": ("block_id",),
    },
    constants={"session": "1"},
    codes={
        **DEFAULT_CODES,
        "is_practice": {
            "true": ("practice", "prac", "train", "training", "1", "true", "True"),
            "false": ("exp", "test", "trial", "0", "false", "False"),
        },
    },
    missing=frozenset({"", "."}),
    parts={"diff": "different"},
    mark="participant_id",
)
BUILT_IN: dict[str, Mapping] = {
    mapping.format: mapping for mapping in (OWN, PSYCHOPY, JSPSYCH, EYELINK)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """What a table is, and why."""

    mapping: Mapping
    why: str


def detect_format(header: tuple[str, ...], log: FindingLog) -> Detection | None:
    """Return the format that a header is of; None, with a finding, where it is none or several."""
    signs = {name: find(set(header)) for name, find in _SIGNS.items()}
    found = [name for name, sign in signs.items() if sign]
    if len(found) == 1:
        name = found[0]
        return Detection(mapping=BUILT_IN[name], why=f"columns {name_some(signs[name], limit=8)}")
    advice = (
        "write a mapping file: 'objecthood data check FILE --template > mapping.toml', fill it in, and "
        "give it with --mapping"
    )
    if found:
        which = "; ".join(f"{name} by {name_some(signs[name])}" for name in found)
        log.add("format-ambiguous", f"{which}; {advice}", line=1, value=",".join(header))
    else:
        log.add(
            "format-unknown",
            f"found the columns {name_some(header, limit=12)}; {advice}",
            line=1,
            value=",".join(header),
        )
    return None


def _find_own(header: set[str]) -> list[str]:
    signs = ["participant_id", "trial_id", "outcome", "rt_s"]
    return signs if set(signs) <= header else []


def _find_psychopy(header: set[str]) -> list[str]:
    loops = sorted(n for n in header if n.endswith((".thisN", ".thisRepN", ".thisTrialN")))
    own = sorted(header & {"psychopyVersion", "expName", "frameRate"})
    return [*loops[:2], *own] if loops or len(own) > 1 else []


def _find_jspsych(header: set[str]) -> list[str]:
    last = {name.rsplit(".", maxsplit=1)[-1] for name in header}
    signs = ["trial_index", "trial_type"]
    more = sorted(last & {"time_elapsed", "internal_node_id", "view_history", "key_press"})
    return [*signs, *more] if set(signs) <= last and (more or "rt" in last) else []


def _find_eyelink(header: set[str]) -> list[str]:
    more = sorted(header & {"REACTION_TIME", "RT_EVENT_BUTTON_ID", "TRIAL_INDEX"})
    return (
        ["RECORDING_SESSION_LABEL", *more] if "RECORDING_SESSION_LABEL" in header and more else []
    )


_SIGNS: dict[str, Callable[[set[str]], list[str]]] = {
    "objecthood": _find_own,
    "psychopy": _find_psychopy,
    "jspsych": _find_jspsych,
    "eyelink": _find_eyelink,
}
