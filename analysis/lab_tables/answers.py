"""Right and wrong against what was said and is true; people who can't be right."""

from collections.abc import Iterable

from analysis.lab_tables.findings import Change, FindingLog
from analysis.lab_tables.presentations import OPPOSITE, Presentation

_MOSTLY = 0.9
_N_TO_JUDGE = 8
_N_FOR_NOTES = 50
_N_FOR_CHANCE = 20
_BELOW_CHANCE = 0.3
_IS_CORRECT = {"correct": True, "wrong": False}
_INVERSE = {"correct": "wrong", "wrong": "correct"}


def check_answers(shown: list[Presentation], log: FindingLog) -> list[Presentation]:
    """Return the presentations, swapped where nearly all of a person's contradict; findings noted."""
    mended: dict[int, Presentation] = {}
    for _, items in group_by_person(shown):
        kept = _check_person(items, log)
        mended |= {id(before): after for before, after in zip(items, kept, strict=True)}
    return [mended[id(p)] for p in shown]


def group_by_person(
    shown: Iterable[Presentation],
) -> list[tuple[tuple[str, str], list[Presentation]]]:
    """Return the presentations of each participant and session, in the file's order."""
    groups: dict[tuple[str, str], list[Presentation]] = {}
    for p in shown:
        groups.setdefault((p.participant_id, p.session), []).append(p)
    return list(groups.items())


def _check_person(items: list[Presentation], log: FindingLog) -> list[Presentation]:
    known = [p for p in items if _can_be_judged(p)]
    wrong = [p for p in known if _contradicts(p)]
    if len(known) >= _N_TO_JUDGE and len(wrong) >= _MOSTLY * len(known):
        what = "accuracy" if _accuracy(known) < 0.5 else "answers"
        is_swapped = log.add(
            "accuracy-inverted",
            f"participant {known[0].participant_id!r}: {len(wrong)} of {len(known)} rows contradict "
            "answer and truth, so the keys' meaning is swapped",
            line=known[0].line,
            value=f"{what} as in the table",
            after=f"{what} swapped",
            also=[_describe_swap(p, what) for p in items if _swap(p, what) != p],
        )
        items = [_swap(p, what) for p in items] if is_swapped else items
        wrong = [p for p in items if _can_be_judged(p) and _contradicts(p)]
    for p in wrong:
        log.add(
            "accuracy-contradicts",
            f"the answer was {p.response!r} and the display shows {p.truth!r}; find out from the raw "
            "data which of them is right",
            line=p.line,
            value="correct" if p.said_correct else "wrong",
        )
    _note_oddities([p for p in items if not p.is_practice], log)
    return items


def _can_be_judged(p: Presentation) -> bool:
    """Whether truth, answer and accuracy all stand in the table."""
    return p.said_correct is not None and bool(p.truth and p.response) and not p.is_derived


def _contradicts(p: Presentation) -> bool:
    return p.said_correct != (p.response == p.truth)


def _swap(p: Presentation, what: str) -> Presentation:
    if what == "answers":
        return p.but(response=OPPOSITE.get(p.response, ""))
    said = None if p.said_correct is None else not p.said_correct
    return p.but(outcome=_INVERSE.get(p.outcome, p.outcome), said_correct=said)


def _describe_swap(p: Presentation, what: str) -> Change:
    column = "response" if what == "answers" else "outcome"
    before, after = getattr(p, column), getattr(_swap(p, what), column)
    return Change(line=p.line, column=column, before=before, after=after)


def _accuracy(items: list[Presentation]) -> float:
    """Return the share of correct among answers; NaN without any."""
    answered = [_IS_CORRECT[p.outcome] for p in items if p.outcome in _IS_CORRECT]
    return sum(answered) / len(answered) if answered else float("nan")


def _note_oddities(items: list[Presentation], log: FindingLog) -> None:
    answered = [p for p in items if p.outcome in _IS_CORRECT]
    if not answered:
        return
    who = f"participant {answered[0].participant_id!r}"
    n, line, accuracy = len(answered), answered[0].line, _accuracy(answered)
    if n >= _N_FOR_CHANCE and accuracy < _BELOW_CHANCE:
        log.add(
            "accuracy-below-chance",
            f"{who}: {accuracy:.0%} of {n} correct; are the keys swapped, or 1 and 0? If it is so, "
            "--accept it and let an exclusion rule decide",
            line=line,
            value=f"{accuracy:.3f}",
        )
    if n >= _N_FOR_NOTES and accuracy == 1:
        log.add("no-errors", f"{who}: all {n} answers are correct", line=line, value=n)
    responses = {p.response for p in answered}
    if n >= _N_FOR_CHANCE and len(responses) == 1 and responses != {""}:
        log.add(
            "one-answer-only", f"{who}: {n} times the same answer", line=line, value=responses.pop()
        )
