"""Single cells: what spreadsheets, editors and other programs do to them."""

import ast
import re
import unicodedata
from dataclasses import replace

from analysis.lab_tables.drafts import IDS, Draft, DraftTable
from analysis.lab_tables.findings import FindingLog, Place

MISSING_WORDS = frozenset(
    {"nan", "null", "none", "na", "n/a", "nil", "undefined", "missing", ".", "-", "--", "<na>"}
)
_VALUE_COLUMNS = ("rt", "key", "response", "is_correct", "truth", "outcome", "position")
_EXCEL_ERROR = re.compile(r"#(REF!|N/A|NAME\?|DIV/0!|VALUE!|NUM!|NULL!)|#{3,}")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_LIST = re.compile(r"\[.*\]")
_DATE = re.compile(
    r"\d{1,2}-(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mai|okt|dez)[a-z]*"
    r"|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mai|okt|dez)[a-z]*-\d{2,4}",
    re.IGNORECASE,
)


def clean_cells(table: DraftTable, log: FindingLog) -> DraftTable:
    """Return the table with values freed of padding, lists and words for nothing; findings noted."""
    return table.with_drafts(_clean_draft(draft, table, log) for draft in table.drafts)


def _clean_draft(draft: Draft, table: DraftTable, log: FindingLog) -> Draft:
    texts = dict(draft.texts)
    for column in (*IDS, *_VALUE_COLUMNS, "same_key", "is_practice"):
        if not texts[column] or column not in table.names:
            continue
        at = Place(line=draft.line, column=table.names[column], value=texts[column])
        text = _strip(at, log)
        if column in IDS:
            text = _clean_id(replace(at, value=text), log)
        if column in _VALUE_COLUMNS:
            text = _clean_value(replace(at, value=text), log, column=column, table=table)
        texts[column] = text
    return Draft(line=draft.line, texts=texts, extra=draft.extra)


def _strip(at: Place, log: FindingLog) -> str:
    bare = _INVISIBLE.sub("", at.value).strip()
    if _EXCEL_ERROR.fullmatch(bare):
        log.add_at("excel-error", "the value is lost; take it from the original file", at=at)
        return ""
    message = "expected no spaces or invisible characters around it"
    is_padded = bare != at.value and log.add_at("padded-cell", message, at=at, after=bare)
    return bare if is_padded else at.value


def _clean_id(at: Place, log: FindingLog) -> str:
    text = at.value
    if re.fullmatch(r"\d+([.,]\d+)?[eE]\+\d+", text):
        message = "digits are lost; take the id from the original file, and import it as text"
        log.add_at("id-in-scientific-notation", message, at=at)
    elif _DATE.fullmatch(text):
        message = "an id such as 3-1 was lost; take it from the original file"
        log.add_at("id-turned-into-date", message, at=at)
    elif re.fullmatch(r"\d+[.,]0+", text):
        bare = re.split("[.,]", text)[0]
        message = "ids are text; a program read it as a number (and 007 became 7, look for that)"
        return bare if log.add_at("id-as-number", message, at=at, after=bare) else text
    elif text.lower() in MISSING_WORDS:
        message = "kept as text; if nobody is called so, name the person"
        log.add_at("id-looks-missing", message, at=at)
    return text if text.isascii() else _clean_unicode(at, log)


def _clean_unicode(at: Place, log: FindingLog) -> str:
    repaired = _undo_mojibake(at.value)
    message = "UTF-8 was read as Latin-1 and saved"
    if repaired is not None and log.add_at("mojibake", message, at=at, after=repaired):
        at = replace(at, value=repaired)
    composed = unicodedata.normalize("NFC", at.value)
    message = "the same name composed (NFC) would be another person"
    if composed != at.value and log.add_at("id-not-nfc", message, at=at, after=composed):
        return composed
    return at.value


def _undo_mojibake(text: str) -> str | None:
    for encoding in ("cp1252", "latin-1"):
        try:
            repaired = text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return repaired if repaired != text else None
    return None


def _clean_value(at: Place, log: FindingLog, *, column: str, table: DraftTable) -> str:
    text = at.value
    if not text or text in table.mapping.missing:
        return ""
    if column in {"rt", "key"} and _LIST.fullmatch(text):
        first = (_read_list(text) or [None])[0]
        message = "expected one value: the component stored all keys; let it store the first"
        is_taken = log.add_at("list-cell", message, at=at, after=first)
        return first if is_taken and first is not None else text
    is_word = text.lower() in MISSING_WORDS and table.mapping.decode(column, text) is None
    if is_word and log.add_at("missing-word", "missing is an empty cell", at=at, after=""):
        return ""
    return text


def _read_list(text: str) -> list[str] | None:
    try:
        items = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return [str(item) for item in items] if isinstance(items, list) and items else None
