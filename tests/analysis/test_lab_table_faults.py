"""A corpus of broken lab tables, each built from a good one; the checker names rule and line."""

import json
import tomllib
import unicodedata
from dataclasses import dataclass, field, replace

import pytest

from analysis.lab_tables.findings import Consent, parse_consent
from analysis.lab_tables.importing import tabulate_presentation
from analysis.lab_tables.mapping import _parse
from analysis.lab_tables.reading import Declared, parse_lab_table
from analysis.lab_tables.rules import GROUPS, RULES
from stimuli.errors import InputError
from tests.analysis import lab_files as lab

GOOD = lab.make_study("07")
MAPPING = _parse(tomllib.loads(lab.LAB_MAPPING))
WITHOUT_ANSWERS = {k: v for k, v in MAPPING.columns.items() if k not in {"response", "is_correct"}}
EVERY_REPAIR = Consent(repair=frozenset(n for n, rule in RULES.items() if rule.repair))


def read(data, *, name="sub.csv", declared=None, consent=None):
    data = data.encode() if isinstance(data, str) else data
    return parse_lab_table(
        data,
        file=name,
        declared=declared or Declared(timeout_s=lab.TIMEOUT_S),
        consent=consent or Consent(),
        truths=lab.TRUTHS,
    )


def rows(table):
    """Return a table's presentations as they would be written."""
    return [tabulate_presentation(p) for p in table.presentations]


def edit(text, line, old, new):
    """Replace `old` on one physical line."""
    lines = text.splitlines(keepends=True)
    assert old in lines[line - 1], (old, lines[line - 1])
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    return "".join(lines)


def cell(text, line, column, new, *, delimiter=","):
    """Replace one cell of a table without quotes."""
    lines = text.splitlines(keepends=True)
    header = lines[0].rstrip("\n").split(delimiter)
    cells = lines[line - 1].rstrip("\n").split(delimiter)
    cells[header.index(column)] = new(cells[header.index(column)]) if callable(new) else new
    lines[line - 1] = delimiter.join(cells) + "\n"
    return "".join(lines)


def column(text, name, change, *, delimiter=","):
    """Change a whole column."""
    n = len(text.splitlines())
    for line in range(2, n + 1):
        text = cell(text, line, name, change, delimiter=delimiter)
    return text


def swap_words(word):
    return {"same": "different", "different": "same"}.get(word, word)


