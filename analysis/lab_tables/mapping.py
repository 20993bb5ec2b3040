r"""What a lab's columns and codes mean: a mapping, built in for known formats or read from TOML.

::

    unit = "ms"                      # of the reaction time: "ms" or "s"
    decimal = "."                    # or ","; left out: found out
    timeout_s = 5.0                  # the longest wait for an answer; left out: not checked
    no_response = "timeout"          # what a trial without an answer is, where nothing says more

    [columns]                        # ours = "theirs"
    participant_id = "subject"
    trial_id = "{image}_{condition}" # or one column, or several joined
    rt = "RT"
    response = "answer"

    [constants]                      # what no column holds
    session = "1"

    [file_name]                      # what only the file's name holds: one group in parentheses
    participant_id = 'sub-(\w+)'

    [codes.response]                 # ours = what the table says
    same = ["s", "1"]
    different = ["d", "0"]

    [codes.rt]
    timeout = ["-1", "999"]          # RTs that mean: no answer

    [rows]                           # which rows are presentations; left out: those with a trial_id
    column = "phase"
    values = ["test", "practice"]

    [parts]                          # words that joined trial ids replace
    diff = "different"
"""

import re
import tomllib
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from experiment.tables import OUTCOMES, RESPONSES
from stimuli.errors import InputError
from stimuli.table_io import name_some

FormatName = Literal["objecthood", "psychopy", "jspsych", "eyelink", "mapping"]
Unit = Literal["ms", "s"]

