"""The people of a benchmark, analysed: what `objecthood human` computes and writes."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.ceiling_intervals import add_intervals, replicate_ceilings
from analysis.ceilings import Ceiling, compute_ceiling, compute_ceilings
from analysis.exclusions import (
    FLAGGED_PREFIX,
    PUBLISHED_RULES,
    RULES_FILE,
    Exclusion,
    Rule,
    apply_rules,
    describe_rules,
    read_rules,
    rules_of,
)
from analysis.human import (
    ReactionTimes,
    build_matrix,
    read_responses,
    summarise_conditions,
    summarise_trials,
)
from analysis.metrics import N_HALVES, MetricName, Subset
from analysis.prepared import ScoreSettings
from analysis.rows import select_rows, take_trials
from stimuli.benchmark import Benchmark
from stimuli.table_io import write_json, write_table, write_text
from stimuli.tables import CELL_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAnalysis:
    """Everything that is derived from the responses.

    Attributes
    ----------
    rules
        What was left out, as declared.
    times
        The analysed RTs, people x trials.
    human, exclusions, conditions
        Tables: one row per trial; per person and rule; per cell of the design.
    ceilings
        By metric, and by cell of the design.
    """

    rules: tuple[Rule, ...]
    times: ReactionTimes
    human: pd.DataFrame
    exclusions: pd.DataFrame
    conditions: pd.DataFrame
    ceilings: dict[str, Ceiling]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedPeople:
    """The people of a benchmark under its own rules, without ceilings.

    Attributes
    ----------
    exclusion
        What the rules left, and their ledger.
    times
        The analysed RTs, people x trials.
    human
        One row per trial.
    """

    exclusion: Exclusion
    times: ReactionTimes
    human: pd.DataFrame


def load_people(benchmark: Benchmark) -> AnalysedPeople:
    """Return the people of a benchmark under its own exclusion rules."""
    exclusion = exclude(benchmark)
    times = build_matrix(exclusion.analysed, benchmark.trials)
    human = summarise_trials(
        times, exclusion.answered, errors_recorded=benchmark.manifest.errors_recorded
    )
    return AnalysedPeople(exclusion=exclusion, times=times, human=human)


def load_times(benchmark: Benchmark) -> ReactionTimes:
    """Return the analysed RTs of a benchmark, as every score uses them."""
    return build_matrix(exclude(benchmark).analysed, benchmark.trials)


def exclude(benchmark: Benchmark, rules: tuple[Rule, ...] | None = None) -> Exclusion:
    """Return what exclusion rules (the benchmark's own by default) leave, and their ledger."""
    return apply_rules(
        read_responses(benchmark),
        rules_of(benchmark.folder) if rules is None else rules,
        errors_recorded=benchmark.manifest.errors_recorded,
    )


def choose_rules(benchmark: Benchmark, rules: str | None) -> tuple[Rule, ...]:
    """Return the rules in a TOML file, the published ones for "published", else the benchmark's own.

    Raises
    ------
    InputError
        The file is missing or damaged.
    """
    if rules is None:
        return rules_of(benchmark.folder)
    return PUBLISHED_RULES if rules == "published" else read_rules(Path(rules))


def declare_rules(benchmark: Benchmark, rules: str) -> None:
    """Make a file of rules the benchmark's own, or go back to the published ones.

    The benchmark's folder gets a copy of the file, so that scores use the same rows as the human
    table. Scores made under other rules don't share a board with the new ones.
    """
    own = benchmark.folder / RULES_FILE
    if rules == "published":
        own.unlink(missing_ok=True)
    else:
        write_text(Path(rules).read_text(encoding="utf-8-sig"), own)


def analyse_human(benchmark: Benchmark) -> pd.DataFrame:
    """Return the human table of a benchmark, without its ceilings."""
    return load_people(benchmark).human


def analyse_people(
    benchmark: Benchmark,
    *,
    rules: tuple[Rule, ...] | None = None,
    seed: int = 0,
    n_halves: int = N_HALVES,
) -> PeopleAnalysis:
    """Return the human table, the ledger, the condition means and the ceilings of a benchmark.

    Parameters
    ----------
    benchmark
        With people.
    rules
        Exclusion rules; the benchmark's own when not given.
    seed, n_halves
        Random halves of people for the ceilings.

    Raises
    ------
    InputError
        The benchmark has no people, or none is left after the exclusions.
    """
    rules = rules_of(benchmark.folder) if rules is None else rules
    exclusion = exclude(benchmark, rules)
    times = build_matrix(exclusion.analysed, benchmark.trials)
    human = summarise_trials(
        times, exclusion.answered, errors_recorded=benchmark.manifest.errors_recorded
    )
    return PeopleAnalysis(
        rules=rules,
        times=times,
        human=human,
        exclusions=exclusion.ledger,
        conditions=summarise_conditions(human, benchmark.trials),
        ceilings=_compute_all_ceilings(benchmark, times, seed=seed, n_halves=n_halves),
    )


def write_people(people: PeopleAnalysis, benchmark: Benchmark) -> None:
    """Write human.csv, exclusions.csv and ceilings.json into the benchmark's folder."""
    write_table(people.human, benchmark.folder / "human.csv")
    write_table(people.exclusions, benchmark.folder / "exclusions.csv")
    ceilings = {name: asdict(ceiling) for name, ceiling in people.ceilings.items()}
    write_json(
        {"unit": "Spearman r, not squared", "ceilings": ceilings},
        benchmark.folder / "ceilings.json",
    )


def summarise_people(people: PeopleAnalysis, benchmark: Benchmark) -> dict[str, Any]:
    """Return the numbers of methods 1.2 as a JSON-able summary; times in milliseconds."""
    rt_ms = people.times.rt_s[np.isfinite(people.times.rt_s)] * 1000
    whole = people.ceilings["all"]
    by_rule = people.exclusions.groupby("rule", sort=False)["n_presentations"].sum()
    return {
        "benchmark": benchmark.manifest.name,
        "is_simulated": benchmark.manifest.is_simulated,
        "n_people": len(people.times.participant_ids),
        "n_trials": int((people.human["n_people"] > 0).sum()),
        "n_trials_without_rt": int((people.human["n_people"] == 0).sum()),
        "n_correct_rts": len(rt_ms),
        "rt_ms": {"min": rt_ms.min(), "median": float(np.median(rt_ms)), "max": rt_ms.max()},
        "conditions": [
            {
                "condition": row["condition"],
                "n_trials": int(row["n_trials"]),
                "mean_rt_ms": row["mean_rt_s"] * 1000,
                "sem_rt_ms": row["sem_rt_s"] * 1000,
            }
            for _, row in people.conditions.iterrows()
        ],
        "split_half_r": whole.split_half_r,
        "split_half_sd": whole.split_half_sd,
        "spearman_brown_r": whole.spearman_brown_r,
        "attainable_r": whole.attainable_r,
        "one_vs_rest_r": whole.one_vs_rest_r,
        "one_vs_rest_sem": whole.one_vs_rest_sem,
        "intervals_r": {
            name: [getattr(whole, f"{name}_low_r"), getattr(whole, f"{name}_high_r")]
            for name in ("split_half", "spearman_brown", "attainable", "one_vs_rest")
        },
        "rules": describe_rules(people.rules),
        "presentations": {
            str(name): int(n)
            for name, n in by_rule.items()
            if not str(name).startswith(FLAGGED_PREFIX)
        },
        "flagged_and_kept": {
            str(name).removeprefix(FLAGGED_PREFIX): int(n)
            for name, n in by_rule.items()
            if str(name).startswith(FLAGGED_PREFIX)
        },
        "accuracy": _mean_accuracy(people.human),
    }


def _compute_all_ceilings(
    benchmark: Benchmark, times: ReactionTimes, *, seed: int, n_halves: int
) -> dict[str, Ceiling]:
    rows = select_rows(times, benchmark.trials)
    settings = ScoreSettings(seed=seed, n_halves=n_halves)
    metrics_rng, cells_rng, jackknife_rng = (
        np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3)
    )
    by_metric = compute_ceilings(rows, n_halves=n_halves, rng=metrics_rng)
    n_left_out = settings.n_left_out_halves
    replicates = replicate_ceilings(rows, n_halves=n_left_out, rng=jackknife_rng)
    ceilings = {
        str(name): ceiling for name, ceiling in add_intervals(by_metric, rows, replicates).items()
    }
    plain = (Subset(metrics=("all",), trials="all"),)
    for k, name in enumerate(CELL_NAMES):
        part = take_trials(rows, rows.cells == k)
        ceiling: dict[MetricName, Ceiling] = {
            "all": compute_ceiling(part, n_halves=n_halves, rng=cells_rng)
        }
        replicates = replicate_ceilings(part, n_halves=n_left_out, rng=jackknife_rng, subsets=plain)
        ceilings[name] = add_intervals(ceiling, part, replicates)["all"]
    return ceilings


def _mean_accuracy(human: pd.DataFrame) -> float | None:
    return float(human["accuracy"].mean()) if human["accuracy"].notna().any() else None
