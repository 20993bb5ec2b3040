"""`objecthood human`: responses to the human table, ceilings and the exclusion ledger."""

from pathlib import Path
from typing import Annotated, Any

import typer

from commands.console import print_json, print_result, say


def human(
    benchmark: Annotated[Path, typer.Argument(help="A benchmark folder with responses.")],
    rules: Annotated[
        str | None,
        typer.Option(
            help="A TOML file of exclusion rules, which the benchmark keeps and scores use; "
            "'published' goes back to the published ones."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random halves of people.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Summarise people: human.csv, ceilings.json, exclusions.csv, and a summary.

    Examples: `objecthood human bench/adeli2023 --json`,
    `objecthood human bench/adeli2023 --rules rules.toml` (form: docs/statistics.md)
    """
    from analysis.people import (
        analyse_people,
        choose_rules,
        declare_rules,
        summarise_people,
        write_people,
    )
    from stimuli.benchmark import open_benchmark

    opened = open_benchmark(benchmark)
    people = analyse_people(opened, rules=choose_rules(opened, rules), seed=seed)
    if rules is not None:
        declare_rules(opened, rules)
    write_people(people, opened)
    summary = summarise_people(people, opened)
    if as_json:
        print_json(summary)
        return
    print_result(format_summary(summary))
    say(f"wrote human.csv, ceilings.json and exclusions.csv into {benchmark}")


def format_summary(summary: dict[str, Any]) -> str:
    """Return the summary of people as text."""
    simulated = " SIMULATED" if summary["is_simulated"] else ""
    rt = summary["rt_ms"]
    lines = [
        f"{summary['benchmark']}: {summary['n_people']}{simulated} people",
        f"{summary['n_trials']} trials, {summary['n_correct_rts']} correct reaction times",
        f"RT (ms): min {rt['min']:.0f}, median {rt['median']:.0f}, max {rt['max']:.0f}",
    ]
    lines += [
        f"  {row['condition']:<16} {row['mean_rt_ms']:7.1f} ± {row['sem_rt_ms']:.1f} ms "
        f"({row['n_trials']} trials)"
        for row in summary["conditions"]
    ]
    spreads = {
        "split_half": ("split half", ", SD over halves", summary["split_half_sd"]),
        "spearman_brown": ("Spearman-Brown", "", None),
        "attainable": ("attainable", "", None),
        "one_vs_rest": ("one vs rest", ", SEM over people", summary["one_vs_rest_sem"]),
    }
    for key, (name, what, spread) in spreads.items():
        interval = summary["intervals_r"][key]
        lines.append(_ceiling_line(name, summary[f"{key}_r"], interval=interval))
        if spread is not None:
            lines[-1] += f"{what} {spread:.3f}"
    counts = ", ".join(f"{name} {n}" for name, n in summary["presentations"].items() if n)
    flagged = "".join(
        f"; flagged and kept {name} {n}" for name, n in summary["flagged_and_kept"].items()
    )
    lines.append(f"presentations: {counts}{flagged}")
    if summary["accuracy"] is None:
        lines.append("accuracy: unknown (error trials are not recorded in this benchmark)")
    else:
        lines.append(f"accuracy: {summary['accuracy']:.3f} (mean over trials)")
    return "\n".join(lines)


def _ceiling_line(name: str, value: float | None, *, interval: list[float | None]) -> str:
    if value is None:
        return f"  {name:<16} not available (see ceilings.json)"
    low, high = interval
    ends = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"  {name:<16} r = {value:.3f}{ends}"
