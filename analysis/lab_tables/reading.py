"""One lab's table from bytes to presentations, in one pass that finds everything.

The order is that of the damage: bytes, lines, columns, cells, reaction times, answers, order. A stage
goes on as if each proposed repair were made; whether it may be made is decided when it is written.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePath

import pandas as pd

from analysis.lab_tables.answers import check_answers
from analysis.lab_tables.cells import clean_cells
from analysis.lab_tables.decoding import Decoded, decode
from analysis.lab_tables.drafts import draft_presentations
from analysis.lab_tables.findings import Consent, Finding, FindingLog
from analysis.lab_tables.formats import Detection, detect_format
from analysis.lab_tables.grid import Grid, build_grid
from analysis.lab_tables.json_rows import looks_like_json, read_json_rows
from analysis.lab_tables.mapping import Mapping, adjust
from analysis.lab_tables.order import check_ids, check_order
from analysis.lab_tables.presentations import Presentation, interpret
from analysis.lab_tables.times import read_times
from analysis.lab_tables.tokens import DELIMITERS, find_delimiter, tokenise
from stimuli.errors import InputError

_DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SUFFIXES = frozenset({".csv", ".tsv", ".txt", ".json", ".jsonl", ".xls", ".xlsx", ".dat"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What the user says of the files, instead of leaving it to be found out.

    Attributes
    ----------
    mapping
        How to read them; None detects a known format.
    encoding, delimiter, decimal, unit, timeout_s
        None is found out, or as the format has it.
    """

    mapping: Mapping | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    unit: str | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabTable:
    """What was read of one file.

    Attributes
    ----------
    file
        As given.
    sha256
        Of its bytes.
    encoding, delimiter, format, why, unit, columns, unused
        How it was read; "" and {} where reading didn't get so far.
    presentations
        As far as they could be read, repairs taken for granted.
    findings
        In the order in which they were found.
    """

    file: str
    sha256: str
    encoding: str = ""
    delimiter: str = ""
    format: str = ""
    why: str = ""
    unit: str = ""
    columns: dict[str, str]
    unused: tuple[str, ...] = ()
    presentations: tuple[Presentation, ...] = ()
    findings: tuple[Finding, ...]


