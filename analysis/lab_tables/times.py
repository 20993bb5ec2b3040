"""Reaction times: numerals, time-outs written as numbers, the unit, and what clocks get wrong."""

from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from statistics import median

from analysis.lab_tables.drafts import Draft, DraftTable
from analysis.lab_tables.findings import Change, FindingLog, Place
from analysis.lab_tables.numerals import (
    find_decimal_mark,
    has_thousands,
    is_ambiguous,
    parse_number,
    plain_numeral,
    to_seconds,
)

# A median outside stops and asks (pitfalls: jsPsych 1675); seconds.
PLAUSIBLE_MEDIAN_S = (0.1, 10.0)
# Single values that would be as plausible in the other unit; seconds.
_TOO_LONG_S, _TOO_SHORT_S = Decimal(60), Decimal("0.02")
_OTHER_UNIT_S = (Decimal("0.1"), Decimal(20))
_BELOW_PEOPLE_S = Decimal("0.1")
_NEGATIVE_CODES = frozenset({-1, -9, -99, -999, -9999})
_HIGH_CODES = frozenset({99, 999, 9999, 99999, 999999})
# Half a frame at 60 Hz and some: an answer in the last frame is none after the time-out.
_TIMEOUT_SLACK_S = Decimal("0.02")
_SCALE = {"s": Decimal(1), "ms": Decimal("0.001")}


def read_times(table: DraftTable, log: FindingLog) -> DraftTable:
    """Return the table with RTs as plain seconds; time-outs have the outcome and no RT."""
    table = _read_numerals(table, log)
    table = _take_out_codes(table, log)
    _check_median(table, log)
    table = table.with_drafts(_mend_unit(draft, table, log) for draft in table.drafts)
    unit = table.mapping.unit
    table = table.with_drafts(
        d.but(rt=to_seconds(d.texts["rt"], unit)) if d.texts["rt"] else d for d in table.drafts
    )
    _check_clocks(table, log)
    return table.with_drafts(_check_limits(draft, table, log) for draft in table.drafts)


def has_answer(draft: Draft) -> bool:
    """Return whether a row says that the person answered."""
    if draft.texts["outcome"]:
        return draft.texts["outcome"] in {"correct", "wrong"}
    return bool(draft.texts["key"] or draft.texts["response"])


def _where(draft: Draft, table: DraftTable) -> Place:
    return Place(line=draft.line, column=table.names.get("rt"), value=draft.texts["rt"])


def _read_numerals(table: DraftTable, log: FindingLog) -> DraftTable:
    codes = table.mapping.codes.get("rt", {}).get("timeout", ())
    texts = [d.texts["rt"] for d in table.drafts if d.texts["rt"] and d.texts["rt"] not in codes]
    mark = table.mapping.decimal or find_decimal_mark(texts)
    return table.with_drafts(_read_numeral(draft, table, log, mark=mark) for draft in table.drafts)


def _read_numeral(draft: Draft, table: DraftTable, log: FindingLog, *, mark: str | None) -> Draft:
    text = draft.texts["rt"]
    if not text or table.mapping.decode("rt", text) is not None:
        return draft
    at = _where(draft, table)
    plain = plain_numeral(text)
    if parse_number(plain) is None:
        message = "expected a number, or an empty cell for no answer; codes go into a mapping file"
        log.add_at("rt-not-number", message, at=at)
        return draft.but(rt="")
    if has_thousands(text):
        message = "expected a number without separators of thousands"
        log.add_at("thousands-separator", message, at=at, after=plain)
    elif is_ambiguous(text) and (mark is None or mark not in text):
        log.add_at(
            "decimal-comma-ambiguous",
            f"{plain} or {plain.replace('.', '')}? Say which: --decimal , or --decimal .",
            at=at,
        )
    elif "," in text and mark == ".":
        message = "other values of this column have decimal points"
        log.add_at("decimal-marks-mixed", message, at=at, after=plain)
    return draft.but(rt=plain)


