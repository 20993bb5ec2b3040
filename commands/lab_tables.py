"""`objecthood data check` and `data import-responses`: any lab's tables to response tables."""

import codecs
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import OUT, print_json, print_result, progress_bar, say

if TYPE_CHECKING:
    import pandas as pd

    from analysis.lab_tables.findings import Consent
    from analysis.lab_tables.reading import Declared, LabTable


class Unit(StrEnum):
    """Units of reaction times."""

    MS = "ms"
    S = "s"


Files = Annotated[list[Path] | None, typer.Argument(help="Tables, or folders of them.")]
Bench = Annotated[
    Path | None,
    typer.Option(help="A benchmark folder: trial ids and answers are checked against it."),
]
MappingFile = Annotated[
    Path | None, typer.Option(help="A TOML file that explains columns and codes (see --template).")
]
Repair = Annotated[
    list[str] | None,
    typer.Option(help="Let this rule repair what it finds (repeatable), or 'all-safe'."),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(help="What this rule finds is right as it is (repeatable)."),
]
UnitOption = Annotated[Unit | None, typer.Option(help="Unit of the reaction times.")]
Encoding = Annotated[str | None, typer.Option(help="Such as cp1252; found out without.")]
Delimiter = Annotated[str | None, typer.Option(help="Such as ';'; found out without.")]
Decimal = Annotated[str | None, typer.Option(help="'.' or ','; found out without.")]
TimeoutS = Annotated[float | None, typer.Option(help="Longest wait for an answer, seconds.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything found as JSON.")]


