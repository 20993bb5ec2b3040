"""The catalogue of what can be wrong with a lab's table.

A rule's name is stable: `--repair` and `--accept` take it, `--json` prints it, and the tests name it.
"""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "repairable", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of fault.

    Attributes
    ----------
    name
        Kebab-case, stable.
    finds
        What it looks at.
    repair
        What `--repair NAME` does; None where only a person can decide.
    is_safe
        The repair can't change what the table means; `--repair all-safe` includes it.
    may_accept
        The table may be right as it is; `--accept NAME` says so, and the record keeps it.
    is_note
        Only worth knowing; never stops an import.
    """

    name: str
    finds: str
    repair: str | None = None
    is_safe: bool = False
    may_accept: bool = False
    is_note: bool = False

    @property
    def severity(self) -> Severity:
        """How a finding of this rule counts when nothing more is known."""
        if self.is_note:
            return "note"
        return "error" if self.repair is None else "repairable"


def _error(name: str, finds: str, *, may_accept: bool = False) -> Rule:
    return Rule(name=name, finds=finds, may_accept=may_accept)


def _note(name: str, finds: str) -> Rule:
    return Rule(name=name, finds=finds, is_note=True)


def _safe(name: str, finds: str, repair: str, *, may_accept: bool = False) -> Rule:
    return Rule(name=name, finds=finds, repair=repair, is_safe=True, may_accept=may_accept)


def _judged(name: str, finds: str, repair: str, *, may_accept: bool = False) -> Rule:
    return Rule(name=name, finds=finds, repair=repair, may_accept=may_accept)


_FILE_RULES = (
    _error("empty-file", "no bytes, or only white space"),
    _error("not-text", "a workbook, archive, pickle or other binary file, whatever its name says"),
    _error("replacement-character", "U+FFFD: a character was lost when the file was saved"),
    _error("encoding-wrong", "the bytes are not in the encoding that was declared"),
    _judged("not-utf8", "bytes that are not UTF-8", "read them as cp1252 (or Latin-1)"),
    _judged("nul-bytes", "NUL bytes in text: a crash or a full disk", "take them out"),
    _safe("bom-inside", "a byte order mark within the text: files joined", "take it out"),
    _note("utf8-bom", "the file begins with a byte order mark"),
    _note("utf16", "the file is UTF-16"),
    _note("wrong-extension", "the name's ending contradicts the content"),
)

_SHAPE_RULES = (
    _error("only-header", "a header and no row"),
    _error("no-header", "the first line is data"),
    _error("delimiter-unknown", "no delimiter gives more than one column"),
    _error("decimal-comma-splits-cells", "unquoted decimal commas in a comma-separated file"),
    _error("unclosed-quote", "a quote opens and never closes: lines are swallowed"),
    _error("ragged-row", "a row with more or fewer cells than the header"),
    _error("column-twice", "two columns of one name, and the column is needed"),
    _error("bad-json", "the JSON can't be read, or holds no list of trials"),
    _judged(
        "unescaped-quote", "a quote within a quoted cell", "take it as a character of the cell"
    ),
    _judged("torn-last-line", "the last line breaks off", "leave the line out"),
    _safe("header-repeated", "the header again, as append-mode saving writes it", "leave it out"),
    _safe("preamble", "lines above the header", "leave them out"),
    _safe("row-twice", "a row that is the same in every cell as an earlier one", "leave it out"),
    _safe("column-name-padded", "spaces around a column's name", "take them away"),
    _note("empty-row", "a line without any value"),
    _note("separator-line", "Excel's sep= line above the header"),
)

_FORMAT_RULES = (
    _error("format-unknown", "the columns are those of no known format"),
    _error("format-ambiguous", "the columns are those of several formats"),
    _error("missing-column", "a needed column is not there"),
    _error("column-ambiguous", "several columns could be the one that is needed"),
    _error("unknown-code", "a value that the format or mapping file doesn't explain"),
    _error("unknown-key", "a key that is none of the two response keys"),
    _error("outcome-unknown", "nothing says whether the answer was right"),
    _judged("list-cell", "a list of several keys or RTs in a cell", "take the first"),
    _note("row-without-trial", "a row that is no presentation: instructions, fixation, breaks"),
    _note("no-response-reason", "no answer, and the export doesn't say why (time-out, gaze …)"),
)

_ID_RULES = (
    _error("missing-id", "a presentation without participant or trial id"),
    _error("id-in-scientific-notation", "a spreadsheet turned the id into 1E+05: digits are lost"),
    _error("id-turned-into-date", "a spreadsheet turned the id into a date"),
    _error("excel-error", "a spreadsheet's error (#REF!, ####) instead of a value"),
    _error("unknown-trial", "a trial id that the benchmark doesn't have"),
    _error("truth-contradicts", "same or different, as the table says, against the benchmark"),
    _error("ids-nearly-equal", "ids that differ by case, zeros or spaces only", may_accept=True),
    _judged(
        "id-as-number",
        "an id that became a decimal number, such as 7.0",
        "take .0 away",
        may_accept=True,
    ),
    _judged("mojibake", "UTF-8 read as Latin-1 and saved again", "turn it back"),
    _safe("id-not-nfc", "an id in decomposed Unicode (NFD)", "compose it (NFC)"),
    _safe("padded-cell", "spaces or invisible characters around a value", "take them away"),
    _note("id-looks-missing", "an id such as NA or None, which is kept as text"),
)

_TIME_RULES = (
    _error("rt-not-number", "a reaction time that is no number"),
    _error("unit-implausible", "a median RT outside 0.1-10 s: milliseconds or seconds?"),
    _error("decimal-comma-ambiguous", "0 to 3 digits, a comma, 3 digits: decimal or thousands?"),
    _error("rt-rising", "RTs rise from trial to trial: the clock was not reset", may_accept=True),
    _error("rt-constant", "all RTs of a person are one number", may_accept=True),
    _error("answer-without-rt", "an answer without a reaction time"),
    _error("rt-without-answer", "a reaction time without an answer"),
    _judged("unit-mixed", "milliseconds among seconds, or the reverse", "bring them to the unit"),
    _judged("rt-not-positive", "an answer at or before onset", "outcome early, no RT"),
    _judged("rt-above-timeout", "an answer after the time-out", "outcome timeout, no RT"),
    _judged(
        "timeout-code-with-answer",
        "a number that codes time-outs, beside an answer",
        "outcome timeout, no RT, no answer",
    ),
    _safe("timeout-code", "-1, 0, 999 … or the time-out, no answer", "outcome timeout, no RT"),
    _safe("timeout-with-rt", "an RT beside the outcome timeout", "no RT"),
    _safe("missing-word", "NaN, null or None instead of an empty cell", "make it empty"),
    _safe("decimal-marks-mixed", "decimal commas and points in one column", "make them points"),
    _safe("thousands-separator", "1.234,5 or 1,234.5", "take the separator of thousands away"),
    _note("rt-below-100ms", "an answer faster than people are; exclusion rules decide"),
)

_ANSWER_RULES = (
    _error("accuracy-contradicts", "right or wrong, against what was said and is true"),
    _error("accuracy-below-chance", "a person mostly wrong: keys swapped?", may_accept=True),
    _judged(
        "accuracy-inverted",
        "right or wrong contradicts the answer in nearly every row: keys swapped",
        "swap the answers (or the accuracy, where it is the one below chance)",
    ),
    _note("no-errors", "not one wrong answer in 50: error trials may not be in the table"),
    _note("one-answer-only", "a person who always gave the same answer"),
)

_ORDER_RULES = (
    _judged(
        "presented-twice",
        "two answers of a person to a trial in a session",
        "keep the first",
        may_accept=True,
    ),
    _judged(
        "restart",
        "the trial number falls back, or the session begins again, and trials return",
        "leave out what was before, as `session run` does",
        may_accept=True,
    ),
    _note("position-falls", "the trial number falls back; no trial returns"),
)

_FOLDER_RULES = (
    _error("participant-in-two-files", "one person and session in two files, with other data"),
    _error("participant-there-already", "the person has responses in the output folder"),
    _error("simulated-and-real", "simulated people among real ones, or the reverse"),
    _safe("file-twice", "the bytes of an earlier file", "leave the file out"),
    _note("participant-continues", "one person and session in two files, no trial in both"),
    _note("fewer-trials", "less than half of the other people's presentations"),
)

GROUPS: tuple[tuple[str, tuple[Rule, ...]], ...] = (
    ("File", _FILE_RULES),
    ("Shape", _SHAPE_RULES),
    ("Format and codes", _FORMAT_RULES),
    ("Ids", _ID_RULES),
    ("Reaction times", _TIME_RULES),
    ("Answers", _ANSWER_RULES),
    ("Order", _ORDER_RULES),
    ("Folder", _FOLDER_RULES),
)
RULES: dict[str, Rule] = {rule.name: rule for _, rules in GROUPS for rule in rules}