# Ours, in the order of the template, with what each holds.
COLUMNS = {
    "participant_id": "the person, as text (needed)",
    "session": "the visit; a constant where there was one",
    "trial_id": "the display, as in the benchmark's trials.csv (needed)",
    "is_practice": "whether it was practice; a constant where there was none",
    "rt": "reaction time (needed)",
    "outcome": "how it ended: correct, wrong, timeout, early, gaze_break, aborted",
    "is_correct": "right or wrong, where there is no outcome",
    "response": "what the person said: same or different",
    "key": "key or button pressed",
    "same_key": 'key or button that means "same", a column or a constant',
    "truth": "what is true: same or different; checked against the benchmark",
    "position": "trial number within the session, checked for restarts",
    "block": "block number",
    "started_at": "when the session began, checked for restarts",
}
NEEDED = ("participant_id", "trial_id", "rt")
CODED = {
    "outcome": OUTCOMES,
    "response": RESPONSES,
    "is_correct": ("true", "false"),
    "is_practice": ("true", "false"),
    "rt": ("timeout",),
}
_TRUE = ("true", "True", "TRUE", "1", "1.0", "yes")
_FALSE = ("false", "False", "FALSE", "0", "0.0", "no")
_SAME = ("same", "Same", "SAME")
_DIFFERENT = ("different", "Different", "DIFFERENT", "diff", "Diff")
Codes = Dictionary[str, Dictionary[str, tuple[str, ...]]]
DEFAULT_CODES: Codes = {
    "outcome": {name: (name,) for name in OUTCOMES},
    "response": {"same": _SAME, "different": _DIFFERENT},
    "is_correct": {"true": (*_TRUE, "correct"), "false": (*_FALSE, "wrong", "incorrect")},
    "is_practice": {"true": (*_TRUE, "practice"), "false": (*_FALSE, "test", "exp")},
    "rt": {"timeout": ()},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """How a table is read.

    Attributes
    ----------
    format
        What the table is.
    unit
        Of the RTs.
    columns
        Ours to theirs: a name, or names joined as ``{a}_{b}``; with several alternatives, the first
        that the table has.
    constants, file_name
        Ours to a value, or to a pattern whose group the file's name holds.
    codes
        Ours to our words to theirs.
    missing
        Texts that mean "nothing" in this format.
    decimal
        As declared; None is found out.
    timeout_s
        Longest wait for an answer, in seconds; None is unknown.
    no_response
        The outcome of a trial without an answer.
    rows
        Column and values that mark presentations; None is every row with a trial id.
    parts
        Words replaced in joined trial ids.
    mark
        The column of ours that only presentations fill: a row without trial id that has it is a
        presentation whose id is missing.
    """

    format: FormatName
    unit: Unit
    columns: Dictionary[str, tuple[str, ...]]
    constants: Dictionary[str, str] = field(default_factory=dict)
    file_name: Dictionary[str, str] = field(default_factory=dict)
    codes: Codes = field(default_factory=lambda: DEFAULT_CODES)
    missing: frozenset[str] = frozenset({""})
    decimal: str | None = None
    timeout_s: float | None = None
    no_response: str = "timeout"
    rows: tuple[str, tuple[str, ...]] | None = None
    parts: Dictionary[str, str] = field(default_factory=dict)
    mark: str = "rt"

    def decode(self, column: str, text: str) -> str | None:
        """Return our word for what a cell says; None where no code explains it."""
        for ours, theirs in self.codes.get(column, {}).items():
            if text in theirs:
                return ours
        return None


def read_mapping(path: Path) -> Mapping:
    """Return the mapping of a TOML file.

    Raises
    ------
    InputError
        No such file, not TOML, or a key or value that the form above doesn't know.
    """
    if not path.is_file():
        raise InputError(
            f"{path}: no such file; 'objecthood data check FILE --template > mapping.toml' writes one"
        )
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML ({error})") from None
    try:
        return _parse(content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


_SIMPLE = ("unit", "decimal", "timeout_s", "no_response")
_TABLES = ("columns", "constants", "file_name", "codes", "rows", "parts")


def _parse(content: dict[str, Any]) -> Mapping:
    _check_known(content, (*_SIMPLE, *_TABLES), what="key")
    for name in _TABLES:
        if not isinstance(content.get(name, {}), dict):
            raise InputError(f"{name} is {content[name]!r}; expected a table, [{name}]")
    _check_choice(content, "unit", ("ms", "s"), needed=True)
    _check_choice(content, "decimal", (".", ","))
    _check_choice(content, "no_response", OUTCOMES)
    timeout_s = content.get("timeout_s")
    if timeout_s is not None and not (isinstance(timeout_s, (int, float)) and timeout_s > 0):
        raise InputError(f"timeout_s is {timeout_s!r}; expected seconds above 0")
    for name in ("columns", "constants", "file_name"):
        _check_known(content.get(name, {}), COLUMNS, what=f"column in [{name}]")
    _check_needed(content)
    return Mapping(
        format="mapping",
        unit=content["unit"],
        columns={k: (_text(v, f"columns.{k}"),) for k, v in content.get("columns", {}).items()},
        constants={k: _text(v, f"constants.{k}") for k, v in content.get("constants", {}).items()},
        file_name={k: _pattern(v, k) for k, v in content.get("file_name", {}).items()},
        codes=_parse_codes(content.get("codes", {})),
        decimal=content.get("decimal"),
        timeout_s=None if timeout_s is None else float(timeout_s),
        no_response=content.get("no_response", "timeout"),
        rows=_parse_rows(content.get("rows")),
        parts={k: _text(v, f"parts.{k}") for k, v in content.get("parts", {}).items()},
    )


def _check_known(given: Dictionary[str, object], known: object, *, what: str) -> None:
    names = list(known)  # type: ignore[call-overload]
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise InputError(f"unknown {what}: {name_some(unknown)}; known: {', '.join(names)}")


def _check_choice(
    content: dict[str, Any], name: str, choices: tuple[str, ...], *, needed: bool = False
) -> None:
    value = content.get(name)
    if (value is None and needed) or (value is not None and value not in choices):
        raise InputError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")


def _check_needed(content: dict[str, Any]) -> None:
    given = {
        name for table in ("columns", "constants", "file_name") for name in content.get(table, {})
    }
    missing = [name for name in NEEDED if name not in given]
    if missing:
        raise InputError(f"[columns] has no {name_some(missing)}; say which column holds it")


def _text(value: object, name: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int)):
        return str(value)
    raise InputError(f"{name} is {value!r}; expected text in quotes")


def _pattern(value: object, name: str) -> str:
    text = _text(value, f"file_name.{name}")
    try:
        n_groups = re.compile(text).groups
    except re.error as error:
        raise InputError(f"file_name.{name}: not a regular expression ({error})") from None
    if n_groups != 1:
        raise InputError(f"file_name.{name} is {text!r}; expected one group, such as 'sub-(\\w+)'")
    return text


def _parse_codes(given: dict[str, Any]) -> Codes:
    _check_known(given, CODED, what="table in [codes]")
    codes = dict(DEFAULT_CODES)
    for column, words in given.items():
        _check_known(words, CODED[column], what=f"word in [codes.{column}]")
        told = {
            ours: tuple(_text(item, f"codes.{column}.{ours}") for item in _as_list(theirs))
            for ours, theirs in words.items()
        }
        taken = {text for texts in told.values() for text in texts}
        rest = {
            ours: tuple(text for text in texts if text not in taken)
            for ours, texts in DEFAULT_CODES[column].items()
        }
        codes[column] = {**rest, **told}
    return codes


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _parse_rows(given: dict[str, Any] | None) -> tuple[str, tuple[str, ...]] | None:
    if given is None:
        return None
    _check_known(given, ("column", "values"), what="key in [rows]")
    if set(given) != {"column", "values"}:
        raise InputError("[rows] needs column and values")
    values = tuple(_text(item, "rows.values") for item in _as_list(given["values"]))
    return _text(given["column"], "rows.column"), values


def adjust(mapping: Mapping, **declared: Any) -> Mapping:  # noqa: ANN401 (values of any field)
    """Return the mapping with what the command line declares: unit, decimal, timeout_s.

    >>> adjust(Mapping(format="jspsych", unit="ms", columns={}), unit="s", decimal=None).unit
    's'
    """
    known = {item.name for item in fields(Mapping)}
    given = {name: value for name, value in declared.items() if value is not None}
    assert set(given) <= known, given
    return replace(mapping, **given)