OWN, PSY, CSV, JSON, EYE, LAB = (
    lab.own(GOOD),
    lab.psychopy(GOOD),
    lab.jspsych_csv(GOOD),
    lab.jspsych_json(GOOD),
    lab.eyelink(GOOD),
    lab.lab(GOOD),
)
LINES = OWN.splitlines(keepends=True)
TORN_JSON = "".join(JSON.splitlines(keepends=True)[:7]) + '{"rt": 4'
# The time-out is the last answer but one.
SILENT = len(GOOD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A broken table: its rule, the physical line, and whether repairing gives the good one back."""

    name: str
    data: object
    rule: str
    line: int | None
    file: str = "sub.csv"
    declared: Declared = field(default_factory=lambda: Declared(timeout_s=lab.TIMEOUT_S))
    mends: str | None = None  # the good table that the repair gives back

    def __str__(self):
        return self.name


def case(name, rule, line, data, **more):
    return Case(name=name, rule=rule, line=line, data=data, **more)


def cumulative(text):
    """RTs from the session's beginning instead of from onset."""
    total = iter(range(1, 1000))
    return column(text, "rt_s", lambda rt: rt and f"{next(total) * 0.4 + float(rt) / 10:.3f}")


def many(n, **changes):
    """A study long enough for judgements on a person."""
    return [replace(GOOD[k % len(GOOD)], position=k + 1, **changes) for k in range(n)]


TOLD = edit(PSY, 1, "trials.thisRepN", "truth")
for number, answer in enumerate(GOOD, start=3):
    TOLD = cell(TOLD, number, "truth", answer.truth)
UMLAUT = OWN.replace("07,1,", "Jürgen,1,")
LAB_READ = Declared(mapping=MAPPING)
CASES = [
    # ---- the file ----
    case("no bytes", "empty-file", None, b""),
    case("white space only", "empty-file", None, b"\n \n\t\n"),
    case("an xlsx renamed .csv", "not-text", None, b"PK\x03\x04" + bytes(range(200))),
    case("an old xls renamed .csv", "not-text", None, b"\xd0\xcf\x11\xe0" + bytes(300)),
    case("a psydat pickle", "not-text", None, b"\x80\x04\x95" + bytes(range(90))),
    case("an EyeLink recording", "not-text", None, b"SR_RESEARCH_COMBFILE" + bytes(99)),
    case("noise", "not-text", None, bytes(range(256)) * 4),
    case("cp1252 umlauts", "not-utf8", 2, UMLAUT.encode("cp1252"), mends=UMLAUT),
    case("Latin-1 control holes", "not-utf8", 2, UMLAUT.encode("latin-1") + b"\x81", mends=None),
    case(
        "declared encoding is wrong",
        "encoding-wrong",
        2,
        UMLAUT.encode("cp1252"),
        declared=Declared(encoding="utf-8"),
    ),
    case("a lost character", "replacement-character", 3, edit(OWN, 3, "07", "M\ufffdller")),
    case("NULs after a crash", "nul-bytes", 18, OWN + "\0" * 40, mends=OWN),
    case("NULs within a line", "nul-bytes", 5, edit(OWN, 5, ",1,", ",\0\0001,"), mends=OWN),
    case(
        "two files joined with their marks",
        "bom-inside",
        4,
        edit(OWN, 4, "07", "\ufeff07"),
        mends=OWN,
    ),
    case("JSON named .csv", "wrong-extension", None, JSON, file="data.csv"),
    case("CSV named .json", "wrong-extension", None, CSV, file="data.json"),
    case("UTF-8 with a mark", "utf8-bom", None, "\ufeff" + OWN),
    case("UTF-16", "utf16", None, OWN.encode("utf-16")),
    case("UTF-16 without a mark", "utf16", None, OWN.encode("utf-16-le")),
    # ---- its shape ----
    case("only a header", "only-header", 1, LINES[0]),
    case("no header", "no-header", 1, "".join(LINES[1:])),
    case("one column", "delimiter-unknown", 1, "a b c\n1 2 3\n"),
    case(
        "unquoted decimal commas between commas",
        "decimal-comma-splits-cells",
        2,
        column(OWN, "rt_s", lambda rt: rt.replace(".", ",")),
    ),
    case(
        "header repeated in the middle",
        "header-repeated",
        7,
        "".join([*LINES[:6], *LINES[:1], *LINES[6:]]),
        mends=OWN,
    ),
    case("a row with a cell too many", "ragged-row", 5, edit(OWN, 5, ",1,", ",1,oops,")),
    case("a row with a cell too few", "ragged-row", 5, edit(OWN, 5, ",1,", ",")),
    case("the last line breaks off", "torn-last-line", 18, OWN + "07,1,0_100", mends=OWN),
    case(
        "unescaped quotes",
        "unescaped-quote",
        3,
        edit(PSY, 3, "2026-05", '"a "b" c",2026-05').replace("session,date", "session,note,date"),
        mends=None,
    ),
    case("a quote that never closes", "unclosed-quote", 6, edit(OWN, 6, ",wrong", ',"wrong')),
    case("rows saved twice", "row-twice", 18, OWN + LINES[3], mends=OWN),
    case("title lines above the header", "preamble", 1, "Lab 3\nexported 4 May\n" + OWN, mends=OWN),
    case("a comment above the header", "preamble", 1, "# exported\n" + OWN, mends=OWN),
    case(
        "spaces around a column's name",
        "column-name-padded",
        1,
        edit(OWN, 1, "rt_s", " rt_s "),
        mends=OWN,
    ),
    case("a needed column twice", "column-twice", 1, edit(OWN, 1, "position,key", "rt_s,key")),
    case("empty lines of delimiters", "empty-row", 18, OWN + ",,,,,,,,,\n"),
    case("sep= for Excel", "separator-line", 1, "sep=,\n" + OWN),
    case("JSON that breaks off", "bad-json", 8, TORN_JSON, file="a.json"),
    case("JSON without trials", "bad-json", 1, "{}", file="a.json"),
    # ---- format and codes ----
    case("nobody's columns", "format-unknown", 1, LAB),
    case("two formats at once", "format-ambiguous", 1, edit(EYE, 1, "subj_id", "trials.thisN")),
    case("no trial id", "missing-column", 1, edit(PSY, 1, "trial_id", "stimulus")),
    case(
        "a mapping file that names no column",
        "missing-column",
        1,
        edit(LAB, 1, "latency", "zeit"),
        declared=LAB_READ,
    ),
    case("two keyboard components at once", "column-ambiguous", 4, cell(PSY, 4, "instr.rt", "0.7")),
    case(
        "a code without meaning", "unknown-code", 4, cell(LAB, 4, "answer", "x"), declared=LAB_READ
    ),
    case(
        "nothing says right or wrong",
        "outcome-unknown",
        2,
        LAB,
        declared=Declared(mapping=replace(MAPPING, columns=WITHOUT_ANSWERS)),
    ),
    case("instructions among the trials", "row-without-trial", 2, PSY),
    case("a silent trial, no reason given", "no-response-reason", SILENT, EYE),
    case("an unknown outcome", "unknown-code", 4, cell(OWN, 4, "outcome", "oops")),
    case("a third key", "unknown-key", 4, cell(PSY, 4, "key_resp.keys", "g")),
    case(
        "a list of keys",
        "list-cell",
        4,
        cell(PSY, 4, "key_resp.keys", lambda key: f"['{key}']"),
        mends=PSY,
    ),
    # ---- ids ----
    case("no participant", "missing-id", 4, cell(OWN, 4, "participant_id", "")),
    case("no trial id on one row", "missing-id", 4, cell(OWN, 4, "trial_id", "")),
    case("an id as a decimal", "id-as-number", 2, column(OWN, "session", "1.0"), mends=OWN),
    case(
        "an id in scientific notation",
        "id-in-scientific-notation",
        2,
        column(OWN, "participant_id", "5E+07"),
    ),
    case("an id as a date", "id-turned-into-date", 2, column(OWN, "participant_id", "03-Jan")),
    case("a spreadsheet's error", "excel-error", 5, cell(OWN, 5, "trial_id", "#REF!")),
    case(
        "a trial that isn't in the benchmark",
        "unknown-trial",
        5,
        cell(OWN, 5, "trial_id", "9_109_same_close"),
    ),
    case("another truth", "truth-contradicts", 4, cell(TOLD, 4, "truth", swap_words)),
    case("mojibake", "mojibake", 2, UMLAUT.replace("ü", "\u00c3\u00bc"), mends=UMLAUT),
    case("a decomposed name", "id-not-nfc", 2, unicodedata.normalize("NFD", UMLAUT), mends=UMLAUT),
    case(
        "spaces around an id",
        "padded-cell",
        3,
        cell(OWN, 3, "participant_id", " 07\u00a0"),
        mends=OWN,
    ),
    case(
        "an invisible character",
        "padded-cell",
        3,
        cell(OWN, 3, "trial_id", lambda t: "\u200b" + t),
        mends=OWN,
    ),
    case("a person called NA", "id-looks-missing", 2, column(OWN, "participant_id", "NA")),
    # ---- reaction times ----
    case("a word as RT", "rt-not-number", 4, cell(OWN, 4, "rt_s", "fast")),
    case("an infinite RT", "rt-not-number", 4, cell(OWN, 4, "rt_s", "inf")),
    case(
        "milliseconds in our seconds",
        "unit-implausible",
        2,
        column(OWN, "rt_s", lambda rt: rt and f"{float(rt) * 1000:.0f}"),
    ),
    case(
        "seconds in jsPsych's milliseconds",
        "unit-implausible",
        4,
        column(CSV, "rt", lambda rt: rt if rt == "null" else str(int(rt) / 1e3)),
    ),
    case(
        "one RT in milliseconds",
        "unit-mixed",
        4,
        cell(OWN, 4, "rt_s", lambda rt: rt.replace("0.", "").replace("1.", "1")),
        mends=OWN,
    ),
    case(
        "one RT in seconds among milliseconds",
        "unit-mixed",
        4,
        cell(EYE, 4, "REACTION_TIME", lambda rt: str(int(rt) / 1000)),
        mends=None,
    ),
    case(
        "decimal or thousands",
        "decimal-comma-ambiguous",
        2,
        column(
            lab.own(GOOD, delimiter=";"), "rt_s", lambda rt: rt and "1,2" + rt[-2:], delimiter=";"
        ),
    ),
    case(
        "one decimal comma",
        "decimal-marks-mixed",
        4,
        cell(lab.own(GOOD, delimiter=";"), 4, "rt_s", lambda rt: "0," + rt[2:], delimiter=";"),
        mends=None,
    ),
    case(
        "a separator of thousands",
        "thousands-separator",
        4,
        cell(lab.lab(GOOD, delimiter=";"), 4, "latency", "1.234,5", delimiter=";"),
        declared=LAB_READ,
    ),
    case("RTs since the session began", "rt-rising", 2, cumulative(OWN)),
    case("always the same RT", "rt-constant", 2, column(OWN, "rt_s", lambda rt: rt and "0.700")),
    case("an answer without RT", "answer-without-rt", 4, cell(OWN, 4, "rt_s", "")),
    case(
        "an RT without an answer",
        "rt-without-answer",
        4,
        cell(cell(PSY, 4, "key_resp.keys", "None"), 4, "key_resp.rt", "0.43"),
    ),
    case("RT zero", "rt-not-positive", 4, cell(OWN, 4, "rt_s", "0.000")),
    case("RT below zero", "rt-not-positive", 4, cell(OWN, 4, "rt_s", "-0.25")),
    case("an answer after the time-out", "rt-above-timeout", 4, cell(OWN, 4, "rt_s", "3.4")),
    case(
        "time-out coded -1", "timeout-code", SILENT + 1, cell(PSY, SILENT + 1, "key_resp.rt", "-1")
    ),
    case("time-out coded 0", "timeout-code", SILENT + 1, cell(PSY, SILENT + 1, "key_resp.rt", "0")),
    case(
        "time-out coded 999",
        "timeout-code",
        SILENT,
        cell(EYE, SILENT, "REACTION_TIME", "999"),
        mends=EYE,
    ),
    case(
        "time-out coded 9999",
        "timeout-code",
        SILENT,
        cell(EYE, SILENT, "REACTION_TIME", "9999"),
        mends=EYE,
    ),
    case(
        "time-out coded as itself",
        "timeout-code",
        SILENT,
        cell(EYE, SILENT, "REACTION_TIME", "3000"),
        mends=EYE,
    ),
    case(
        "time-out coded NaN",
        "missing-word",
        SILENT,
        cell(EYE, SILENT, "REACTION_TIME", "NaN"),
        mends=EYE,
    ),
    case(
        "time-out coded None",
        "missing-word",
        SILENT,
        cell(EYE, SILENT, "REACTION_TIME", "None"),
        mends=EYE,
    ),
    case(
        "time-out with an RT",
        "timeout-with-rt",
        SILENT,
        cell(OWN, SILENT, "rt_s", "3.000"),
        mends=OWN,
    ),
    case("-1 beside an answer", "timeout-code-with-answer", 4, cell(OWN, 4, "rt_s", "-1")),
    case("an RT of 40 ms", "rt-below-100ms", 4, cell(OWN, 4, "rt_s", "0.04")),
    # ---- answers ----
    case("one wrong accuracy", "accuracy-contradicts", 4, cell(OWN, 4, "outcome", "wrong")),
    case("keys swapped", "accuracy-inverted", 2, column(OWN, "response", swap_words), mends=OWN),
    case(
        "1 and 0 swapped",
        "accuracy-inverted",
        2,
        column(LAB, "hit", lambda h: {"1": "0", "0": "1"}.get(h, h)),
        declared=LAB_READ,
        mends=LAB,
    ),
    case(
        "nearly all wrong",
        "accuracy-below-chance",
        2,
        lab.own(many(40, outcome="wrong", response="")),
    ),
    case(
        "no errors at all",
        "no-errors",
        2,
        lab.own(many(60, outcome="correct", response="", rt_ms=700)),
    ),
    case(
        "always the same answer",
        "one-answer-only",
        2,
        column(lab.own(many(40)), "response", "same"),
    ),
    # ---- order ----
    case(
        "a trial presented twice",
        "presented-twice",
        18,
        OWN + cell(OWN, 3, "rt_s", "0.777").splitlines()[2].replace(",2,", ",17,") + "\n",
        mends=OWN,
    ),
    case(
        "a restart",
        "restart",
        5,
        LINES[0]
        + "".join(LINES[1:4]).replace("0.", "0.1").replace("1.", "1.1")
        + "".join(LINES[1:]),
        mends=OWN,
    ),
    case(
        "a new block",
        "position-falls",
        10,
        column(OWN, "position", lambda p: str((int(p) - 1) % 8 + 1)),
    ),
]


# Rules about several files together: tests of their own, in test_lab_table_round_trip.py.
FOLDER_RULES = {rule.name for title, rules in GROUPS for rule in rules if title == "Folder"}


def test_every_rule_of_the_catalogue_is_in_the_corpus_or_about_several_files():
    assert {c.rule for c in CASES} | FOLDER_RULES | {"ids-nearly-equal"} == set(RULES)


def test_the_corpus_holds_forty_kinds_and_more():
    assert len({c.rule for c in CASES}) >= 40
    assert len(CASES) >= 60


@pytest.mark.parametrize("broken", CASES, ids=str)
def test_a_broken_table_is_named_by_rule_and_line(broken):
    table = read(broken.data, name=broken.file, declared=broken.declared)
    found = [(f.rule, f.line) for f in table.findings]
    assert (broken.rule, broken.line) in found
    if RULES[broken.rule].is_note:
        assert not any(f.stops for f in table.findings if f.rule == broken.rule)
    else:
        assert next(f for f in table.findings if f.rule == broken.rule).stops
    assert all(f.message and "\n" not in f.message for f in table.findings)


@pytest.mark.parametrize("broken", [c for c in CASES if c.mends], ids=str)
def test_the_repair_gives_the_good_table_back(broken):
    """Whole rows, byte for byte; and what was changed is listed."""
    refused = read(broken.data, name=broken.file, declared=broken.declared)
    table = read(broken.data, declared=broken.declared, consent=EVERY_REPAIR)
    good = read(broken.mends, declared=broken.declared)
    assert any(f.stops for f in refused.findings)
    assert not any(f.stops for f in table.findings)
    assert rows(table) == rows(good)
    repaired = [f for f in table.findings if f.status == "repaired"]
    assert broken.rule in {f.rule for f in repaired}
    assert all(f.changes for f in repaired)


@pytest.mark.parametrize("broken", [c for c in CASES if c.mends], ids=str)
def test_only_the_named_rule_repairs(broken):
    other = Consent(repair=EVERY_REPAIR.repair - {broken.rule})
    table = read(broken.data, declared=broken.declared, consent=other)
    assert any(f.stops and f.rule == broken.rule for f in table.findings)


def test_safe_repairs_are_those_that_cannot_change_the_meaning():
    safe = parse_consent(["all-safe"], []).repair
    assert {"header-repeated", "row-twice", "timeout-code", "id-not-nfc"} <= safe
    assert not safe & {"presented-twice", "restart", "not-utf8", "accuracy-inverted", "unit-mixed"}


@pytest.mark.parametrize(
    ("repair", "accept", "match"),
    [
        (["nonsense"], [], "no rule 'nonsense'"),
        (["ragged-row"], [], "not possible for 'ragged-row'"),
        ([], ["empty-file"], "--accept: not possible"),
        (["restart"], ["restart"], "not both"),
    ],
)
def test_flags_that_make_no_sense_are_refused(repair, accept, match):
    with pytest.raises(InputError, match=match):
        parse_consent(repair, accept)


def test_an_accepted_finding_leaves_the_table_as_it_is():
    broken = next(c for c in CASES if c.rule == "presented-twice")
    table = read(broken.data, consent=Consent(accept=frozenset({"presented-twice"})))
    assert len(table.presentations) == len(GOOD) + 1
    assert not any(f.stops for f in table.findings)


def test_a_restart_keeps_the_last_run_and_lists_every_row_it_leaves_out():
    broken = next(c for c in CASES if c.rule == "restart")
    table = read(broken.data, consent=EVERY_REPAIR)
    finding = next(f for f in table.findings if f.rule == "restart")
    assert len(table.presentations) == len(GOOD)
    assert [c.line for c in finding.changes if c.after == "(left out)"] == [2, 3, 4]


def test_a_time_out_written_as_a_number_becomes_an_outcome_and_both_changes_are_listed():
    table = read(cell(EYE, SILENT, "REACTION_TIME", "-1"), consent=EVERY_REPAIR)
    shown = next(p for p in table.presentations if p.line == SILENT)
    assert (shown.outcome, shown.rt_s, shown.response) == ("timeout", "", "")
    finding = next(f for f in table.findings if f.rule == "timeout-code")
    assert [(c.column, c.before, c.after) for c in finding.changes] == [
        ("REACTION_TIME", "-1", ""),
        ("outcome", "", "timeout"),
    ]


def test_an_rt_of_999_ms_beside_an_answer_is_an_rt():
    table = read(cell(EYE, 4, "REACTION_TIME", "999"))
    assert next(p for p in table.presentations if p.line == 4).rt_s == "0.999"
    assert not any(f.stops for f in table.findings)


def test_declaring_the_unit_answers_the_question():
    text = column(OWN, "rt_s", lambda rt: rt and f"{float(rt) * 1000:.0f}")
    table = read(text, declared=Declared(unit="ms"))
    assert not any(f.stops for f in table.findings)
    assert rows(table) == rows(read(OWN))


@pytest.mark.parametrize("decimal", [",", "."])
def test_declaring_the_decimal_mark_answers_the_question(decimal):
    text = column(
        lab.own(GOOD, delimiter=";"), "rt_s", lambda rt: rt and "1,2" + rt[-2:], delimiter=";"
    )
    table = read(text, declared=Declared(decimal=decimal))
    rules = {f.rule for f in table.findings if f.stops}
    assert ("decimal-comma-ambiguous" in rules) == (decimal == ".")
    assert table.presentations[0].rt_s.startswith("1.2")


def test_0_comma_02_never_becomes_2():
    text = cell(lab.own(GOOD, delimiter=";", decimal=","), 3, "rt_s", "0,02", delimiter=";")
    table = read(text)
    assert next(p for p in table.presentations if p.line == 3).rt_s == "0.02"


def test_each_json_finding_names_the_line_of_its_trial():
    broken = edit(JSON, 6, '"rt": ', '"rt": -')
    assert [
        f.line
        for f in read(broken).findings
        if f.rule == "timeout-code-with-answer" or "positive" in f.rule
    ] == [6]


def test_json_written_list_after_list_is_one_table():
    half = json.loads(JSON)
    joined = json.dumps(half[:9]) + "\n" + json.dumps(half[9:])
    assert rows(read(joined)) == rows(read(JSON))


def test_a_quoted_line_break_is_no_new_row():
    text = edit(PSY, 4, "2026-05", '"two\nlines",2026-05').replace(
        "session,date", "session,note,date"
    )
    text = "\n".join(
        line if k in {0, 3, 4} else line.replace("2026-05", ",2026-05", 1)
        for k, line in enumerate(text.split("\n"))
    )
    table = read(text)
    assert not any(f.stops for f in table.findings)
    assert [p.line for p in table.presentations][:3] == [3, 4, 6]
