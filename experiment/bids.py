r"""Responses as a BIDS data set (behaviour only), and back.

One ``*_beh.tsv`` per run with its JSON, ``participants.tsv``, the trial table below ``stimuli/``.
Missing is ``n/a`` there. A TSV has no way to hold tabs and line breaks, so in text they are written
``\t``, ``\n``, ``\r`` and a backslash ``\\``, which the column's description says; reading undoes it.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiment.export import (
    TASK,
    TASK_DESCRIPTION,
    About,
    ExportedRun,
    collect_runs,
    describe_columns,
    is_all_simulated,
    write_readme_text,
)
from experiment.launch import mark_simulated
from experiment.tables import Responses
from stimuli.benchmark import Benchmark, check_ids_match
from stimuli.errors import InputError, TableError
from stimuli.table_io import (
    building_folder,
    check_table,
    replacing,
    write_json,
    write_table,
    write_text,
)

BIDS_VERSION = "1.10.0"
MISSING = "n/a"
# BIDS has a name of its own for reaction times.
_RENAMED = {"rt_s": "response_time"}
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_UNESCAPED = {escaped: plain for plain, escaped in _ESCAPES.items()}
_TRUTH = {"true": True, "false": False}
_ESCAPE_NOTE = r"Tabs, line breaks and backslashes are written \t, \n, \r and \\."
# What the JSON of a run keeps of our sidecar; the computer's name and the command line stay home.
_KEPT = (
    "number",
    "list_number",
    "key_map",
    "benchmark_version",
    "trials_sha256",
    "config",
    "blocks",
)
_PRIVATE = ("host", "command")


def export_bids(benchmark: Benchmark, folder: Path, *, about: About) -> int:
    """Write a benchmark's responses as a BIDS data set, and return how many runs it holds.

    Raises
    ------
    InputError
        No people, ids that can't be told apart, or `folder` isn't empty.
    """
    runs = collect_runs(benchmark)
    is_simulated = is_all_simulated(runs)
    people = {run.participant_id: run for run in runs}
    with building_folder(folder) as place:
        write_json(_describe_dataset(about), place / "dataset_description.json")
        text = write_readme_text(about, is_simulated=is_simulated, n_people=len(people))
        write_text(text, place / "README.md")
        _write_participants(people.values(), place)
        write_json(_describe_task(), place / f"task-{TASK}_beh.json")
        trials = {str(name): list(benchmark.trials[name]) for name in benchmark.trials}
        _write_tsv(trials, place / "stimuli" / "trials.tsv")
        for run in runs:
            _write_run(run, place)
    return len(runs)


def read_bids(folder: Path) -> pd.DataFrame:
    """Return the responses of a data set that `export_bids` wrote.

    Raises
    ------
    InputError
        No such data set.
    TableError
        A table is damaged.
    """
    people = _read_tsv(folder / "participants.tsv")
    if "source_id" not in people:
        raise InputError(
            f"{folder}: participants.tsv has no source_id; not an export of objecthood"
        )
    source = dict(zip(people["participant_id"], people["source_id"], strict=True))
    files = sorted(folder.glob(f"sub-*/ses-*/beh/*_task-{TASK}_*beh.tsv"))
    if not files:
        raise InputError(f"{folder}: no *_task-{TASK}_*_beh.tsv below sub-*/ses-*/beh")
    tables = []
    for path in files:
        columns = _read_tsv(path)
        subject = path.name.split("_", 1)[0]
        if subject not in source:
            raise TableError(f"{folder / 'participants.tsv'}: {subject} of {path.name} is missing")
        renamed = {new: old for old, new in _RENAMED.items()}
        table = pd.DataFrame({renamed.get(name, name): cells for name, cells in columns.items()})
        table["participant_id"] = source[subject]
        tables.append(check_table(_to_types(table), Responses, source=str(path), is_csv=True))
    return pd.concat(tables, ignore_index=True)


def import_bids(benchmark: Benchmark, folder: Path) -> tuple[Path, int]:
    """Write a data set's responses into a benchmark that has none; return the file and its rows.

    Raises
    ------
    InputError
        The benchmark has people already, or other trials.
    """
    others = sorted(benchmark.responses_folder.glob("*.csv"))
    if others:
        raise InputError(
            f"{benchmark.responses_folder} holds responses ({others[0].name}); import into a copy of "
            "the benchmark without them"
        )
    table = read_bids(folder)
    tested = table.loc[~table["is_practice"], "trial_id"]
    check_ids_match(tested, benchmark.trials["trial_id"], source=str(folder))
    mark_simulated(benchmark, is_simulated=bool(table["is_simulated"].all()))
    path = benchmark.responses_folder / "imported.csv"
    write_table(table, path)
    return path, len(table)


def _describe_dataset(about: About) -> dict[str, Any]:
    try:
        ours = version("objecthood")
    except PackageNotFoundError:
        ours = "source"
    described: dict[str, Any] = {
        "Name": about.name,
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "raw",
        "License": about.licence,
        "GeneratedBy": [{"Name": "objecthood", "Version": ours}],
    }
    return described | ({"Authors": list(about.authors)} if about.authors else {})


def _describe_task() -> dict[str, Any]:
    columns = {_RENAMED.get(name, name): entry for name, entry in describe_columns().items()}
    del columns["participant_id"]
    columns["despite"]["Description"] += f". {_ESCAPE_NOTE}"
    return {"TaskName": TASK, "TaskDescription": TASK_DESCRIPTION, **columns}


def _write_participants(people: Iterable[ExportedRun], place: Path) -> None:
    ordered = sorted(people, key=lambda run: run.subject)
    columns: dict[str, list[object]] = {
        "participant_id": [f"sub-{run.subject}" for run in ordered],
        "source_id": [run.participant_id for run in ordered],
        "is_simulated": [bool(run.rows["is_simulated"].all()) for run in ordered],
    }
    _write_tsv(columns, place / "participants.tsv")
    described = {
        "source_id": {"Description": f"the participant's id in the laboratory. {_ESCAPE_NOTE}"},
        "is_simulated": {"Description": "made by a simulated observer"},
    }
    write_json(described, place / "participants.json")


def _write_run(run: ExportedRun, place: Path) -> None:
    folder = place / f"sub-{run.subject}" / f"ses-{run.visit}" / "beh"
    stem = f"sub-{run.subject}_ses-{run.visit}_task-{TASK}_run-{run.run:02d}_beh"
    rows = run.rows.drop(columns="participant_id").rename(columns=_RENAMED)
    _write_tsv({str(name): list(rows[name]) for name in rows}, folder / f"{stem}.tsv")
    if run.sidecar:
        write_json({"TaskName": TASK, "Session": _keep(run.sidecar)}, folder / f"{stem}.json")


def _keep(sidecar: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: sidecar[key] for key in _KEPT if key in sidecar}
    segments = []
    for segment in sidecar.get("segments", []):
        apparatus = {k: v for k, v in segment["apparatus"].items() if k not in _PRIVATE}
        segments.append({**segment, "apparatus": apparatus})
    return {**kept, "segments": segments}


def _write_tsv(columns: Mapping[str, list[object]], path: Path) -> None:
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE,
                            quotechar=None)  # fmt: skip
        writer.writerow(columns)
        for cells in zip(*columns.values(), strict=True):
            writer.writerow([_to_cell(cell) for cell in cells])


def _to_cell(value: object) -> str:
    if value is None or value is pd.NA or value != value:  # noqa: PLR0124 (NaN is not itself)
        return MISSING
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    return re.sub(r"[\\\t\n\r]", lambda found: _ESCAPES[found[0]], str(value))


def _read_tsv(path: Path) -> dict[str, list[str | None]]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a data set of 'session export --bids'")
    lines = path.read_text(encoding="utf-8").split("\n")
    header, rows = lines[0].split("\t"), [line.split("\t") for line in lines[1:] if line]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise TableError(f"{path}, line {number}: {len(row)} cells, expected {len(header)}")
    return {name: [_from_cell(row[k]) for row in rows] for k, name in enumerate(header)}


def _from_cell(cell: str) -> str | None:
    if cell == MISSING:
        return None
    return re.sub(r"\\[\\tnr]", lambda found: _UNESCAPED[found[0]], cell)


def _to_types(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with truth values where the schema has them; the schema coerces the rest."""
    for name, column in Responses.to_schema().columns.items():
        if name in table and str(column.dtype).lower().startswith("bool"):
            table[name] = table[name].map(lambda cell: _TRUTH.get(cell, cell))
    return table
