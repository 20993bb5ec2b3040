"""What was found, as few lines as it takes: findings of one rule together, all of them in JSON."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import PurePath

from analysis.lab_tables.findings import Finding, Status, shorten
from analysis.lab_tables.reading import LabTable
from analysis.lab_tables.rules import RULES, Severity

_N_PLACES = 3
_ORDER: dict[str, int] = {"error": 0, "repairable": 1, "note": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The findings of one rule in all files.

    Attributes
    ----------
    n_files
        How many files have them.
    findings
        All of them, in order.
    """

    rule: str
    severity: Severity
    status: Status
    n_files: int
    findings: tuple[Finding, ...]

    @property
    def title(self) -> str:
        """Severity, rule and counts in words."""
        n = len(self.findings)
        files = "" if self.n_files == 1 else f" in {self.n_files} files"
        status = {"repaired": ", repaired", "accepted": ", accepted"}.get(self.status, "")
        return f"{self.severity}{status}: {self.rule} x {n}{files}"

    @property
    def places(self) -> list[str]:
        """The first few places: file, line, column, value and what the repair makes of it."""
        shown = [_show_place(finding) for finding in self.findings[:_N_PLACES]]
        n_more = len(self.findings) - len(shown)
        return [*shown, f"… and {n_more} more (--json lists all)"] if n_more else shown


def _show_place(finding: Finding) -> str:
    line = "" if finding.line is None else f":{finding.line}"
    column = f" {finding.column}" if finding.column else ""
    value = f" {shorten(finding.value, limit=60)!r}" if finding.value else ""
    after = "" if finding.after is None else f" -> {shorten(finding.after, limit=60) or 'empty'!r}"
    return f"{finding.file}{line}{column}{value}{after}"


def group_findings(tables: list[LabTable]) -> list[Group]:
    """Return all findings by rule: errors, what could be repaired, what was, notes."""
    groups: dict[tuple[str, Severity, Status], list[Finding]] = {}
    for table in tables:
        for finding in table.findings:
            groups.setdefault((finding.rule, finding.severity, finding.status), []).append(finding)
    made = [
        Group(
            rule=rule,
            severity=severity,
            status=status,
            n_files=len({f.file for f in findings}),
            findings=tuple(findings),
        )
        for (rule, severity, status), findings in groups.items()
    ]
    return sorted(made, key=lambda g: (g.status != "open", _ORDER[g.severity]))


def explain_formats(tables: list[LabTable]) -> list[str]:
    """Return what the files are and why, once for each kind."""
    kinds = Counter((t.format, t.why) for t in tables if t.format)
    return [f"{name} ({n} file{'s' if n > 1 else ''}): {why}" for (name, why), n in kinds.items()]


def tabulate_files(tables: list[LabTable]) -> list[tuple[str, ...]]:
    """Return a row per file: name, format, how it was read, people, presentations, findings."""
    rows = []
    for table in tables:
        stopping = Counter(f.severity for f in table.findings if f.stops)
        read = " ".join(text for text in (table.encoding, table.delimiter, table.unit) if text)
        rows.append(
            (
                PurePath(table.file).name,
                table.format or "?",
                read,
                _name_people(table),
                str(len(table.presentations)),
                str(stopping["error"] or ""),
                str(stopping["repairable"] or ""),
                str(sum(not f.stops for f in table.findings) or ""),
            )
        )
    return rows


FILE_COLUMNS = ("file", "format", "read as", "people", "rows", "errors", "repair", "other")


def _name_people(table: LabTable) -> str:
    people = list(dict.fromkeys(p.participant_id for p in table.presentations))
    return ", ".join(people) if len(people) < 3 else f"{len(people)} people"


def count_findings(table: LabTable) -> dict[str, int]:
    """Return how many findings each rule has in a file."""
    return dict(Counter(finding.rule for finding in table.findings))


def is_clean(table: LabTable) -> bool:
    """Return whether nothing stands open in a file."""
    return not any(finding.stops for finding in table.findings)


def advise(tables: list[LabTable]) -> list[str]:
    """Return what to do next, in order."""
    stopping = [f for table in tables for f in table.findings if f.stops]
    errors = sorted({f.rule for f in stopping if f.severity == "error"})
    safe = sorted(
        {f.rule for f in stopping if f.severity == "repairable" and RULES[f.rule].is_safe}
    )
    judged = sorted({f.rule for f in stopping if f.severity == "repairable"} - set(safe))
    lines = []
    if errors:
        lines.append(f"correct, or declare what is meant: {', '.join(errors)}")
        accept = [rule for rule in errors if RULES[rule].may_accept]
        if accept:
            lines.append("right as it is? " + " ".join(f"--accept {rule}" for rule in accept))
    if safe:
        lines.append(f"--repair all-safe repairs {', '.join(safe)}")
    if judged:
        lines.append("after looking at them: " + " ".join(f"--repair {rule}" for rule in judged))
    return lines


def summarise(tables: list[LabTable]) -> dict[str, object]:
    """Return everything found, for a program."""
    every = [finding for table in tables for finding in table.findings]
    return {
        "n_files": len(tables),
        "n_clean": sum(map(is_clean, tables)),
        "n_open": sum(finding.stops for finding in every),
        "by_rule": dict(Counter(finding.rule for finding in every)),
        "advice": advise(tables),
        "files": [
            {
                "file": table.file,
                "is_clean": is_clean(table),
                "format": table.format,
                "why": table.why,
                "encoding": table.encoding,
                "delimiter": table.delimiter,
                "unit": table.unit,
                "columns": table.columns,
                "columns_not_read": list(table.unused),
                "n_presentations": len(table.presentations),
                "people": list(dict.fromkeys(p.participant_id for p in table.presentations)),
                "findings": [asdict(finding) for finding in table.findings],
            }
            for table in tables
        ],
    }
