"""Ids against the benchmark, presentations that come twice, sessions that begin again."""

import difflib
from collections.abc import Iterable

from analysis.lab_tables.answers import group_by_person
from analysis.lab_tables.findings import LEFT_OUT, Change, FindingLog
from analysis.lab_tables.presentations import Presentation, describe

# After these a display may be shown again by design.
_REPEATED = frozenset({"aborted", "gaze_break", "early"})


def check_ids(
    shown: list[Presentation], log: FindingLog, *, trial_ids: Iterable[str] | None
) -> list[Presentation]:
    """Return the presentations as they are; missing and unknown ids are noted.

    Parameters
    ----------
    shown
        The presentations of a file.
    log
        Takes the findings.
    trial_ids
        Of the benchmark; None without one. Practice may come from another.
    """
    known = None if trial_ids is None else set(trial_ids)
    told: set[str] = set()
    for p in shown:
        for column, value in (("participant_id", p.participant_id), ("trial_id", p.trial_id)):
            if not value:
                log.add("missing-id", f"expected a {column}", line=p.line, column=column)
        if known is None or p.is_practice or not p.trial_id or p.trial_id in known:
            continue
        near = [] if p.trial_id in told else difflib.get_close_matches(p.trial_id, known, n=1)
        told.add(p.trial_id)
        hint = f"; near: {near[0]!r}" if near else ""
        log.add(
            "unknown-trial",
            f"not in the benchmark's trials.csv{hint}",
            line=p.line,
            column="trial_id",
            value=p.trial_id,
        )
    return shown


def check_order(shown: list[Presentation], log: FindingLog) -> list[Presentation]:
    """Return the presentations without what a restart or a second presentation supersedes."""
    left_out: set[int] = set()
    for (person, session), items in group_by_person(shown):
        who = f"participant {person!r}, session {session!r}"
        kept = _leave_out_restarted(items, log, who=who)
        left_out |= {id(p) for p in items} - {id(p) for p in kept}
        again = _find_repetitions(kept, log, who=who)
        left_out |= {id(p) for p in again}
    return [p for p in shown if id(p) not in left_out]


def _leave_out_restarted(
    items: list[Presentation], log: FindingLog, *, who: str
) -> list[Presentation]:
    """Leave out what stands before a restart, with the rows that it makes worthless noted."""
    start = 0
    for k in range(1, len(items)):
        before, now = items[k - 1], items[k]
        reason = _why_restarted(before, now)
        if reason is None:
            continue
        seen = {p.trial_id for p in items[start:k]}
        n_again = sum(p.trial_id in seen for p in items[k:])
        at = {"line": now.line, "column": "position" if now.position is not None else None}
        if not n_again:
            if reason == "the trial number falls back":
                value = f"{before.position} -> {now.position}"
                log.add("position-falls", f"{who}: a new block?", value=value, **at)
            continue
        message = (
            f"{who}: {reason} here and {n_again} trials return; the {k - start} presentations before "
            "are of a run that was restarted"
        )
        value = f"{k - start} presentations, lines {items[start].line}-{before.line}"
        gone = [
            Change(line=p.line, column=None, before=describe(p), after=LEFT_OUT)
            for p in items[start:k]
        ]
        if log.add("restart", message, value=value, after="the run from here on", also=gone, **at):
            start = k
    return items[start:]


def _why_restarted(before: Presentation, now: Presentation) -> str | None:
    if before.started_at and now.started_at and before.started_at != now.started_at:
        is_own = bool(now.extra)  # ours is the trial's start, which differs from row to row
        if not is_own:
            return f"another session begins ({now.started_at})"
    if before.position is not None and now.position is not None and now.position < before.position:
        return "the trial number falls back"
    return None


def _find_repetitions(
    items: list[Presentation], log: FindingLog, *, who: str
) -> list[Presentation]:
    first: dict[str, Presentation] = {}
    again = []
    for p in items:
        if p.is_practice or not p.trial_id:
            continue
        earlier = first.get(p.trial_id)
        if earlier is None or earlier.outcome in _REPEATED:
            first[p.trial_id] = p
            continue
        if log.add(
            "presented-twice",
            f"{who}: trial {p.trial_id!r} stands on line {earlier.line} already, with other values",
            line=p.line,
            column="trial_id",
            value=p.trial_id,
            after=LEFT_OUT,
        ):
            again.append(p)
    return again
