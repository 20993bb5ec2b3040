"""The words that people read: a text file per language, UTF-8, any script.

A file opens with ``name: value`` lines (language, font, direction LTR or RTL, and what keys are called,
as in ``key space: LEERTASTE``), then has one page per
``== name ==`` line. ``{same_key}`` and the like are filled in; every page must be there, and every
placeholder known, or the file is refused before anybody sits down.
"""

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

from stimuli.errors import InputError
from stimuli.table_io import name_some

PageName = Literal[
    "welcome",
    "keys",
    "press_same",
    "press_different",
    "key_right",
    "key_wrong",
    "practice",
    "correct",
    "wrong",
    "timeout",
    "early",
    "gaze_break",
    "block",
    "break",
    "resume",
    "debrief",
]
PLACEHOLDERS = (
    "same_key",
    "different_key",
    "continue_key",
    "n_trials",
    "block",
    "n_blocks",
    "percent_correct",
)
_PAGE = re.compile(r"^==\s*(\S+)\s*==\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """The words of one language.

    Attributes
    ----------
    language, font
        For the record, and for drawing.
    direction
        Of reading.
    pages
        Text by page, placeholders not filled in.
    key_names
        What keys are called in this language, where that isn't their name in capitals.
    """

    language: str
    font: str
    direction: str
    pages: Mapping[str, str]
    key_names: Mapping[str, str]

    def name_key(self, key: str) -> str:
        """Return what a key is called."""
        return self.key_names.get(key, key.upper())

    def fill(self, page: PageName, values: Mapping[str, object]) -> str:
        """Return a page with its placeholders filled in."""
        return self.pages[page].format(**values)


def read_instructions(source: str) -> Instructions:
    """Return the instructions of a language that comes with the program, or of a text file.

    Parameters
    ----------
    source
        ``en``, ``de``, or a path.

    Raises
    ------
    InputError
        No such language or file, not UTF-8, a page missing, or a placeholder unknown.
    """
    folder = files("data") / "instructions"
    known = sorted(item.name.removesuffix(".txt") for item in folder.iterdir())
    if source in known:
        data, where = (folder / f"{source}.txt").read_bytes(), f"instructions {source!r}"
    elif Path(source).is_file():
        data, where = Path(source).read_bytes(), source
    else:
        raise InputError(
            f"instructions {source!r}: neither a file nor one of {name_some(known)}; copy en.txt "
            "and translate it"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 ({error}); save it as UTF-8") from None
    return parse_instructions(text, where=where)


def parse_instructions(text: str, *, where: str) -> Instructions:
    """Return the instructions in a file's text.

    Raises
    ------
    InputError
        A page is missing, or a placeholder unknown.
    """
    header, pages = _split(text)
    missing = [name for name in get_args(PageName) if not pages.get(name)]
    if missing:
        raise InputError(f"{where}: page {name_some(missing)} is missing or empty")
    for name, page in pages.items():
        _check_placeholders(page, where=f"{where}, page {name!r}")
    direction = header.get("direction", "LTR")
    if direction not in {"LTR", "RTL"}:
        raise InputError(f"{where}: direction is {direction!r}; expected LTR or RTL")
    return Instructions(
        language=header.get("language", where),
        font=header.get("font", "DejaVu Sans"),
        direction=direction,
        pages=pages,
        key_names={
            name.removeprefix("key "): value
            for name, value in header.items()
            if name.startswith("key ")
        },
    )


def _split(text: str) -> tuple[dict[str, str], dict[str, str]]:
    header: dict[str, str] = {}
    pages: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        page = _PAGE.match(line)
        if page:
            current = pages.setdefault(page[1], [])
        elif current is not None:
            current.append(line)
        elif ":" in line:
            name, value = line.split(":", 1)
            header[name.strip()] = value.strip()
    return header, {name: "\n".join(lines).strip() for name, lines in pages.items()}


def _check_placeholders(page: str, *, where: str) -> None:
    try:
        names = [name for _, name, _, _ in string.Formatter().parse(page) if name is not None]
    except ValueError as error:
        raise InputError(
            f"{where}: {error}; write a brace that is meant as one twice: {{{{"
        ) from None
    unknown = sorted(set(names) - set(PLACEHOLDERS))
    if unknown:
        raise InputError(
            f"{where}: placeholder {name_some(unknown)} is unknown; known: {', '.join(PLACEHOLDERS)}"
        )
