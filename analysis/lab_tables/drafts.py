"""A grid under a mapping: each presentation with the texts of our columns."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from analysis.lab_tables.findings import FindingLog
from analysis.lab_tables.grid import Grid
from analysis.lab_tables.mapping import COLUMNS, NEEDED, Mapping
from analysis.lab_tables.tokens import Row
from stimuli.table_io import name_some

# Columns whose texts are names.
IDS = ("participant_id", "session", "trial_id")
_PART = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One presentation, as text.

    Attributes
    ----------
    line
        Physical line.
    texts
        Our columns' texts; "" is nothing.
    extra
        All cells as they stand (our own tables only, whose other columns are kept).
    forced_outcome
        What the RT says of the outcome: a time-out, an answer before onset.
    """

    line: int
    texts: dict[str, str]
    extra: dict[str, str] = field(default_factory=dict)
    forced_outcome: str = ""

    def but(self, *, forced_outcome: str | None = None, **texts: str) -> "Draft":
        """Return the draft with other texts."""
        outcome = self.forced_outcome if forced_outcome is None else forced_outcome
        return replace(self, texts={**self.texts, **texts}, forced_outcome=outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftTable:
    """The presentations of one file.

    Attributes
    ----------
    mapping
        How it is read.
    names
        Our columns to theirs, for messages and the record; only those that the table has.
    drafts
        In the file's order.
    unused
        Their columns that are not read.
    """

    mapping: Mapping
    names: dict[str, str]
    drafts: tuple[Draft, ...]
    unused: tuple[str, ...] = ()

    def with_drafts(self, drafts: Iterable[Draft]) -> "DraftTable":
        """Return the table with other drafts."""
        return replace(self, drafts=tuple(drafts))

    @property
    def tells_answers(self) -> bool:
        """Whether a column says what the person pressed or said, or how it ended."""
        return bool({"key", "response", "outcome"} & set(self.names))


def draft_presentations(
    grid: Grid, mapping: Mapping, log: FindingLog, *, file_name: str
) -> DraftTable | None:
    """Return the presentations of a grid; None where a needed column can't be found."""
    sources = _find_sources(grid, mapping, log)
    constants = {**mapping.constants, **_read_file_name(mapping, file_name, log)}
    absent = [n for n in (*NEEDED, "session", "is_practice") if n not in {*sources, *constants}]
    for name in absent:
        options = [f"[columns] {name} = ...", f'or [constants] {name} = "..."']
        log.add(
            "missing-column",
            f"no column for {name} ({COLUMNS[name]}) among {name_some(grid.header, limit=12)}; say in "
            f"a mapping file where it is: {' '.join(options)}",
            line=1,
            column=name,
        )
    if absent or not log.is_readable:
        return None
    columns = {name: index for index, name in enumerate(grid.header)}
    read = {name for parts in sources.values() for part in parts for name in _columns_of(part)}
    is_own = mapping.format == "objecthood"
    unused = tuple(name for name in grid.header if name not in read)
    drafts = []
    for row in grid.rows:
        texts = {name: constants.get(name, "") for name in COLUMNS}
        texts |= {
            name: _read(parts, row, columns=columns, mapping=mapping, is_id=name in IDS)
            for name, parts in sources.items()
        }
        extra = dict(zip(grid.header, row.cells, strict=True)) if is_own else {}
        drafts.append(Draft(line=row.line, texts=texts, extra=extra))
    table = DraftTable(
        mapping=mapping,
        names={name: " or ".join(parts) for name, parts in sources.items()},
        drafts=tuple(drafts),
        unused=() if is_own else tuple(name for name in unused if name),
    )
    return _keep_presentations(table, grid, log)


def _columns_of(part: str) -> list[str]:
    return _PART.findall(part) or [part]


def _find_sources(grid: Grid, mapping: Mapping, log: FindingLog) -> dict[str, tuple[str, ...]]:
    """Return which columns (or joined columns) of the grid hold each of ours."""
    sources: dict[str, tuple[str, ...]] = {}
    stems = _find_components(grid, mapping, log) if mapping.format == "psychopy" else ()
    for name, alternatives in mapping.columns.items():
        if alternatives[0].startswith("*"):
            found = [stem + alternatives[0][1:] for stem in stems]
            found = [column for column in found if column in grid.header]
        else:
            found = [a for a in alternatives if set(_columns_of(a)) <= set(grid.header)][:1]
        for column in (c for part in found for c in _columns_of(part)):
            if grid.header.count(column) > 1:
                log.add(
                    "column-twice",
                    f"{grid.header.count(column)} columns have this name; rename one",
                    line=1,
                    column=column,
                    value=column,
                )
        if found:
            sources[name] = tuple(found)
        elif mapping.format == "mapping":
            log.add(
                "missing-column",
                f"the mapping file names {name_some(alternatives)} for {name}; the table has "
                f"{name_some(grid.header, limit=12)}",
                line=1,
                column=alternatives[0],
            )
    return sources


def _find_components(grid: Grid, mapping: Mapping, log: FindingLog) -> tuple[str, ...]:
    """Return the names of the keyboard components that presentations fill.

    Practice and test often have one each, which never speak in one row.
    """
    id_column = next((c for c in mapping.columns["trial_id"] if c in grid.header), None)
    index = {name: k for k, name in enumerate(grid.header)}
    all_stems = [name[: -len(".rt")] for name in grid.header if name.endswith(".rt")]
    if id_column is None:
        return tuple(all_stems[:1])
    rows = [row for row in grid.rows if row.cells[index[id_column]].strip()]
    stems = [
        stem
        for stem in all_stems
        if any(row.cells[index[f"{stem}.rt"]].strip() not in mapping.missing for row in rows)
    ]
    for row in rows:
        speaking = [s for s in stems if row.cells[index[f"{s}.rt"]].strip() not in mapping.missing]
        if len(speaking) > 1:
            log.add(
                "column-ambiguous",
                f"{name_some([f'{s}.rt' for s in speaking])} both hold a reaction time of this "
                "presentation; say in a mapping file which one is the answer",
                line=row.line,
                column=f"{speaking[0]}.rt",
                value=row.cells[index[f"{speaking[0]}.rt"]],
            )
            break
    return tuple(stems or all_stems[:1])


def _read(
    parts: tuple[str, ...],
    row: Row,
    *,
    columns: dict[str, int],
    mapping: Mapping,
    is_id: bool,
) -> str:
    """Return the first text that isn't nothing; a joined text is nothing where a part is.

    The format's words for nothing are none in ids: somebody may be called None.
    """
    for part in parts:
        names = _PART.findall(part)
        if not names:
            text = row.cells[columns[part]]
            if text.strip() and (is_id or text.strip() not in mapping.missing):
                return text
            continue
        cells = {name: row.cells[columns[name]].strip() for name in names}
        if any(cell in mapping.missing for cell in cells.values()):
            continue
        return _PART.sub(lambda m, c=cells: mapping.parts.get(c[m[1]], c[m[1]]), part)
    return ""


def _read_file_name(mapping: Mapping, file_name: str, log: FindingLog) -> dict[str, str]:
    found = {}
    stem = PurePath(file_name).name
    for name, pattern in mapping.file_name.items():
        match = re.search(pattern, stem)
        if match is None:
            log.add(
                "missing-column",
                f"the mapping file finds {name} in the file's name by {pattern!r}, which this name "
                "doesn't hold; rename the file, or change the pattern",
                column=name,
                value=stem,
            )
        else:
            found[name] = match[1]
    return found


def _keep_presentations(table: DraftTable, grid: Grid, log: FindingLog) -> DraftTable:
    """Keep the rows that are presentations; each other one is noted."""
    mapping = table.mapping
    chosen: list[bool] | None = None
    if mapping.rows is not None:
        column, values = mapping.rows
        if column not in grid.header:
            log.add("missing-column", "[rows] names a column that isn't there", column=column)
            return table.with_drafts(())
        chosen = [cell.strip() in values for cell in grid.column(column)]
    kept = []
    for k, draft in enumerate(table.drafts):
        has_id = bool(draft.texts["trial_id"].strip())
        is_marked = bool(draft.texts[mapping.mark].strip())
        if (has_id or is_marked) if chosen is None else chosen[k]:
            kept.append(draft)
        else:
            log.add("row-without-trial", "not read: it is no presentation", line=draft.line)
    return table.with_drafts(kept)
