"""Bytes to text: what a file is, whatever its name says, and how its characters are written.

UTF-8 and UTF-16 can be told from the bytes. Everything else is a guess (cp1252, then Latin-1) and
needs a flag, or `--encoding`.
"""

import codecs
import re
from dataclasses import dataclass

from analysis.lab_tables.findings import FindingLog

_BINARY = (
    (b"PK\x03\x04", "a zip archive: an Excel workbook (.xlsx) or .ods"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)"),
    (b"PAR1", "a parquet file"),
    (b"\x1f\x8b", "gzip-compressed"),
    (b"%PDF", "a PDF"),
    (b"SIMPLE", "a FITS file"),
    (b"MATLAB 5.0", "a MATLAB file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x89PNG", "a picture"),
    (b"$FL2", "an SPSS file (.sav)"),
    (b"SR_RESEARCH_COMBFILE", "an EyeLink .edf recording"),
)
_PICKLE = re.compile(rb"\x80[\x02-\x05]|\(dp|ccopy_reg")
_CP1252_HOLES = frozenset(b"\x81\x8d\x8f\x90\x9d")
_CONTROL_SHARE_OF_TEXT = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A file's text, and the encoding it was read in."""

    text: str
    encoding: str


def decode(data: bytes, log: FindingLog, *, encoding: str | None = None) -> Decoded | None:
    """Return the text of a file, without its byte order mark; None when it holds none.

    Parameters
    ----------
    data
        The whole file.
    log
        Takes the findings.
    encoding
        As declared by the user; None finds it out.
    """
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        log.add("empty-file", "expected a header line and rows; export it again", value=len(data))
        return None
    kind = find_binary_kind(data)
    if kind is not None:
        log.add(
            "not-text",
            f"this is {kind}; export it as CSV (UTF-8) and name that file",
            value=data[:8].hex(" "),
        )
        return None
    found = _decode_as(data, encoding, log) if encoding else _decode_unknown(data, log)
    if found is None:
        return None
    return Decoded(text=_clean(found.text, log), encoding=found.encoding)


def find_binary_kind(data: bytes) -> str | None:
    r"""Return what kind of binary file these bytes begin, None for text.

    >>> find_binary_kind(b"PK\x03\x04...")
    'a zip archive: an Excel workbook (.xlsx) or .ods'
    """
    for magic, kind in _BINARY:
        if data.startswith(magic):
            return kind
    if _PICKLE.match(data):
        return "a Python pickle (.psydat), which is never opened: it could run anything"
    if _guess_utf16(data) is None and not data.startswith(
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    ):
        head = data[:65536].rstrip(b"\0")
        controls = sum(byte < 9 or 13 < byte < 27 for byte in head if byte)
        if controls > _CONTROL_SHARE_OF_TEXT * len(head):
            return "a binary file of an unknown kind"
    return None


def _decode_as(data: bytes, encoding: str, log: FindingLog) -> Decoded | None:
    try:
        return Decoded(text=data.decode(encoding).removeprefix("\ufeff"), encoding=encoding)
    except (UnicodeDecodeError, LookupError) as error:
        log.add(
            "encoding-wrong",
            f"can't be read as {encoding} ({error}); name another --encoding, or leave it out",
            line=_line_of_error(data, error),
            value=encoding,
        )
        return None


def _line_of_error(data: bytes, error: Exception) -> int | None:
    start = getattr(error, "start", None)
    return None if start is None else data.count(b"\n", 0, start) + 1


def _decode_unknown(data: bytes, log: FindingLog) -> Decoded | None:
    utf16 = (
        "utf-16" if data[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE} else _guess_utf16(data)
    )
    if utf16 is not None:
        log.add("utf16", "read as UTF-16; UTF-8 is safer to pass on", value=utf16)
        return _decode_as(data, utf16, log)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _guess_single_byte(data, log)
    if text.startswith("\ufeff"):
        log.add("utf8-bom", "read as UTF-8; the mark is no part of the first column's name")
        return Decoded(text=text[1:], encoding="utf-8 with BOM")
    return Decoded(text=text, encoding="utf-8")


def _guess_utf16(data: bytes) -> str | None:
    """Tell UTF-16 without a mark by its NULs, which stand at every other byte of Latin text."""
    head = data[: 2 * (min(len(data), 4096) // 2)]
    if not head:
        return None
    even, odd = head[::2].count(0) / (len(head) / 2), head[1::2].count(0) / (len(head) / 2)
    if odd > 0.7 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 and odd < 0.1 else None


def _guess_single_byte(data: bytes, log: FindingLog) -> Decoded:
    encoding = "latin-1" if _CP1252_HOLES & set(data) else "cp1252"
    text = data.decode(encoding)
    for number, line in enumerate(split_lines(text), start=1):
        if not line.isascii():
            log.add(
                "not-utf8",
                f"the bytes are not UTF-8; as {encoding} they read so. Declare the right one with "
                "--encoding, or let --repair not-utf8 take this reading",
                line=number,
                value=line.rstrip().encode(encoding).decode("ascii", "backslashreplace"),
                after=line.rstrip(),
            )
    return Decoded(text=text, encoding=encoding)


def split_lines(text: str) -> list[str]:
    r"""Return the physical lines with their ends: CR LF, LF or CR, and nothing else is an end.

    >>> split_lines("a\r\nb\rc")
    ['a\r\n', 'b\r', 'c']
    """
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", text)


_FAULTY = re.compile("[\0\ufeff\ufffd]")
_FAULTY_RULES = {
    "\0": ("nul-bytes", "a crash or a full disk wrote them; look at what is missing around them"),
    "\ufeff": ("bom-inside", "files were joined here; look for a header in the middle"),
}


def _clean(text: str, log: FindingLog) -> str:
    """Return the text without NULs and inner marks, each line that had one noted."""
    if not _FAULTY.search(text):
        return text
    for number, line in enumerate(split_lines(text), start=1):
        for character in sorted(set(_FAULTY.findall(line))):
            shown = line.strip("\0").rstrip().encode("ascii", "backslashreplace").decode()
            if character == "\ufffd":
                log.add(
                    "replacement-character",
                    "the character can't be had back from this file; export it anew as UTF-8",
                    line=number,
                    value=shown,
                )
                continue
            rule, message = _FAULTY_RULES[character]
            after = line.replace(character, "").rstrip()
            log.add(rule, message, line=number, value=shown, after=after)
    return text.replace("\0", "").replace("\ufeff", "")
