"""What both exports share: the rows by person, session and run, and names that every standard takes."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from experiment.tables import Responses
from stimuli.benchmark import Benchmark
from stimuli.errors import InputError
from stimuli.table_io import read_json, read_table, safe_file_name

TASK = "grouping"
TASK_DESCRIPTION = (
    "Two dots on a photograph: do they lie on the same object or on different ones? A central dot, "
    "both dots, then the photograph with both dots flickering until the answer (Adeli et al. 2026)."
)
# Said of the table's columns that carry a unit or a closed set of values.
UNITS = {"_s": "s", "_hz": "Hz"}
LEVELS = {
    "outcome": {
        "correct": "the right answer",
        "wrong": "the other answer, or both keys at once",
        "timeout": "no answer before the time-out",
        "early": "a key before the photograph",
        "gaze_break": "gaze left the central dot",
        "aborted": "the session ended during this presentation",
    },
    "response": {"same": "on the same object", "different": "on different objects"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRun:
    """One run's rows, and the letters and digits that name it.

    Attributes
    ----------
    rows
        Valid under `Responses`, in the order of the file.
    subject, visit
        Labels: letters and digits only.
    sidecar
        The run's JSON; empty for imported data.
    """

    participant_id: str
    session: str
    run: int
    subject: str
    visit: str
    rows: pd.DataFrame
    sidecar: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a data set says of itself besides its data."""

    name: str
    licence: str
    authors: tuple[str, ...] = ()


def collect_runs(benchmark: Benchmark) -> list[ExportedRun]:
    """Return the runs of a benchmark, by person, session and run.

    Raises
    ------
    InputError
        There are no people.
    """
    files = sorted(benchmark.responses_folder.glob("*.csv"))
    if not files:
        raise InputError(
            f"{benchmark.folder}: no people: {benchmark.responses_folder} holds no CSV; nothing to "
            "export"
        )
    runs = [run for path in files for run in _split_file(path)]
    subjects = name_labels(run.participant_id for run in runs)
    visits = name_labels(run.session for run in runs)
    runs = [
        replace(run, subject=subjects[run.participant_id], visit=visits[run.session])
        for run in runs
    ]
    return sorted(runs, key=lambda run: (run.subject, run.visit, run.run))


def name_labels(texts: Iterable[str]) -> dict[str, str]:
    """Return letters and digits that name each text, no two alike even where case is ignored.

    Separators are left out; where that isn't all there is to leave out, or two would be alike, a hash
    tells them apart.

    >>> name_labels(["07", "sim-001", "Zoë M."])
    {'07': '07', 'sim-001': 'sim001', 'Zoë M.': 'ZoeMx2dac1eb8'}
    """
    distinct = list(dict.fromkeys(texts))
    plain = {text: re.sub(r"[-_. ]", "", text) for text in distinct}
    n_alike = Counter(label.lower() for label in plain.values())
    return {
        text: label
        if re.fullmatch(r"[A-Za-z0-9]{1,32}", label) and n_alike[label.lower()] == 1
        else _name_with_hash(text)
        for text, label in plain.items()
    }


def _name_with_hash(text: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9]", "", safe_file_name(text).rsplit("-", 1)[0])[:24]
    return f"{plain}x{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def describe_columns() -> dict[str, dict[str, Any]]:
    """Return description, unit and levels of every column of the responses table."""
    described: dict[str, dict[str, Any]] = {}
    for name, column in Responses.to_schema().columns.items():
        entry: dict[str, Any] = {"Description": column.description}
        unit = next((unit for ending, unit in UNITS.items() if name.endswith(ending)), None)
        if unit:
            entry["Units"] = unit
        if name in LEVELS:
            entry["Levels"] = LEVELS[name]
        described[name] = entry
    return described


def write_readme_text(about: About, *, is_simulated: bool, n_people: int) -> str:
    """Return the README of an exported data set."""
    who = f"{n_people} SIMULATED people (drift diffusion)" if is_simulated else f"{n_people} people"
    return (
        f"# {about.name}\n\n{who} in the dot-pair grouping task.\n\n{TASK_DESCRIPTION}\n\n"
        "Exported by objecthood. Reaction times are in seconds, from the flip that shows photograph "
        "and dots to the device's time of the key. Practice presentations are marked. The displays "
        "are described in the table of trials; the photographs themselves are not part of this "
        f"data set.\n\nLicence: {about.licence}\n"
    )


def is_all_simulated(runs: Iterable[ExportedRun]) -> bool:
    """Return whether every person is simulated.

    Raises
    ------
    InputError
        Some are and some aren't.
    """
    kinds = {bool(value) for run in runs for value in run.rows["is_simulated"]}
    if len(kinds) > 1:
        raise InputError(
            "simulated and real people lie in one benchmark; move the simulated ones out first"
        )
    return kinds == {True}


def _split_file(path: Path) -> list[ExportedRun]:
    table = read_table(path, Responses)
    sidecar = path.with_suffix(".json")
    record = read_json(sidecar) if sidecar.is_file() else {}
    if "run" not in table:
        table = table.assign(run=1)
    keys = table[["participant_id", "session", "run"]].drop_duplicates()
    return [
        ExportedRun(
            participant_id=str(key["participant_id"]),
            session=str(key["session"]),
            run=int(key["run"]),
            subject="",
            visit="",
            rows=table[(table[keys.columns] == key).all(axis=1)].reset_index(drop=True),
            sidecar=record,
        )
        for _, key in keys.iterrows()
    ]
