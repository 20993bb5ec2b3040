"""Findings: what is wrong where, and what a repair would make of it.

A finding with `after` is also a proposed change. Reading goes on as if the proposal held, so that one
pass finds everything; nothing is written while a proposal that no flag allows is among the findings.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from analysis.lab_tables.rules import RULES, Severity
from stimuli.errors import InputError
from stimuli.table_io import name_some

ALL_SAFE = "all-safe"
LEFT_OUT = "(left out)"
Status = Literal["open", "repaired", "accepted", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a repair did to one value; `column` None is the whole row or line."""

    line: int | None
    column: str | None
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault at one place.

    Attributes
    ----------
    file
        As given.
    line
        Physical line in the file, from 1; None for the whole file.
    column
        The column's name in the file; None for a row or a file.
    value
        What stands there.
    rule, severity
        See `analysis.lab_tables.rules`. A repairable rule counts as an error where this value can't
        be repaired.
    message
        What was expected, and what to do.
    after
        What the repair makes of the value ("" is an empty cell); None where there is no repair.
    also
        What else the same repair changes.
    status
        What the flags say of it.
    """

    file: str
    line: int | None
    column: str | None
    value: str
    rule: str
    severity: Severity
    message: str
    after: str | None = None
    also: tuple[Change, ...] = ()
    status: Status = "open"

    @property
    def stops(self) -> bool:
        """Whether nothing can be written while this finding stands."""
        return self.status == "open"

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the repair changes, if it is made."""
        if self.after is None:
            return ()
        own = Change(line=self.line, column=self.column, before=self.value, after=self.after)
        return (own, *self.also)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """Which rules the user lets repair, and which findings are right as they are."""

    repair: frozenset[str] = frozenset()
    accept: frozenset[str] = frozenset()


def parse_consent(repair: Iterable[str], accept: Iterable[str]) -> Consent:
    """Return what the flags allow.

    Raises
    ------
    InputError
        A rule that doesn't exist, that nothing can repair, or that can't be accepted.
    """
    asked, accepted = set(repair), set(accept)
    named = asked - {ALL_SAFE}
    _check_names(named, "--repair", {n for n, rule in RULES.items() if rule.repair is not None})
    _check_names(accepted, "--accept", {n for n, rule in RULES.items() if rule.may_accept})
    both = sorted(named & accepted)
    if both:
        raise InputError(f"{name_some(both)}: repaired or accepted, not both; give one flag")
    safe = {name for name, rule in RULES.items() if rule.is_safe} if ALL_SAFE in asked else set()
    return Consent(repair=frozenset((named | safe) - accepted), accept=frozenset(accepted))


def _check_names(names: set[str], flag: str, possible: set[str]) -> None:
    wrong = sorted(names - possible)
    if not wrong:
        return
    unknown = [name for name in wrong if name not in RULES]
    if unknown:
        raise InputError(
            f"{flag}: no rule {name_some(unknown)}; 'objecthood data check --list-rules' names them"
        )
    raise InputError(f"{flag}: not possible for {name_some(wrong)}; possible: {_list(possible)}")


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A value and where it stands."""

    line: int | None
    column: str | None
    value: str


@dataclass(slots=True, kw_only=True)
class FindingLog:
    """What was found in one file so far."""

    file: str
    consent: Consent = field(default_factory=Consent)
    findings: list[Finding] = field(default_factory=list)

    def add(
        self,
        rule: str,
        message: str,
        *,
        line: int | None = None,
        column: str | None = None,
        value: object = "",
        after: str | None = None,
        also: Iterable[Change] = (),
    ) -> bool:
        """Note a finding and return whether reading goes on with `after` instead of the value."""
        severity = RULES[rule].severity
        if severity == "repairable" and after is None:
            severity = "error"
        finding = Finding(
            file=self.file,
            line=line,
            column=column,
            value=str(value),
            rule=rule,
            severity=severity,
            message=message,
            after=after,
            also=tuple(also),
        )
        self.findings.append(replace(finding, status=_judge(finding, self.consent)))
        return after is not None and rule not in self.consent.accept

    def add_at(
        self,
        rule: str,
        message: str,
        *,
        at: Place,
        after: str | None = None,
        also: Iterable[Change] = (),
    ) -> bool:
        """Note a finding about one value; see `add`."""
        return self.add(
            rule,
            message,
            line=at.line,
            column=at.column,
            value=at.value,
            after=after,
            also=also,
        )

    @property
    def is_readable(self) -> bool:
        """Whether no error stands open so far."""
        return not any(f.severity == "error" and f.status == "open" for f in self.findings)


def _judge(finding: Finding, consent: Consent) -> Status:
    if finding.severity == "note":
        return "note"
    if finding.rule in consent.accept:
        return "accepted"
    if finding.after is not None and finding.rule in consent.repair:
        return "repaired"
    return "open"


def shorten(text: str, *, limit: int = 120) -> str:
    """Return a value as a message shows it.

    >>> shorten("a" * 9, limit=5)
    'aaaa…'
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"
