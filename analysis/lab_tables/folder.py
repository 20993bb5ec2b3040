"""Several files together: the same person twice, ids that are nearly one, files that are copies."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from statistics import median

from analysis.lab_tables.findings import LEFT_OUT, Consent, FindingLog
from analysis.lab_tables.presentations import Presentation
from analysis.lab_tables.reading import LabTable


def check_folder(
    tables: list[LabTable],
    *,
    consent: Consent,
    there_already: Iterable[str] = (),
    is_simulated: bool | None = None,
) -> list[LabTable]:
    """Return the tables with what shows only when they are seen together.

    Parameters
    ----------
    tables
        As read, in order.
    consent
        Which repairs are allowed.
    there_already
        Participants of the folder that is written into.
    is_simulated
        Whether the benchmark's people are simulated; None without one.
    """
    logs = [FindingLog(file=table.file, consent=consent) for table in tables]
    tables = _leave_out_copies(tables, logs)
    _check_people(tables, logs, there_already=set(there_already))
    _check_ids(tables, logs, there_already=there_already)
    _check_counts(tables, logs)
    if is_simulated is not None:
        _check_kind(tables, logs, is_simulated=is_simulated)
    return [
        replace(table, findings=(*table.findings, *log.findings))
        for table, log in zip(tables, logs, strict=True)
    ]


def _leave_out_copies(tables: list[LabTable], logs: list[FindingLog]) -> list[LabTable]:
    first: dict[str, str] = {}
    kept = []
    for table, log in zip(tables, logs, strict=True):
        earlier = first.setdefault(table.sha256, table.file)
        is_copy = earlier != table.file and bool(table.presentations)
        if is_copy and log.add(
            "file-twice", f"the same bytes as {earlier}", value=table.file, after=LEFT_OUT
        ):
            kept.append(replace(table, presentations=()))
        else:
            kept.append(table)
    return kept


def _check_people(
    tables: list[LabTable], logs: list[FindingLog], *, there_already: set[str]
) -> None:
    seen: dict[tuple[str, str], tuple[str, set[str]]] = {}
    for table, log in zip(tables, logs, strict=True):
        sessions: dict[tuple[str, str], list[Presentation]] = {}
        for p in table.presentations:
            sessions.setdefault((p.participant_id, p.session), []).append(p)
        for (person, session), items in sessions.items():
            who = f"participant {person!r}, session {session!r}"
            at = {
                "line": items[0].line,
                "column": table.columns.get("participant_id"),
                "value": person,
            }
            trials = {p.trial_id for p in items if not p.is_practice}
            if person in there_already:
                message = (
                    f"{who}: the output folder has responses of this person; move them away first"
                )
                log.add("participant-there-already", message, **at)
            elif (person, session) in seen:
                file, others = seen[person, session]
                if trials & others:
                    message = f"{who}: also in {file}, with {len(trials & others)} trials in both; is one of them somebody else?"
                    log.add("participant-in-two-files", message, **at)
                else:
                    log.add("participant-continues", f"{who}: begins in {file}", **at)
                seen[person, session] = (file, others | trials)
            else:
                seen[person, session] = (table.file, trials)


def _check_ids(
    tables: list[LabTable], logs: list[FindingLog], *, there_already: Iterable[str]
) -> None:
    known = {fold_id(person): person for person in there_already}
    for table, log in zip(tables, logs, strict=True):
        told: set[str] = set()
        for p in table.presentations:
            earlier = known.setdefault(fold_id(p.participant_id), p.participant_id)
            if earlier == p.participant_id or p.participant_id in told or not p.participant_id:
                continue
            told.add(p.participant_id)
            log.add(
                "ids-nearly-equal",
                f"{earlier!r} is another participant; one person? Then make the ids one; if there are "
                "two, --accept ids-nearly-equal",
                line=p.line,
                column=table.columns.get("participant_id"),
                value=p.participant_id,
            )


def fold_id(text: str) -> str:
    """Return what is left of an id without case, accents' form, zeros in front, spaces and dashes.

    >>> fold_id("Sub-007") == fold_id("sub 7")
    True
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\s_.-]+", "", plain))


def _check_counts(tables: list[LabTable], logs: list[FindingLog]) -> None:
    counts: dict[str, int] = {}
    for table in tables:
        for p in table.presentations:
            counts[p.participant_id] = counts.get(p.participant_id, 0) + (not p.is_practice)
    if len(counts) < 3:
        return
    usual = median(counts.values())
    for table, log in zip(tables, logs, strict=True):
        for person in dict.fromkeys(p.participant_id for p in table.presentations):
            if counts[person] * 2 < usual:
                message = (
                    f"participant {person!r}: {counts[person]} presentations, the others {usual:g}"
                )
                log.add("fewer-trials", message, value=counts[person])


def _check_kind(tables: list[LabTable], logs: list[FindingLog], *, is_simulated: bool) -> None:
    kinds = {True: "simulated", False: "real"}
    for table, log in zip(tables, logs, strict=True):
        for p in table.presentations:
            said = p.extra.get("is_simulated", "False").strip().lower() in {"true", "1"}
            if said != is_simulated:
                log.add(
                    "simulated-and-real",
                    f"the people of this table are {kinds[said]}, the benchmark's {kinds[is_simulated]}; "
                    "use a copy of the benchmark",
                    line=p.line,
                    column="is_simulated",
                    value=kinds[said],
                )
                break
