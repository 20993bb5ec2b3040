"""jsPsych's JSON to a grid: a list of trials, lists written one after another, or a trial per line."""

import json
from collections.abc import Iterator, Mapping

from analysis.lab_tables.findings import FindingLog
from analysis.lab_tables.grid import Grid, leave_out_doubles
from analysis.lab_tables.tokens import Row

_SPACE = " \t\r\n,"
_LIST_KEYS = ("trials", "data", "values", "results")


def looks_like_json(text: str) -> bool:
    """Return whether a text begins as JSON does."""
    return text.lstrip()[:1] in {"[", "{"}


def read_json_rows(text: str, log: FindingLog) -> Grid | None:
    """Return the grid of a JSON file of trials; nested values become columns such as `data.rt`.

    null becomes an empty cell, true and false the words, numbers stay as they are written; each row's
    line is that on which its object begins.
    """
    try:
        trials = list(_find_trials(text))
    except json.JSONDecodeError as error:
        log.add(
            "bad-json",
            f"{error.msg}: the file breaks off or was changed by hand; export it again",
            line=error.lineno,
            value=text[max(error.pos - 20, 0) : error.pos + 20],
        )
        return None
    if not any(trial for _, trial in trials):
        log.add("bad-json", "expected a list of trials: [{...}, {...}]", line=1, value=text[:80])
        return None
    flat = [(line, dict(_flatten(trial))) for line, trial in trials]
    header = tuple(dict.fromkeys(name for _, cells in flat for name in cells))
    rows = [
        Row(line=line, cells=tuple(cells.get(name, "") for name in header)) for line, cells in flat
    ]
    return Grid(header=header, rows=tuple(leave_out_doubles(rows, log, delimiter=", ")))


def _find_trials(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield each trial with its line.

    A list is entered, so that its objects keep their places; an object that holds a list of trials is
    entered as well.
    """
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
    position, depth = _skip(text, 0), 0
    while position < len(text):
        if text[position] in "[]":
            depth += 1 if text[position] == "[" else -1
            position = _skip(text, position + 1)
            continue
        value, end = decoder.raw_decode(text, position)
        line = text.count("\n", 0, position) + 1
        if isinstance(value, dict):
            yield from _unwrap(value, line)
        position = _skip(text, end)
    if depth != 0:
        raise json.JSONDecodeError("a list is not closed", text, len(text))


def _unwrap(value: dict[str, object], line: int) -> Iterator[tuple[int, Mapping[str, object]]]:
    for key in _LIST_KEYS:
        inner = value.get(key)
        if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
            yield from ((line, item) for item in inner)
            return
    yield line, value


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _flatten(trial: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in trial.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _flatten(value, f"{name}.")
        elif value is None:
            yield name, ""
        elif isinstance(value, str):
            yield name, value
        else:
            yield name, json.dumps(value, ensure_ascii=False)
