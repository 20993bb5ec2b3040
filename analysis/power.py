"""Power: how many people and scenes are needed to see a difference between two models.

Simulated experiments of each size go through the comparison that real models go through
(`analysis.comparison`), so power is of that very test. Differences are of the headline score in a
study of the published size: a model's correlation with the true difficulty is its score over the
score that the truth itself gets there. Power is the share of experiments in which the better model
is called better; its interval is Wilson's (1927), for the number of experiments.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from analysis.comparison import ALPHA, MIN_LEVELS, compare_models
from analysis.prepared import ScoreSettings
from analysis.rank_correlation import correlate_partial_ranked, rank_weighted
from analysis.rows import aim_at
from analysis.simulation import PUBLISHED_STUDY, Study, draw_model, simulate_study
from stimuli.errors import InputError

N_REFERENCES = 8  # published-size studies that say what score the truth gets
REFERENCE_SEED = 0
TARGET_POWER = 0.8
BETTER, WORSE, MIRROR = "better", "worse", "mirror"


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerQuestion:
    """What is asked, in scores r of a study of the published size."""

    difference: float = 0.05
    baseline: float = 0.2  # score of the worse model
    n_experiments: int = 100  # per size
    n_draws: int = 100  # bootstrap draws in each comparison
    seed: int = 0


def estimate_power(
    question: PowerQuestion,
    sizes: list[tuple[int, int]],
    *,
    study: Study = PUBLISHED_STUDY,
    on_experiment: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Return one row per size: power to see the difference, and to see the worse model at all.

    Parameters
    ----------
    question
        The difference, and how many experiments. A difference of 0 gives the rate of false alarms,
        in the planted direction only.
    sizes
        (n_people, n_scenes); each has random numbers of its own, whatever the others are.
    study
        Everything else about the study.
    on_experiment
        Called after each, for a progress bar.

    Raises
    ------
    InputError
        A score that no model can reach, or too few people, scenes, experiments or draws.
    """
    check_sizes(question, sizes)
    attainable = find_attainable(study)
    better, worse = plant_correlations(question, attainable)
    records = []
    for n_people, n_scenes in sizes:
        sized = replace(study, n_people=n_people, n_scenes=n_scenes)
        streams = np.random.SeedSequence([question.seed, n_people, n_scenes]).spawn(
            question.n_experiments
        )
        found = []
        for stream in streams:
            found.append(_run(sized, (better, worse), n_draws=question.n_draws, stream=stream))
            on_experiment()
        seen, above_zero = np.array(found).sum(axis=0)
        low, high = wilson_interval(int(seen), question.n_experiments)
        zero_low, zero_high = wilson_interval(int(above_zero), question.n_experiments)
        records.append(
            {
                "n_people": n_people,
                "n_scenes": n_scenes,
                "n_trials": 4 * n_scenes,
                "difference_r": question.difference,
                "baseline_r": question.baseline,
                "attainable_r": attainable,
                "power": seen / question.n_experiments,
                "power_low": low,
                "power_high": high,
                "power_above_zero": above_zero / question.n_experiments,
                "power_above_zero_low": zero_low,
                "power_above_zero_high": zero_high,
                "n_experiments": question.n_experiments,
                "n_draws": question.n_draws,
                "seed": question.seed,
            }
        )
    return pd.DataFrame(records)


def find_attainable(study: Study) -> float:
    """Return the mean headline score of the true difficulty itself, with the study's people."""
    scores = []
    for stream in np.random.SeedSequence(REFERENCE_SEED).spawn(N_REFERENCES):
        made = simulate_study(study, np.random.default_rng(stream))
        target = aim_at(made.rows, made.rows.mean_rt_s, np.ones((1, len(made.truth))))
        ranked = rank_weighted(made.truth, target.weights)
        scores.append(correlate_partial_ranked(ranked, target)[0])
    return float(np.mean(scores))