def _take_out_codes(table: DraftTable, log: FindingLog) -> DraftTable:
    """Turn time-outs that are written as numbers, or as the format's code, into outcomes."""
    scale = _SCALE[table.mapping.unit]
    numbers = [parse_number(d.texts["rt"]) for d in table.drafts]
    answered = [n for n, d in zip(numbers, table.drafts, strict=True) if n and has_answer(d)]
    longest = max(answered, default=Decimal(0))
    counts = Counter(n for n in numbers if n is not None)
    drafts = []
    for draft, number in zip(table.drafts, numbers, strict=True):
        if draft.texts["rt"] and table.mapping.decode("rt", draft.texts["rt"]) == "timeout":
            drafts.append(draft.but(rt="", forced_outcome="timeout"))
        elif number is None:
            drafts.append(draft)
        elif _is_code(number, draft, table, n_same=counts[number], scale=scale):
            drafts.append(_take_code(draft, table, log))
        elif table.tells_answers and not has_answer(draft):
            drafts.append(_judge_unanswered(draft, table, log, is_longest=number >= longest))
        else:
            drafts.append(draft)
    return table.with_drafts(drafts)


def _is_code(
    number: Decimal, draft: Draft, table: DraftTable, *, n_same: int, scale: Decimal
) -> bool:
    """Whether a number can't be an RT, or is a usual code where nobody answered."""
    if number in _NEGATIVE_CODES:
        return True
    is_implausible = number * scale > _TOO_LONG_S
    if table.tells_answers:
        is_code = number in _HIGH_CODES or number == 0
        return is_code and (is_implausible or not has_answer(draft))
    return number in _HIGH_CODES and (is_implausible or n_same > 2)


def _take_code(draft: Draft, table: DraftTable, log: FindingLog) -> Draft:
    at, also = _where(draft, table), _list_voided(draft, table, outcome="timeout")
    if table.tells_answers and has_answer(draft):
        message = "a code for no answer, but an answer stands beside it; look at the raw data"
        log.add_at("timeout-code-with-answer", message, at=at, after="", also=also)
        return _void(draft)
    message = "missing is an empty cell and the outcome timeout; or declare it: [codes.rt] timeout"
    log.add_at("timeout-code", message, at=at, after="", also=also)
    return _void(draft)


def _judge_unanswered(
    draft: Draft, table: DraftTable, log: FindingLog, *, is_longest: bool
) -> Draft:
    """Tell the time-out value from a contradiction, where nobody answered and an RT stands."""
    outcome = draft.texts["outcome"]
    at = _where(draft, table)
    if outcome == "timeout":
        log.add_at(
            "timeout-with-rt",
            "there is no reaction time where nobody reacted",
            at=at,
            after="",
        )
        return _void(draft)
    if outcome:
        return draft  # early, gaze_break and aborted may have a time
    if is_longest:
        message = "no answer, and as long as the longest RT: the time-out itself"
        also = _list_voided(draft, table, outcome="timeout")
        log.add_at("timeout-code", message, at=at, after="", also=also)
        return _void(draft)
    message = "expected the answer beside it; look at the raw data"
    log.add_at("rt-without-answer", message, at=at)
    return draft


def _list_voided(draft: Draft, table: DraftTable, *, outcome: str) -> tuple[Change, ...]:
    """Return what a repair changes besides the RT: the outcome, and an answer that is none."""
    after = {"outcome": outcome} | ({"key": "", "response": ""} if outcome == "timeout" else {})
    before = {name: draft.texts[name] for name in after}
    return tuple(
        Change(
            line=draft.line,
            column=table.names.get(name, name),
            before=before[name],
            after=text,
        )
        for name, text in after.items()
        if before[name] != text
    )


def _void(draft: Draft) -> Draft:
    return draft.but(rt="", key="", response="", forced_outcome="timeout")


def _check_median(table: DraftTable, log: FindingLog) -> None:
    scale = _SCALE[table.mapping.unit]
    times = [n * scale for d in table.drafts if (n := parse_number(d.texts["rt"])) and n > 0]
    if not times:
        return
    middle = float(median(times))
    low, high = PLAUSIBLE_MEDIAN_S
    if low <= middle <= high:
        return
    other, factor = ("s", 1000.0) if table.mapping.unit == "ms" else ("ms", 0.001)
    log.add(
        "unit-implausible",
        f"the median RT would be {middle:.4g} s (read as {table.mapping.unit}); as {other} it would be "
        f"{middle * factor:.4g} s. If that is right, give --unit {other}",
        line=next((d.line for d in table.drafts if d.texts["rt"]), None),
        column=table.names.get("rt"),
        value=f"median {middle:.4g} s",
    )


