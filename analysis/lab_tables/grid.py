"""Rows to a grid: one header, and rows of as many cells as it has names."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from analysis.lab_tables.findings import LEFT_OUT, FindingLog
from analysis.lab_tables.tokens import Row

_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table as text.

    Attributes
    ----------
    header
        Column names, spaces around them taken away.
    rows
        Each with one cell per column.
    """

    header: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, name: str) -> list[str]:
        """Return a column's cells."""
        index = self.header.index(name)
        return [row.cells[index] for row in self.rows]


def build_grid(rows: list[Row], log: FindingLog, *, delimiter: str) -> Grid | None:
    """Return the grid of a file's rows; None where there is none to be had.

    What is left out (repeated headers, lines above the header, torn lines, rows that stand there
    twice) is a finding each.
    """
    rows = [row for row in rows if not _is_separator_line(row, log) and not _is_blank(row, log)]
    rows = _leave_out_preamble(rows, log)
    if not rows:
        log.add("empty-file", "expected a header line and rows; export it again")
        return None
    header = _name_columns(rows[0], log)
    if _looks_like_data(header):
        log.add(
            "no-header",
            "expected column names on the first line; add them",
            line=rows[0].line,
            value=delimiter.join(rows[0].cells),
        )
        return None
    n_columns = len(header)
    body = _leave_out_headers(rows[1:], rows[0], log)
    if not body:
        log.add("only-header", "expected rows below the header; was the session saved?", line=1)
        return None
    body = _fit_widths(body, n_columns, log, delimiter=delimiter)
    return Grid(header=header, rows=tuple(leave_out_doubles(body, log, delimiter=delimiter)))


def _is_blank(row: Row, log: FindingLog) -> bool:
    if row.is_empty and len(row.cells) > 1:
        log.add("empty-row", "nothing stands on this line", line=row.line)
    return row.is_empty


def _is_separator_line(row: Row, log: FindingLog) -> bool:
    is_one = row.line == 1 and row.cells[:1] and re.fullmatch(r"sep=.?", row.cells[0].strip())
    if is_one:
        log.add("separator-line", "Excel's own; read over", line=1, value=row.cells[0])
    return bool(is_one)


def _leave_out_preamble(rows: list[Row], log: FindingLog) -> list[Row]:
    """Leave out lines above the header: comments, and lines much narrower than all that follow."""
    common = Counter(len(row.cells) for row in rows[:60]).most_common(1)
    width = common[0][0] if common else 0
    first = 0
    for row in rows[:20]:
        if width < 3 or not (row.cells[0].startswith("#") or len(row.cells) * 2 < width):
            break
        log.add(
            "preamble",
            "expected the header on the first line",
            line=row.line,
            value=" ".join(row.cells),
            after=LEFT_OUT,
        )
        first += 1
    return rows[first:]


def _name_columns(row: Row, log: FindingLog) -> tuple[str, ...]:
    names = list(row.cells)
    while len(names) > 1 and not names[-1].strip():
        names.pop()
    for name in names:
        if name != name.strip():
            log.add(
                "column-name-padded",
                "expected no spaces around a column's name",
                line=row.line,
                column=name,
                value=name,
                after=name.strip(),
            )
    return tuple(name.strip() for name in names)


def _looks_like_data(header: tuple[str, ...]) -> bool:
    """Whether a header holds numbers, as no header of a lab's table does."""
    return sum(bool(_NUMBER.fullmatch(name)) for name in header) >= max(1, len(header) / 4)


def _leave_out_headers(rows: list[Row], header: Row, log: FindingLog) -> list[Row]:
    names = [name.strip() for name in header.cells]
    kept = []
    for row in rows:
        if [cell.strip() for cell in row.cells] == names:
            log.add(
                "header-repeated",
                "rows were appended to an older file; look whether rows stand there twice as well",
                line=row.line,
                value=" ".join(row.cells),
                after=LEFT_OUT,
            )
        else:
            kept.append(row)
    return kept


def _fit_widths(rows: list[Row], n: int, log: FindingLog, *, delimiter: str) -> list[Row]:
    if delimiter == "," and _are_decimals_split(rows, n):
        log.add(
            "decimal-comma-splits-cells",
            f"most rows have {len(rows[0].cells)} cells and the header {n}: numbers such as 0,813 are "
            "not quoted. Export with ';' or tabs between cells, or with decimal points",
            line=rows[0].line,
            value=delimiter.join(rows[0].cells),
        )
        return []
    fitted = []
    for row in rows:
        cells = _fit(row, n, log, is_last=row is rows[-1], delimiter=delimiter)
        if cells is not None:
            fitted.append(Row(line=row.line, cells=cells))
    return fitted


def _are_decimals_split(rows: list[Row], n: int) -> bool:
    """Whether most rows have more cells than the header, and whole numbers stand side by side."""
    wide = [row for row in rows if len(row.cells) > n and any(cell for cell in row.cells[n:])]
    if len(wide) * 2 <= len(rows):
        return False
    return sum(_has_neighbouring_numbers(row.cells) for row in wide) * 2 > len(wide)


def _has_neighbouring_numbers(cells: tuple[str, ...]) -> bool:
    whole = [cell.isdigit() for cell in cells]
    return any(a and b for a, b in pairwise(whole))


def _fit(
    row: Row, n: int, log: FindingLog, *, is_last: bool, delimiter: str
) -> tuple[str, ...] | None:
    """Return a row's cells, as many as there are columns; None where that can't be had."""
    extra = row.cells[n:]
    if len(row.cells) >= n and not any(cell.strip() for cell in extra):
        return row.cells[:n]
    text = delimiter.join(row.cells)
    if len(row.cells) < n and is_last:
        log.add(
            "torn-last-line",
            f"{len(row.cells)} cells of {n}: the program ended while it wrote this line",
            line=row.line,
            value=text,
            after=LEFT_OUT,
        )
        return None
    log.add(
        "ragged-row",
        f"{len(row.cells)} cells, expected {n}: look for an unquoted delimiter or quote, and quote "
        "that cell",
        line=row.line,
        value=text,
    )
    return None


def leave_out_doubles(rows: list[Row], log: FindingLog, *, delimiter: str) -> list[Row]:
    """Return the rows without those that are the same in every cell as an earlier one."""
    first_line: dict[tuple[str, ...], int] = {}
    kept = []
    for row in rows:
        if row.cells not in first_line:
            first_line[row.cells] = row.line
            kept.append(row)
        elif log.add(
            "row-twice",
            f"the same in every cell as line {first_line[row.cells]}",
            line=row.line,
            value=delimiter.join(row.cells),
            after=LEFT_OUT,
        ):
            continue
    return kept
