"""Presentations to response tables: one CSV per person, what was changed, and where it came from."""

import csv
import datetime as dt
import io
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from analysis.lab_tables.findings import Consent
from analysis.lab_tables.presentations import Presentation
from analysis.lab_tables.reading import Declared, LabTable
from analysis.lab_tables.summary import count_findings
from experiment.tables import Responses
from stimuli.benchmark import hash_file
from stimuli.errors import InputError
from stimuli.provenance import find_commit, find_versions
from stimuli.table_io import (
    building_folder,
    read_columns,
    read_table,
    safe_file_name,
    write_json,
    write_text,
)

IMPORTS = "imports"
CHANGES_FILE = "changes.csv"
RECORD_FILE = "provenance.json"
CHANGE_COLUMNS = ("file", "line", "column", "before", "after", "rule")
_PLAIN = re.compile(r"[A-Za-z0-9]{1,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import wrote.

    Attributes
    ----------
    files
        The response tables, one per person.
    record
        The folder with changes.csv and provenance.json.
    n_people, n_presentations, n_changes
        Counts.
    """

    files: tuple[Path, ...]
    record: Path
    n_people: int
    n_presentations: int
    n_changes: int


def find_people(folder: Path) -> set[str]:
    """Return the participants that a folder's response tables hold."""
    people: set[str] = set()
    for path in sorted(folder.glob("*.csv")):
        table = read_columns(path, text_columns={"participant_id"})
        people |= set(table["participant_id"].dropna()) if "participant_id" in table else set()
    return people


def write_import(
    tables: list[LabTable], *, out: Path, declared: Declared, consent: Consent
) -> Imported:
    """Write the response tables of all people, and the record of the import.

    Parameters
    ----------
    tables
        As `check_folder` returns them; nothing may stand open in them.
    out
        A benchmark's responses folder, or another.
    declared, consent
        As the tables were read, for the record.

    Raises
    ------
    InputError
        A finding stands open, nothing is left to write, or a file of that name is there.
    """
    check_nothing_open(tables)
    people = _group_by_person(tables)
    paths = {person: out / f"sub-{_name(person)}.csv" for person in people}
    existing = [str(path) for path in paths.values() if path.exists()]
    if existing:
        raise InputError(f"{existing[0]} exists already; it is not overwritten. Move it away first")
    record = _next_record(out)
    changes = list(_list_changes(tables))
    with building_folder(record) as folder:
        for person, items in people.items():
            path = folder / paths[person].name
            write_text(_format(items), path)
            read_table(path, Responses)
        write_text(_format_csv(CHANGE_COLUMNS, changes), folder / CHANGES_FILE)
        hashes = {path.name: hash_file(folder / path.name) for path in paths.values()}
        content = _describe(tables, declared=declared, consent=consent, n_changes=len(changes))
        write_json({**content, "written_sha256": hashes}, folder / RECORD_FILE)
    for path in paths.values():
        (record / path.name).rename(path)
    return Imported(
        files=tuple(paths.values()),
        record=record,
        n_people=len(people),
        n_presentations=sum(map(len, people.values())),
        n_changes=len(changes),
    )


def check_nothing_open(tables: Iterable[LabTable]) -> None:
    """Raise unless every finding is repaired, accepted or a note.

    Raises
    ------
    InputError
        Names the rules and their counts.
    """
    open_rules = [f.rule for table in tables for f in table.findings if f.stops]
    if open_rules:
        counts = [f"{rule} {open_rules.count(rule)}" for rule in dict.fromkeys(open_rules)]
        raise InputError(
            f"nothing was written: {', '.join(counts)}. Correct the files, declare what they mean "
            "(--mapping, --unit, …), or let a flag repair (--repair RULE, --repair all-safe)"
        )


def _group_by_person(tables: list[LabTable]) -> dict[str, list[Presentation]]:
    people: dict[str, list[Presentation]] = {}
    for table in tables:
        for p in table.presentations:
            people.setdefault(p.participant_id, []).append(p)
    if not people:
        raise InputError("nothing was written: no presentation is left in these files")
    return people


def _name(person: str) -> str:
    return person if _PLAIN.fullmatch(person) else safe_file_name(person)


def _next_record(out: Path) -> Path:
    number = 1
    while (folder := out / IMPORTS / f"import-{number:02d}").exists():
        number += 1
    return folder


def _format(items: list[Presentation]) -> str:
    """Return a person's rows as CSV."""
    rows = [tabulate_presentation(p) for p in items]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    partly = [n for n in _OPTIONAL if n in columns and not all(row.get(n) for row in rows)]
    columns = [name for name in columns if name not in partly]
    if "position" in columns and _begins_at_0(rows):
        # Other programs count trials from 0, our tables from 1.
        rows = [{**row, "position": str(int(row["position"]) + 1)} for row in rows]
    return _format_csv(columns, ([row.get(name, "") for name in columns] for row in rows))


# Whole columns that our tables can lack but not leave partly empty.
_OPTIONAL = ("position", "block", "same_key")


def tabulate_presentation(p: Presentation) -> dict[str, str]:
    """Return a presentation's cells by column of `Responses`.

    Rows of our own tables keep every cell that nothing repaired.
    """
    said = {
        "participant_id": p.participant_id,
        "session": p.session,
        "trial_id": p.trial_id,
        "outcome": p.outcome,
        "response": p.response,
        "rt_s": p.rt_s,
    }
    if p.extra:
        return {**p.extra, **said, "is_simulated": p.extra.get("is_simulated", "False")}
    return {
        **said,
        "is_practice": str(p.is_practice),
        "is_simulated": "False",
        "key": p.key,
        "same_key": p.same_key,
        "position": "" if p.position is None else str(p.position),
        "block": p.block if p.block.isdigit() else "",
    }


def _begins_at_0(rows: list[dict[str, str]]) -> bool:
    return min(int(row["position"]) for row in rows) == 0


def _format_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _list_changes(tables: list[LabTable]) -> Iterable[tuple[object, ...]]:
    for table in tables:
        for finding in table.findings:
            if finding.status != "repaired":
                continue
            for change in finding.changes:
                yield (
                    table.file,
                    "" if change.line is None else change.line,
                    change.column or "",
                    change.before,
                    change.after,
                    finding.rule,
                )


def read_changes(record: Path) -> pd.DataFrame:
    """Return the table of changes of an import's record folder."""
    return read_columns(record / CHANGES_FILE, text_columns={"before", "after", "column"})


def _describe(
    tables: list[LabTable], *, declared: Declared, consent: Consent, n_changes: int
) -> dict[str, object]:
    return {
        "made_at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "commit": find_commit(),
        "versions": find_versions(("objecthood", "pandas")),
        "declared": _plain(asdict(declared)),
        "repair": sorted(consent.repair),
        "accept": sorted(consent.accept),
        "n_changes": n_changes,
        "files": [_describe_file(table) for table in tables],
    }


def _describe_file(table: LabTable) -> dict[str, object]:
    return {
        "file": table.file,
        "sha256": table.sha256,
        "encoding": table.encoding,
        "delimiter": table.delimiter,
        "format": table.format,
        "why": table.why,
        "unit": table.unit,
        "columns": table.columns,
        "columns_not_read": list(table.unused),
        "n_presentations": len(table.presentations),
        "n_answers_derived": sum(p.is_derived for p in table.presentations),
        "findings": count_findings(table),
    }


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, frozenset, set)):
        return [_plain(item) for item in value]
    return value
