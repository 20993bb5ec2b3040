"""The people of a benchmark, analysed: what `objecthood human` computes and writes."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.ceilings import Ceiling, compute_ceiling, compute_ceilings
from analysis.human import (
    FLAGGED,
    ReactionTimes,
    apply_rules,
    build_matrix,
    read_responses,
    summarise_conditions,
    summarise_trials,
)
from analysis.metrics import N_HALVES
from analysis.rows import select_rows, take_trials
from stimuli.benchmark import Benchmark
from stimuli.table_io import write_json, write_table
from stimuli.tables import CELL_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAnalysis:
    """Everything that is derived from the responses.

    Attributes
    ----------
    times
        The analysed RTs, people x trials.
    human, exclusions, conditions
        Tables: one row per trial; per person and rule; per cell of the design.
    ceilings
        By metric, and by cell of the design.
    """

    times: ReactionTimes
    human: pd.DataFrame
    exclusions: pd.DataFrame
    conditions: pd.DataFrame
    ceilings: dict[str, Ceiling]


def load_times(benchmark: Benchmark) -> ReactionTimes:
    """Return the analysed RTs of a benchmark, as every score uses them."""
    analysed, _ = apply_rules(read_responses(benchmark))
    return build_matrix(analysed, benchmark.trials)


def analyse_human(benchmark: Benchmark) -> pd.DataFrame:
    """Return the human table of a benchmark, without its ceilings."""
    responses = read_responses(benchmark)
    analysed, _ = apply_rules(responses)
    times = build_matrix(analysed, benchmark.trials)
    return summarise_trials(times, responses, errors_recorded=benchmark.manifest.errors_recorded)


def analyse_people(
    benchmark: Benchmark, *, seed: int = 0, n_halves: int = N_HALVES
) -> PeopleAnalysis:
    """Return the human table, the ledger, the condition means and the ceilings of a benchmark.

    Raises
    ------
    InputError
        The benchmark has no people, or none is left after the exclusions.
    """
    responses = read_responses(benchmark)
    analysed, exclusions = apply_rules(responses)
    times = build_matrix(analysed, benchmark.trials)
    human = summarise_trials(times, responses, errors_recorded=benchmark.manifest.errors_recorded)
    return PeopleAnalysis(
        times=times,
        human=human,
        exclusions=exclusions,
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
        "presentations": {name: int(n) for name, n in by_rule.items() if name != FLAGGED},
        "flagged_outliers_kept": int(by_rule.get(FLAGGED, 0)),
        "accuracy": _mean_accuracy(people.human),
    }


def _compute_all_ceilings(
    benchmark: Benchmark, times: ReactionTimes, *, seed: int, n_halves: int
) -> dict[str, Ceiling]:
    rows = select_rows(times, benchmark.trials)
    metrics_rng, cells_rng = (
        np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2)
    )
    by_metric = compute_ceilings(rows, n_halves=n_halves, rng=metrics_rng)
    ceilings = {str(name): ceiling for name, ceiling in by_metric.items()}
    for k, name in enumerate(CELL_NAMES):
        part = take_trials(rows, rows.cells == k)
        ceilings[name] = compute_ceiling(part, n_halves=n_halves, rng=cells_rng)
    return ceilings


def _mean_accuracy(human: pd.DataFrame) -> float | None:
    return float(human["accuracy"].mean()) if human["accuracy"].notna().any() else None