def check(
    files: Files = None,
    benchmark: Bench = None,
    mapping: MappingFile = None,
    repair: Repair = None,
    accept: Accept = None,
    unit: UnitOption = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    timeout_s: TimeoutS = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a mapping file for the first table.")
    ] = False,
    list_rules: Annotated[
        bool, typer.Option("--list-rules", help="Print every rule: what it finds and repairs.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what lab tables are and what is wrong with them; changes nothing. Exit 2 if anything is.

    Examples: `objecthood data check raw/ --benchmark bench/adeli2023`,
    `objecthood data check raw/vp01.csv --template > mapping.toml`
    """
    from analysis.lab_tables.summary import is_clean, summarise

    if list_rules:
        _print_rules(as_json=as_json)
        return
    declared = _declare(mapping, unit, encoding, delimiter, decimal, timeout_s)
    if template:
        _print_template(files, declared)
        return
    tables = _read(files, benchmark, declared, _consent(repair, accept), out=None)
    if as_json:
        print_json(summarise(tables))
    else:
        _print_tables(tables, has_benchmark=benchmark is not None)
    if not all(map(is_clean, tables)):
        raise typer.Exit(2)


def import_responses(
    files: Files = None,
    benchmark: Bench = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables; without, the benchmark's responses.")
    ] = None,
    mapping: MappingFile = None,
    repair: Repair = None,
    accept: Accept = None,
    unit: UnitOption = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    timeout_s: TimeoutS = None,
    as_json: AsJson = False,
) -> None:
    """Turn lab tables into response tables, one per person; nothing is changed without a flag.

    Beside them, imports/import-01/ records where they come from and every change (changes.csv).

    Example: `objecthood data import-responses raw/ --benchmark bench/mine --repair all-safe`
    """
    from analysis.lab_tables.importing import write_import
    from analysis.lab_tables.summary import is_clean
    from stimuli.errors import InputError

    if benchmark is None:
        raise InputError("--benchmark is missing: trial ids and answers are checked against it")
    declared = _declare(mapping, unit, encoding, delimiter, decimal, timeout_s)
    consent = _consent(repair, accept)
    folder = out or benchmark / "responses"
    tables = _read(files, benchmark, declared, consent, out=folder)
    if not as_json and not all(map(is_clean, tables)):
        _print_tables(tables, has_benchmark=True)
    written = write_import(tables, out=folder, declared=declared, consent=consent)
    if as_json:
        print_json(
            {
                "files": [str(path) for path in written.files],
                "record": str(written.record),
                "n_people": written.n_people,
                "n_presentations": written.n_presentations,
                "n_changes": written.n_changes,
            }
        )
        return
    print_result(
        f"{written.n_people} people, {written.n_presentations} presentations, "
        f"{written.n_changes} changes ({written.record / 'changes.csv'})"
    )
    if out is None:
        say(f"next: objecthood human {benchmark}")


def _declare(
    mapping: Path | None,
    unit: Unit | None,
    encoding: str | None,
    delimiter: str | None,
    decimal: str | None,
    timeout_s: float | None,
) -> "Declared":
    from analysis.lab_tables.mapping import read_mapping
    from analysis.lab_tables.reading import Declared
    from stimuli.errors import InputError

    if decimal not in {None, ".", ","}:
        raise InputError(f"--decimal is {decimal!r}; expected '.' or ','")
    if timeout_s is not None and timeout_s <= 0:
        raise InputError(f"--timeout-s is {timeout_s}; expected seconds above 0")
    if encoding is not None:
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise InputError(
                f"--encoding is {encoding!r}; expected one that Python knows, such as utf-8, cp1252 "
                "or utf-16"
            ) from None
    delimiter = "\t" if delimiter in {"\\t", "tab"} else delimiter
    if delimiter is not None and len(delimiter) != 1:
        raise InputError(f"--delimiter is {delimiter!r}; expected one character, or 'tab'")
    return Declared(
        mapping=None if mapping is None else read_mapping(mapping),
        encoding=encoding,
        delimiter=delimiter,
        decimal=decimal,
        unit=None if unit is None else unit.value,
        timeout_s=timeout_s,
    )


def _consent(repair: list[str] | None, accept: list[str] | None) -> "Consent":
    from analysis.lab_tables.findings import parse_consent

    return parse_consent(repair or [], accept or [])


def _read(
    files: list[Path] | None,
    benchmark: Path | None,
    declared: "Declared",
    consent: "Consent",
    *,
    out: Path | None,
) -> "list[LabTable]":
    from analysis.lab_tables.folder import check_folder
    from analysis.lab_tables.importing import find_people
    from analysis.lab_tables.reading import find_files, read_lab_table
    from stimuli.benchmark import open_benchmark
    from stimuli.errors import InputError

    if not files:
        raise InputError("no file is named; name lab tables, or a folder of them")
    opened = None if benchmark is None else open_benchmark(benchmark)
    trials: pd.DataFrame | None = None if opened is None else opened.trials
    paths = find_files(files)
    tables = []
    with progress_bar("reading tables", total=len(paths)) as advance:
        for path in paths:
            tables.append(read_lab_table(path, declared=declared, consent=consent, trials=trials))
            advance()
    return check_folder(
        tables,
        consent=consent,
        there_already=() if out is None else find_people(out),
        is_simulated=None if opened is None else opened.manifest.is_simulated,
    )


def _print_template(files: list[Path] | None, declared: "Declared") -> None:
    from analysis.lab_tables.reading import find_files, read_grid
    from analysis.lab_tables.template import write_template
    from stimuli.errors import InputError

    if not files:
        raise InputError("--template needs a table; its columns are listed in it")
    path = find_files(files)[0]
    OUT.file.write(write_template(read_grid(path, declared=declared), source=path.name) + "\n")


def _print_rules(*, as_json: bool) -> None:
    from rich.table import Table

    from analysis.lab_tables.rules import GROUPS, RULES

    if as_json:
        fields = ("name", "severity", "finds", "repair", "is_safe", "may_accept")
        print_json({"rules": [{f: getattr(r, f) for f in fields} for r in RULES.values()]})
        return
    for title, rules in GROUPS:
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for name in ("rule", "severity", "finds", "--repair"):
            table.add_column(name, overflow="fold")
        for rule in rules:
            repair = (rule.repair or "") + (" (safe)" if rule.is_safe else "")
            accept = " [--accept]" if rule.may_accept else ""
            table.add_row(rule.name, rule.severity, rule.finds, f"{repair}{accept}".strip())
        OUT.print(table, markup=False)
        OUT.print()


_STYLES = {"error": "bold red", "repairable": "bold yellow", "note": "dim"}


def _print_tables(tables: "list[LabTable]", *, has_benchmark: bool) -> None:
    from rich.text import Text

    from analysis.lab_tables.summary import (
        advise,
        explain_formats,
        group_findings,
        is_clean,
    )

    _print_files(tables)
    for line in explain_formats(tables):
        OUT.print(Text(line, style="dim"))
    for group in group_findings(tables):
        style = _STYLES[group.severity] if group.status == "open" else "dim"
        OUT.print(Text(f"\n{group.title}", style=style))
        for place in group.places:
            print_result(f"    {place}")
        print_result(f"  {group.findings[0].message}")
    n_clean = sum(map(is_clean, tables))
    OUT.print(
        Text(f"\n{len(tables)} files: {n_clean} clean, {len(tables) - n_clean} not", style="bold")
    )
    if not has_benchmark:
        print_result("not checked without --benchmark: trial ids, and answers against the displays")
    for line in advise(tables):
        print_result(f"- {line}")


def _print_files(tables: "list[LabTable]") -> None:
    from rich.table import Table
    from rich.text import Text

    from analysis.lab_tables.summary import FILE_COLUMNS, tabulate_files

    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in FILE_COLUMNS:
        is_count = name in {"rows", "errors", "repair", "other"}
        grid.add_column(name, justify="right" if is_count else "left", no_wrap=not is_count)
    for row in tabulate_files(tables):
        is_ok = not (row[-3] or row[-2])
        grid.add_row(*(Text(cell, style="" if is_ok else "bold") for cell in row))
    OUT.print(grid)