def _mend_unit(draft: Draft, table: DraftTable, log: FindingLog) -> Draft:
    """Bring a single value of the other unit to the table's."""
    number = parse_number(draft.texts["rt"])
    if number is None or number <= 0 or _has_open(log, "unit-implausible"):
        return draft
    unit = table.mapping.unit
    seconds = number * _SCALE[unit]
    if unit == "s":
        is_other, mended = seconds > _TOO_LONG_S, number.scaleb(-3)
    else:
        # Whole milliseconds below 20 are anticipations: the published data hold one of 5 ms.
        is_fraction = number != number.to_integral_value()
        is_other, mended = seconds < _TOO_SHORT_S and is_fraction, number.scaleb(3)
    low, high = _OTHER_UNIT_S
    if not (is_other and low <= mended * _SCALE[unit] <= high):
        return draft
    text = format(mended, "f")
    message = f"{seconds:f} s among times in {unit}; the other unit makes it plausible"
    is_mended = log.add_at("unit-mixed", message, at=_where(draft, table), after=text)
    return draft.but(rt=text) if is_mended else draft


def _has_open(log: FindingLog, rule: str) -> bool:
    return any(finding.rule == rule for finding in log.findings)


def _check_limits(draft: Draft, table: DraftTable, log: FindingLog) -> Draft:
    """Check one RT in seconds against onset and time-out."""
    number = parse_number(draft.texts["rt"])
    at = _where(draft, table)
    if number is None:
        is_silent = not draft.forced_outcome and has_answer(draft)
        if is_silent and table.tells_answers:
            log.add_at("answer-without-rt", "expected the reaction time", at=at)
        return draft
    at = replace(at, value=f"{number:f} s")
    if number <= 0:
        message = "an answer at or before onset: a key held down, or a clock that was not reset"
        also = _list_voided(draft, table, outcome="early")
        if log.add_at("rt-not-positive", message, at=at, after="", also=also):
            return draft.but(rt="", forced_outcome="early")
        return draft
    limit = table.mapping.timeout_s
    if limit is not None and number > Decimal(str(limit)) + _TIMEOUT_SLACK_S:
        message = f"the time-out is {limit:g} s: the time-out is another, or the clock was late"
        also = _list_voided(draft, table, outcome="timeout")
        if log.add_at("rt-above-timeout", message, at=at, after="", also=also):
            return _void(draft)
    if number < _BELOW_PEOPLE_S:
        log.add_at("rt-below-100ms", "kept; an exclusion rule (rt_below) decides", at=at)
    return draft


def _check_clocks(table: DraftTable, log: FindingLog) -> None:
    """Look for RTs that only rise, or never change, within a person and session."""
    groups: dict[tuple[str, str], list[tuple[Draft, Decimal]]] = defaultdict(list)
    for draft in table.drafts:
        number = parse_number(draft.texts["rt"])
        if number is not None:
            key = (draft.texts["participant_id"], draft.texts["session"])
            groups[key].append((draft, number))
    for (person, _), items in groups.items():
        numbers = [number for _, number in items]
        first_few = ", ".join(f"{n:f}" for n in numbers[:4]) + ", …"
        at = replace(_where(items[0][0], table), value=first_few)
        if len(numbers) >= 5 and len(set(numbers)) == 1:
            message = (
                f"participant {person!r}: {len(numbers)} times the same number, which people can't"
            )
            log.add_at("rt-constant", message, at=at)
        elif len(numbers) >= 8 and _share_rising(numbers) >= 0.9:
            message = (
                f"participant {person!r}: each RT is longer than the one before, so they are times "
                "since the session began; subtract each trial's onset"
            )
            log.add_at("rt-rising", message, at=at)


def _share_rising(numbers: list[Decimal]) -> float:
    n = sum(b > a for a, b in pairwise(numbers))
    return n / (len(numbers) - 1)
