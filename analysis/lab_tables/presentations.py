"""What a row says, in our words: one presentation with its outcome and answer."""

from dataclasses import dataclass, field, replace
from typing import Literal

from analysis.lab_tables.drafts import Draft, DraftTable
from analysis.lab_tables.findings import FindingLog

Answer = Literal["same", "different", ""]
OPPOSITE: dict[str, Answer] = {"same": "different", "different": "same"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """One row in our words; "" is missing.

    Attributes
    ----------
    line
        Physical line in the file.
    said_correct
        What the table says of right and wrong; None where it doesn't.
    truth
        What the display shows: by the benchmark, else by the table.
    rt_s
        Plain numeral in seconds, digits as in the file.
    position
        Trial number; None where there is none.
    is_derived
        The answer was not in the table and follows from truth and accuracy.
    extra
        All cells of our own tables as they stand; columns that nothing repaired are kept.
    """

    line: int
    participant_id: str
    session: str
    trial_id: str
    is_practice: bool
    outcome: str
    response: str
    rt_s: str
    said_correct: bool | None
    truth: str
    position: int | None = None
    key: str = ""
    same_key: str = ""
    block: str = ""
    started_at: str = ""
    is_derived: bool = False
    extra: dict[str, str] = field(default_factory=dict)

    def but(self, **changes: object) -> "Presentation":
        """Return the presentation with other values."""
        return replace(self, **changes)  # type: ignore[arg-type]  (fields of this class)


def describe(p: Presentation) -> str:
    """Return a presentation as the record of changes shows it."""
    cells = (p.participant_id, p.session, p.trial_id, p.outcome, p.response, p.rt_s)
    return ",".join(cells)


def interpret(
    table: DraftTable, log: FindingLog, *, truths: dict[str, bool] | None
) -> list[Presentation]:
    """Return the presentations of a table, its codes read.

    Parameters
    ----------
    table
        Cells cleaned, RTs read.
    log
        Takes the findings.
    truths
        Trial id to whether both dots lie on one object; None without a benchmark.
    """
    keys = _find_response_keys(table)
    shown = [
        _interpret(draft, table, log, truths=truths or {}, keys=keys) for draft in table.drafts
    ]
    unknown = [p for p in shown if not p.outcome and not p.is_practice]
    if unknown and log.is_readable:
        log.add(
            "outcome-unknown",
            f"{len(unknown)} answers are neither right nor wrong: give a column for outcome or "
            "is_correct, or response (or key and same_key) and --benchmark",
            line=unknown[0].line,
        )
    if table.mapping.format == "eyelink":
        _note_silence(table, shown, log)
    return shown


def _interpret(
    draft: Draft,
    table: DraftTable,
    log: FindingLog,
    *,
    truths: dict[str, bool],
    keys: tuple[str, ...],
) -> Presentation:
    texts = draft.texts
    is_practice = _decode(draft, "is_practice", table=table, log=log) == "true"
    said = _decode(draft, "is_correct", table=table, log=log)
    outcome = draft.forced_outcome or _decode(draft, "outcome", table=table, log=log)
    truth = _read_truth(draft, table, log, truths=truths)
    response = _read_response(draft, table, log, keys=keys)
    said_correct = {"true": True, "false": False}.get(said)
    if not said and outcome in {"correct", "wrong"}:
        said_correct = outcome == "correct"
    is_silent = not (texts["rt"] or texts["key"] or texts["response"])
    if not outcome and is_silent:
        outcome, said_correct = table.mapping.no_response, None
    if outcome not in {"", "correct", "wrong"}:
        said_correct = None
    elif not outcome:
        outcome = _judge(said_correct, response, truth)
    position = texts["position"].removesuffix(".0")
    shown = Presentation(
        line=draft.line,
        participant_id=texts["participant_id"],
        session=texts["session"],
        trial_id=texts["trial_id"],
        is_practice=is_practice,
        outcome=outcome,
        response=response,
        rt_s=texts["rt"],
        said_correct=said_correct,
        truth=truth,
        position=int(position) if position.isdigit() else None,
        key=texts["key"],
        same_key=texts["same_key"],
        block=texts["block"],
        started_at=texts["started_at"],
        extra=draft.extra,
    )
    return _derive_response(shown, table)


def _judge(said_correct: bool | None, response: str, truth: str) -> str:
    """Return correct or wrong: as the table says, else from answer and truth; "" if neither tells."""
    if said_correct is None and response and truth:
        said_correct = response == truth
    return {True: "correct", False: "wrong", None: ""}[said_correct]


def _derive_response(shown: Presentation, table: DraftTable) -> Presentation:
    """Fill an answer that follows from truth and accuracy, except in our own tables."""
    if table.mapping.format == "objecthood" or shown.response or not shown.truth:
        return shown
    if shown.outcome not in {"correct", "wrong"}:
        return shown
    answer = shown.truth if shown.outcome == "correct" else OPPOSITE[shown.truth]
    return shown.but(response=answer, is_derived=True)


def _decode(draft: Draft, column: str, *, table: DraftTable, log: FindingLog) -> str:
    text = draft.texts[column]
    if not text:
        return ""
    ours = table.mapping.decode(column, text)
    if ours is None:
        words = ", ".join(word for them in table.mapping.codes[column].values() for word in them)
        log.add(
            "unknown-code",
            f"known for {column}: {words}; explain it in a mapping file under [codes.{column}]",
            line=draft.line,
            column=table.names.get(column, column),
            value=text,
        )
        return ""
    return ours


def _read_truth(
    draft: Draft, table: DraftTable, log: FindingLog, *, truths: dict[str, bool]
) -> str:
    text = draft.texts["truth"]
    said = (table.mapping.decode("response", text) or "") if text else ""
    known = {True: "same", False: "different", None: ""}[truths.get(draft.texts["trial_id"])]
    if said and known and said != known:
        log.add(
            "truth-contradicts",
            f"the benchmark says {known!r} of trial {draft.texts['trial_id']!r}: another version of "
            "the displays?",
            line=draft.line,
            column=table.names["truth"],
            value=text,
        )
    return known or said


def _read_response(
    draft: Draft, table: DraftTable, log: FindingLog, *, keys: tuple[str, ...]
) -> str:
    texts = draft.texts
    if texts["response"]:
        return _decode(draft, "response", table=table, log=log)
    key, same_key = plain_key(texts["key"]), plain_key(texts["same_key"])
    if not key or table.mapping.format == "objecthood":
        return ""
    if key not in keys:
        log.add(
            "unknown-key",
            f"expected one of the two response keys, {' and '.join(map(repr, keys))}",
            line=draft.line,
            column=table.names["key"],
            value=texts["key"],
        )
        return ""
    coded = table.mapping.decode("response", texts["key"])
    if coded is not None:
        return coded
    return ("same" if key == same_key else "different") if same_key else ""


def plain_key(text: str) -> str:
    """Return a key's name as it is compared: a button 6.0 is the button 6."""
    return text.removesuffix(".0") if text.removesuffix(".0").isdigit() else text


def _find_response_keys(table: DraftTable) -> tuple[str, ...]:
    """Return the two keys that are pressed most; those that mean "same" are among them."""
    pressed: dict[str, int] = {}
    for draft in table.drafts:
        key = plain_key(draft.texts["key"])
        if key:
            pressed[key] = pressed.get(key, 0) + 1
    coded = [key for key in pressed if table.mapping.decode("response", key) is not None]
    named = {plain_key(d.texts["same_key"]) for d in table.drafts} & set(pressed)
    rest = sorted(set(pressed) - set(coded) - named, key=lambda key: -pressed[key])
    chosen = [*coded, *sorted(named)]
    return tuple(chosen + rest[: max(2 - len(chosen), 0)])


def _note_silence(table: DraftTable, shown: list[Presentation], log: FindingLog) -> None:
    silent = [p for p in shown if p.outcome == table.mapping.no_response]
    if silent:
        log.add(
            "no-response-reason",
            f"{len(silent)} presentations without an answer are read as "
            f"{table.mapping.no_response!r}; where gaze breaks end trials, say so in a mapping file: "
            'no_response = "gaze_break"',
            line=silent[0].line,
        )