def find_files(paths: list[Path]) -> list[Path]:
    """Return the files that are named, and those of the folders that are named, in name order.

    Raises
    ------
    InputError
        No such file, or a folder without any.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                p for p in path.iterdir() if p.suffix.lower() in SUFFIXES and p.is_file()
            )
            if not inside:
                raise InputError(f"{path}: no {', '.join(sorted(SUFFIXES))} file in this folder")
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise InputError(f"{path}: no such file")
    return list(dict.fromkeys(files))


def read_lab_table(
    path: Path,
    *,
    declared: Declared | None = None,
    consent: Consent | None = None,
    trials: pd.DataFrame | None = None,
) -> LabTable:
    """Return what a file holds and everything that is wrong with it.

    Parameters
    ----------
    path
        The file.
    declared
        What is known of it.
    consent
        Which repairs are allowed and which findings accepted.
    trials
        The benchmark's trial table, for ids and truth; None doesn't check them.

    Raises
    ------
    InputError
        The file can't be opened.
    """
    return parse_lab_table(
        _read_bytes(path),
        file=str(path),
        declared=declared or Declared(),
        consent=consent or Consent(),
        truths=None
        if trials is None
        else dict(zip(trials["trial_id"], trials["same_object"].astype(bool), strict=True)),
    )


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from None


def read_grid(path: Path, *, declared: Declared) -> Grid:
    """Return the columns and cells of a file, for a template.

    Raises
    ------
    InputError
        It isn't a table; says why.
    """
    log = FindingLog(file=str(path))
    reading = _Reading(file=str(path), sha256="", log=log)
    decoded = decode(_read_bytes(path), log, encoding=declared.encoding)
    grid = None if decoded is None else _read_grid(decoded, reading, declared=declared)
    if grid is None:
        worst = next(f for f in log.findings if f.severity == "error")
        raise InputError(f"{path}: {worst.rule}: {worst.message}")
    return grid


def parse_lab_table(
    data: bytes,
    *,
    file: str,
    declared: Declared,
    consent: Consent,
    truths: dict[str, bool] | None,
) -> LabTable:
    """Return what bytes hold; see `read_lab_table`. Pure."""
    log = FindingLog(file=file, consent=consent)
    reading = _Reading(file=file, sha256=hashlib.sha256(data).hexdigest(), log=log)
    decoded = decode(data, log, encoding=declared.encoding)
    if decoded is None:
        return reading.finish()
    reading.encoding = decoded.encoding
    grid = _read_grid(decoded, reading, declared=declared)
    if grid is None:
        return reading.finish()
    detection = _find_mapping(grid, reading, declared=declared)
    if detection is None:
        return reading.finish()
    table = draft_presentations(grid, detection.mapping, log, file_name=PurePath(file).name)
    if table is None:
        return reading.finish()
    reading.columns, reading.unused = table.names, table.unused
    table = read_times(clean_cells(table, log), log)
    shown = interpret(table, log, truths=truths)
    shown = check_ids(shown, log, trial_ids=truths)
    shown = check_order(check_answers(shown, log), log)
    reading.presentations = tuple(shown)
    return reading.finish()


@dataclass(slots=True, kw_only=True)
class _Reading:
    """A `LabTable` in the making."""

    file: str
    sha256: str
    log: FindingLog
    encoding: str = ""
    delimiter: str = ""
    format: str = ""
    why: str = ""
    unit: str = ""
    columns: dict[str, str] | None = None
    unused: tuple[str, ...] = ()
    presentations: tuple[Presentation, ...] = ()

    def finish(self) -> LabTable:
        return LabTable(
            file=self.file,
            sha256=self.sha256,
            encoding=self.encoding,
            delimiter=self.delimiter,
            format=self.format,
            why=self.why,
            unit=self.unit,
            columns=self.columns or {},
            unused=self.unused,
            presentations=self.presentations,
            findings=tuple(self.log.findings),
        )


def _read_grid(decoded: Decoded, reading: _Reading, *, declared: Declared) -> Grid | None:
    """Return the cells of a text, JSON or delimited, whatever the file's name says."""
    log, suffix = reading.log, PurePath(reading.file).suffix.lower()
    is_json = looks_like_json(decoded.text)
    if is_json != (suffix in {".json", ".jsonl"}):
        what = "JSON" if is_json else "delimited text"
        if is_json or suffix.startswith(".json"):
            log.add("wrong-extension", f"read as the {what} that it is", value=suffix)
    elif suffix in {".xls", ".xlsx"}:
        log.add("wrong-extension", "read as the delimited text that it is", value=suffix)
    if is_json:
        reading.delimiter = "JSON"
        return read_json_rows(decoded.text, log)
    delimiter = declared.delimiter or _find_declared(decoded.text) or find_delimiter(decoded.text)
    if delimiter is None:
        first = decoded.text.split("\n", maxsplit=1)[0].strip()
        names = ", ".join(_DELIMITER_NAMES.values())
        log.add(
            "delimiter-unknown", f"tried {names}; name it with --delimiter", line=1, value=first
        )
        return None
    reading.delimiter = _DELIMITER_NAMES.get(delimiter, delimiter)
    return build_grid(tokenise(decoded.text, delimiter, log), log, delimiter=delimiter)


def _find_declared(text: str) -> str | None:
    """Return the delimiter of Excel's line ``sep=;``."""
    first = text[:6].rstrip("\r\n")
    return first[4] if first.startswith("sep=") and first[4:5] in DELIMITERS else None


def _find_mapping(grid: Grid, reading: _Reading, *, declared: Declared) -> Detection | None:
    if declared.mapping is not None:
        detection = Detection(mapping=declared.mapping, why="the mapping file")
    else:
        found = detect_format(grid.header, reading.log)
        if found is None:
            return None
        detection = found
    mapping = adjust(
        detection.mapping,
        unit=declared.unit,
        decimal=declared.decimal,
        timeout_s=declared.timeout_s,
    )
    reading.format, reading.why, reading.unit = mapping.format, detection.why, mapping.unit
    return Detection(mapping=mapping, why=detection.why)
