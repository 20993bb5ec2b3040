"""One row per presentation, on disk before the next begins.

Rows are written with the csv module, in one piece, flushed and fsynced. A row that can't be written
whole is taken back, so that the file always holds whole rows: first the reserve that was set aside
for a full disk is given up and the row tried again; if that fails too, the row goes into a file of its
own elsewhere. Whoever reads the file after a crash leaves a torn last line out, and keeps a copy.
"""

import csv
import io
import os
import tempfile
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from experiment.endings import SessionAborted
from experiment.tables import ROW_COLUMNS, ResponseRow
from stimuli.errors import InputError

RESERVE_BYTES = 64 * 1024
_NEWLINE = "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRows:
    """What a row file holds.

    Attributes
    ----------
    rows
        Cells by column, as text.
    n_bytes
        Length of the whole rows, header included.
    torn
        What follows the last whole row; empty unless the machine died while it was written.
    """

    rows: tuple[dict[str, str], ...]
    n_bytes: int
    torn: bytes


class RowFile:
    """An open file of rows. Use `create` or `reopen`.

    Attributes
    ----------
    syncs_each_row
        Wait for the disk after every row. Without, a row is in the system's hands when `append`
        returns (safe from the program's death, not from the machine's) and the disk is waited for at
        the end: only for simulated people without a window, who can be made again.
    """

    def __init__(self, path: Path, handle: int, n_bytes: int) -> None:
        self.path = path
        self.syncs_each_row = True
        self._handle = handle
        self._n_bytes = n_bytes
        self.n_appended = 0
        self._reserve = path.with_name(f".{path.stem}.reserve")
        self._set_reserve_aside()

    @classmethod
    def create(cls, path: Path) -> "RowFile":
        """Return a new file with its header; an existing one is never touched.

        Raises
        ------
        InputError
            The file exists, or can't be written.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        if path.exists():
            raise InputError(f"{path} exists already; it is not overwritten")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, flags, 0o644)
        except OSError as error:
            raise InputError(f"{path} can't be written ({error}); choose another folder") from None
        file = cls(path, handle, 0)
        file._write(_format(ROW_COLUMNS))
        _sync_folder(path.parent)
        return file

    @classmethod
    def reopen(cls, path: Path, finished: FinishedRows) -> "RowFile":
        """Return the file opened behind its last whole row; a torn line is cut off (and kept aside)."""
        if finished.torn:
            _keep_aside(path, finished.torn)
        handle = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        os.ftruncate(handle, finished.n_bytes)
        os.lseek(handle, finished.n_bytes, os.SEEK_SET)
        return cls(path, handle, finished.n_bytes)

    def append(self, row: ResponseRow) -> None:
        """Write one row and wait until it is on the disk.

        Raises
        ------
        SessionAborted
            The disk is full or gone. Where the row is, and how to go on, is in the message.
        """
        data = _format(astuple(row))
        try:
            self._write(data)
        except OSError as error:
            self._rescue(data, row, error)
        self.n_appended += 1

    def close(self) -> None:
        """Close the file and give the reserve back."""
        with suppress(OSError):  # a drive that is gone: what could be saved was said when it went
            os.fsync(self._handle)
        with suppress(OSError):
            os.close(self._handle)
        self._release_reserve()

    def _write(self, data: bytes) -> None:
        """Write all of `data` behind the last whole row, or nothing."""
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._handle, view) :]
            if self.syncs_each_row:
                os.fsync(self._handle)
        except OSError:
            self._take_back()
            raise
        self._n_bytes += len(data)

    def _take_back(self) -> None:
        with suppress(OSError):  # the drive is gone: the reader leaves a torn line out
            os.ftruncate(self._handle, self._n_bytes)
            os.lseek(self._handle, self._n_bytes, os.SEEK_SET)

    def _rescue(self, data: bytes, row: ResponseRow, error: OSError) -> None:
        self._release_reserve()
        go_on = "Free some space (or mend the drive), then start the same session again and resume"
        try:
            self._write(data)
        except OSError:
            where = write_elsewhere(_format(ROW_COLUMNS) + data, stem=self.path.stem, row=row)
            raise SessionAborted(
                "storage failed",
                f"{self.path} can't be written ({error}). Every earlier trial is in it; the last "
                f"one is in {where}. {go_on}: that trial is then shown again",
            ) from error
        self.n_appended += 1
        raise SessionAborted(
            "storage failed",
            f"{self.path}: the disk is full ({error}). Every finished trial, the last included, is "
            f"in the file. {go_on}",
        ) from error

    def _set_reserve_aside(self) -> None:
        try:
            self._reserve.write_bytes(os.urandom(RESERVE_BYTES))
        except OSError:
            self._release_reserve()

    def _release_reserve(self) -> None:
        with suppress(OSError):  # the drive is gone, and the reserve with it
            self._reserve.unlink(missing_ok=True)


def write_elsewhere(data: bytes, *, stem: str, row: ResponseRow) -> Path | str:
    """Write a row that its own drive didn't take into the home or the temporary folder.

    Returns
    -------
    Path or str
        The file; words with the row itself when no folder takes it.
    """
    name = f"{stem}_position-{row.position}_{row.presentation}_rescued.csv"
    for folder in (Path.home(), Path(tempfile.gettempdir())):
        try:
            path = folder / name
            path.write_bytes(data)
        except OSError:
            continue
        return path
    return f"no file: {data.decode('utf-8')}"


def read_rows(path: Path) -> FinishedRows:
    """Return the whole rows of a session's file.

    Raises
    ------
    InputError
        Another program's columns, or a damaged row before the last.
    """
    data = path.read_bytes()
    n_bytes = _find_end_of_rows(data)
    text = io.StringIO(data[:n_bytes].decode("utf-8"), newline="")
    lines = list(csv.reader(text, strict=True))
    if not lines or tuple(lines[0]) != ROW_COLUMNS:
        raise InputError(
            f"{path}: its columns are not those that this version writes; finish the session with "
            "the version that began it (see the JSON beside it), or restart"
        )
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(ROW_COLUMNS):
            raise InputError(
                f"{path}, row {number}: {len(line)} fields, expected {len(ROW_COLUMNS)}; the file "
                "was changed by hand. Restore it, or restart the session"
            )
    rows = tuple(dict(zip(ROW_COLUMNS, line, strict=True)) for line in lines[1:])
    return FinishedRows(rows=rows, n_bytes=n_bytes, torn=data[n_bytes:])


def _find_end_of_rows(data: bytes) -> int:
    """Return the length up to the last line end outside quotes.

    A quote inside a field is doubled, so a line end stands outside quotes where the number of quotes
    before it is even.
    """
    end = n_quotes = position = 0
    for line in data.split(b"\n")[:-1]:
        n_quotes += line.count(b'"')
        position += len(line) + 1
        if n_quotes % 2 == 0:
            end = position
    return end


def _format(cells: tuple[object, ...]) -> bytes:
    text = io.StringIO(newline="")
    plain = ["" if cell is None else str(cell) for cell in cells]
    # The csv module leaves a lone carriage return unquoted when lines end in "\n", and then takes it
    # for a line end when it reads the file back.
    has_return = any("\r" in cell for cell in plain)
    quoting = csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL
    csv.writer(text, lineterminator=_NEWLINE, quoting=quoting).writerow(plain)
    return text.getvalue().encode("utf-8")


def _keep_aside(path: Path, torn: bytes) -> None:
    number = 1
    while (aside := path.with_name(f"{path.stem}.torn-{number}")).exists():
        number += 1
    aside.write_bytes(torn)


def _sync_folder(folder: Path) -> None:
    """Make a new file's name durable, where folders can be synced (not on Windows)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
