"""A mapping file to fill in, from the columns that a file has."""

import json
from collections.abc import Iterable

from analysis.lab_tables.grid import Grid
from analysis.lab_tables.mapping import COLUMNS, NEEDED

_N_EXAMPLES = 4
# Names under which labs keep each column, tried without regard to case.
_USUAL = {
    "participant_id": (
        "participant_id",
        "participant",
        "subject",
        "subj",
        "subj_id",
        "sub",
        "id",
        "vp",
        "code",
    ),
    "session": ("session", "visit", "ses"),
    "trial_id": ("trial_id", "stimulus", "stim", "item", "image", "condition_file"),
    "is_practice": ("is_practice", "practice", "phase"),
    "rt": ("rt", "rt_s", "rt_ms", "reaction_time", "reactiontime", "response_time", "latency"),
    "outcome": ("outcome",),
    "is_correct": ("correct", "acc", "accuracy", "is_correct", "corr"),
    "response": ("response", "answer", "resp"),
    "key": ("key", "key_press", "button"),
    "same_key": ("same_key", "same_button"),
    "truth": ("truth", "same_diff", "same_different", "expected"),
    "position": ("position", "trial", "trial_number", "trial_index", "trialnr"),
    "block": ("block", "block_id"),
    "started_at": ("date", "started_at"),
}


def write_template(grid: Grid, *, source: str) -> str:
    """Return a mapping file with a guess for each column that has a usual name.

    Parameters
    ----------
    grid
        The table.
    source
        What the file's first line calls it.
    """
    lines = [
        f"# How to read {source}; docs/lab_tables.md. Its columns, with the first values:",
        *(f"#   {name}: {_show_values(grid, name)}" for name in grid.header if name),
        "",
        'unit = "ms"               # of the reaction time: "ms" or "s" (look above)',
        '# decimal = ","          # found out where it can be told',
        "# timeout_s = 5.0         # longest wait for an answer",
        '# no_response = "timeout" # what a trial without an answer is; or "gaze_break", "aborted"',
        "",
        '[columns]                 # ours = "theirs"; or joined: "{image}_{condition}"',
    ]
    for name, meaning in COLUMNS.items():
        guess = _guess(name, grid.header)
        text = f"{name} = {json.dumps(guess or 'FILL IN', ensure_ascii=False)}"
        is_open = guess or name in NEEDED
        lines.append(f"{text if is_open else '# ' + text}  # {meaning}")
    lines += ["", "[constants]               # what no column holds"]
    for name, value in _USUAL_CONSTANTS.items():
        comment = "# " if _guess(name, grid.header) else ""
        lines.append(f'{comment}{name} = "{value}"')
    return "\n".join([*lines, *_END])


_USUAL_CONSTANTS = {"session": "1", "is_practice": "false"}


_END = (
    "",
    "[file_name]               # what only the file's name holds",
    "# participant_id = 'sub-(\\w+)'",
    "",
    "[codes.response]          # what the table says for",
    '# same = ["s", "1"]',
    '# different = ["d", "0"]',
    "",
    "[codes.is_correct]",
    '# true = ["1"]',
    '# false = ["0"]',
    "",
    "[codes.rt]                # numbers that mean no answer",
    '# timeout = ["-1", "999"]',
    "",
    "# [rows]                  # which rows are presentations; left out: those with a trial_id",
    '# column = "phase"',
    '# values = ["test"]',
)


def _show_values(grid: Grid, name: str) -> str:
    seen = list(dict.fromkeys(grid.column(name)))
    return ", ".join(repr(value[:24]) for value in seen[:_N_EXAMPLES])


def _guess(name: str, header: Iterable[str]) -> str | None:
    by_lower = {column.lower(): column for column in header}
    return next((by_lower[usual] for usual in _USUAL[name] if usual in by_lower), None)