def plant_correlations(question: PowerQuestion, attainable: float) -> tuple[float, float]:
    """Return the better and the worse model's correlation with the truth.

    Raises
    ------
    InputError
        A score that no model can reach.
    """
    scores = (question.baseline + question.difference, question.baseline)
    for score in scores:
        if not -attainable <= score <= attainable:
            raise InputError(
                f"baseline {question.baseline} and difference {question.difference}: a score of "
                f"{score:.3f} is beyond {attainable:.3f}, the most that any model can reach with "
                "such people; ask for a smaller difference or baseline"
            )
    return scores[0] / attainable, scores[1] / attainable


def check_sizes(question: PowerQuestion, sizes: list[tuple[int, int]]) -> None:
    """Raise InputError when sizes or numbers of experiments and draws are too small."""
    if not sizes:
        raise InputError("no sizes; name at least one number of people and of scenes")
    for n_people, n_scenes in sizes:
        if min(n_people, n_scenes) < MIN_LEVELS:
            raise InputError(
                f"{n_people} people and {n_scenes} scenes; comparing needs at least {MIN_LEVELS} each"
            )
    if question.difference < 0:
        raise InputError(f"difference {question.difference}; expected how much better, above 0")
    if question.n_experiments < 1 or question.n_draws < 20:
        raise InputError(
            f"{question.n_experiments} experiments of {question.n_draws} draws; expected at least "
            "1 experiment and 20 draws"
        )


def wilson_interval(n_seen: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927).

    >>> tuple(round(x, 3) for x in wilson_interval(5, 10))
    (0.237, 0.763)
    """
    found = stats.binomtest(n_seen, n).proportion_ci(method="wilson")
    # Exact at the ends, where rounding would leave the share outside its interval.
    return 0.0 if n_seen == 0 else float(found.low), 1.0 if n_seen == n else float(found.high)


def answer_question(table: pd.DataFrame, *, n_people: int, n_scenes: int) -> str:
    """Return the answer in one sentence: power of the asked size, and the smallest that suffices."""
    row = table[(table["n_people"] == n_people) & (table["n_scenes"] == n_scenes)].iloc[0]
    enough = table[table["power"] >= TARGET_POWER].sort_values(["n_trials", "n_people"])
    if enough.empty:
        smallest = f"no size that was tried reaches {TARGET_POWER:.0%}"
    else:
        first = enough.iloc[0]
        smallest = (
            f"the fewest displays that reach {TARGET_POWER:.0%} are {first['n_trials']:.0f} "
            f"({first['n_scenes']:.0f} scenes) with {first['n_people']:.0f} people"
        )
    return (
        f"{n_people} people and {n_scenes} scenes see a difference of {row['difference_r']:g} "
        f"between a model of r = {row['baseline_r']:g} and a better one in {row['power']:.0%} of "
        f"experiments [{row['power_low']:.0%}, {row['power_high']:.0%}], and the worse of them against "
        f"zero in {row['power_above_zero']:.0%}; {smallest}."
    )


def _run(
    study: Study, planted: tuple[float, float], *, n_draws: int, stream: np.random.SeedSequence
) -> tuple[bool, bool]:
    """Return whether the better model is called better, and the worse one better than no model."""
    rng = np.random.default_rng(stream)
    made = simulate_study(study, rng)
    models = {
        name: draw_model(made.truth, correlation, rng)
        for name, correlation in zip((BETTER, WORSE), planted, strict=True)
    }
    # A model against its mirror image: twice z with twice the error, so the test of z against zero.
    models[MIRROR] = -models[WORSE]
    seed = int(rng.integers(2**31))
    settings = ScoreSettings(n_draws=n_draws, n_halves=2, n_left_out_halves=0, seed=seed)
    pairs = compare_models(models, made.rows, settings=settings).pairs
    # Each question is asked alone, so p is not corrected for the other.
    kept = pairs[(pairs["p"] < ALPHA) & (pairs["difference_z"] > 0)]
    seen = set(zip(kept["first"], kept["second"], strict=True))
    return (BETTER, WORSE) in seen, (WORSE, MIRROR) in seen
