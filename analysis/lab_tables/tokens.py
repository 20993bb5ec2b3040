"""Text to rows: the delimiter, and cells with the physical line each row begins on."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.lab_tables.decoding import split_lines
from analysis.lab_tables.findings import FindingLog

DELIMITERS = (",", ";", "\t", "|")
_N_SAMPLED = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row as it stands in the file.

    Attributes
    ----------
    line
        The physical line it begins on, from 1.
    cells
        As text, quotes taken away.
    """

    line: int
    cells: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no cell holds anything."""
        return not any(cell.strip() for cell in self.cells)


def find_delimiter(text: str) -> str | None:
    r"""Return the character that separates cells; None when none gives two columns.

    The delimiter is the one that gives most lines one and the same number of cells, two or more; where
    several do, the one that gives the header most cells, since headers hold no decimal commas.

    >>> find_delimiter("a;b\n0,5;1\n0,7;2\n")
    ';'
    """
    lines = [line for line in split_lines(text)[:_N_SAMPLED] if line.strip()]
    best, best_score = None, (0.0, 0)
    for delimiter in DELIMITERS:
        counts = [len(_parse_line(line, delimiter)) for line in lines]
        widths = [count for count in counts if count > 1]
        if not widths:
            continue
        common = max(set(widths), key=widths.count)
        share = counts.count(common) / len(counts)
        score = (share if share < 0.8 else 1.0, counts[0] if counts[0] > 1 else common)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _parse_line(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])


def _write_row(cells: list[str], delimiter: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="").writerow(cells)
    return text.getvalue()


def tokenise(text: str, delimiter: str, log: FindingLog) -> list[Row]:
    """Return the rows of a delimited text, lines that hold nothing included.

    Well-formed text is read by the csv module. Where it objects to a quote, a quote within a quoted
    cell closes it only before a delimiter or line end, and every such place is a finding.
    """
    lines = split_lines(text)
    try:
        return list(_read_strictly(lines, delimiter))
    except csv.Error:
        return _Lenient(delimiter, log).read(lines)


def _read_strictly(lines: list[str], delimiter: str) -> Iterable[Row]:
    csv.field_size_limit(2**30)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    first = 1
    for cells in reader:
        yield Row(line=first, cells=tuple(cells))
        first = reader.line_num + 1


class _Lenient:
    """Reads text whose quotes are not escaped."""

    def __init__(self, delimiter: str, log: FindingLog) -> None:
        self._delimiter = delimiter
        self._log = log

    def read(self, lines: list[str]) -> list[Row]:
        rows: list[Row] = []
        position = 0
        while position < len(lines):
            row, position = self._read_row(lines, position)
            rows.append(row)
        return rows

    def _read_row(self, lines: list[str], first: int) -> tuple[Row, int]:
        """Return the row that begins on a line, and the index of the line after it."""
        text, last = lines[first], first
        cells, stray = self._split(text)
        while cells is None and last + 1 < len(lines):
            last += 1
            text += lines[last]
            cells, stray = self._split(text)
        if cells is None or (stray and last > first):
            return self._give_up(lines, first), first + 1
        if stray:
            self._log.add(
                "unescaped-quote",
                'a quote within a quoted cell should be doubled (""); look whether the cells of '
                "this line stand in their columns",
                line=first + 1,
                value=text.rstrip("\r\n"),
                after=_write_row(cells, self._delimiter),
            )
        return Row(line=first + 1, cells=tuple(cells)), last + 1

    def _give_up(self, lines: list[str], first: int) -> Row:
        self._log.add(
            "unclosed-quote",
            "the quote that opens here never closes; close it, or take it away",
            line=first + 1,
            value=lines[first].rstrip("\r\n"),
        )
        return Row(line=first + 1, cells=tuple(lines[first].rstrip("\r\n").split(self._delimiter)))

    def _split(self, text: str) -> tuple[list[str] | None, bool]:
        """Return the cells of one row (None while a quote is open) and whether a quote was stray."""
        text = text.rstrip("\r\n")
        cells: list[str] = []
        stray = False
        position = 0
        while True:
            if text[position : position + 1] == '"':
                cell, position, is_stray = self._read_quoted(text, position + 1)
                if cell is None:
                    return None, stray
                stray |= is_stray
            else:
                end = text.find(self._delimiter, position)
                end = len(text) if end < 0 else end
                cell, position = text[position:end], end
            cells.append(cell)
            if position >= len(text):
                return cells, stray
            position += 1

    def _read_quoted(self, text: str, position: int) -> tuple[str | None, int, bool]:
        """Return the cell whose quote opened before `position`, where it ends, and if one was stray."""
        parts: list[str] = []
        stray = False
        while (quote := text.find('"', position)) >= 0:
            parts.append(text[position:quote])
            following = text[quote + 1 : quote + 2]
            if following in {"", self._delimiter}:
                return "".join(parts), quote + 1, stray
            is_doubled = following == '"'
            stray |= not is_doubled
            parts.append('"')
            position = quote + 1 + is_doubled
        return None, position, stray
