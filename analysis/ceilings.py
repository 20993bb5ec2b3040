"""Ceilings: how well people predict people, on the same rows and by the same metric as the model.

split half      mean over random halves of the correlation between the halves' trial means
Spearman-Brown  2 r / (1 + r): reliability of the mean of all people
attainable      root of the reliability: the correlation with the mean of all people that a model of
                the true means would reach; for the published metric, whose model meets half of the
                people, the root of the split half
one vs rest     mean over people of the correlation of one person with the mean of the others
"""

from dataclasses import dataclass, replace

import numpy as np

from analysis.metrics import SUBSETS, MetricName, Subset, correlate_subset, find_trials
from analysis.rank_correlation import Target
from analysis.resampling import draw_halves, mean_rt
from analysis.rows import Rows, aim_at, take_trials

MIN_PEOPLE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """What people reach under one metric; all are r, never r squared. None: see `note`.

    `_low_r` and `_high_r` are 95 % intervals over people and scenes
    (`analysis.ceiling_intervals`); `split_half_sd` is the spread over random halves.
    """

    split_half_r: float | None
    split_half_sd: float | None
    spearman_brown_r: float | None
    attainable_r: float | None
    one_vs_rest_r: float | None
    one_vs_rest_sem: float | None
    n_people: int
    n_trials: int
    n_halves: int
    note: str | None
    split_half_low_r: float | None = None
    split_half_high_r: float | None = None
    spearman_brown_low_r: float | None = None
    spearman_brown_high_r: float | None = None
    attainable_low_r: float | None = None
    attainable_high_r: float | None = None
    one_vs_rest_low_r: float | None = None
    one_vs_rest_high_r: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """Means of random halves of people, and the trials that both halves have.

    Attributes
    ----------
    first, second : float arrays, shape (n_halves, n_trials)
        Mean RT of each half, seconds, NaN where it has none.
    weights : float array, shape (n_halves, n_trials)
        1 where both have a mean, 0 elsewhere.
    """

    first: np.ndarray
    second: np.ndarray
    weights: np.ndarray


def split_people(rows: Rows, *, n_halves: int, rng: np.random.Generator) -> Halves:
    """Return random halves of the people of `rows`."""
    in_first = draw_halves(n_people=len(rows.participant_ids), n_draws=n_halves, rng=rng)
    return average_halves(rows.rt_s, in_first, ~in_first)


def average_halves(rt_s: np.ndarray, first: np.ndarray, second: np.ndarray) -> Halves:
    """Return the means of two groups of people in each draw.

    Parameters
    ----------
    rt_s : float array, shape (n_people, n_trials)
        RTs in seconds.
    first, second : arrays, shape (n_draws, n_people)
        Weights of each person in either group.
    """
    a, b = mean_rt(rt_s, first.astype(float)), mean_rt(rt_s, second.astype(float))
    return Halves(first=a, second=b, weights=(np.isfinite(a) & np.isfinite(b)).astype(float))


def compute_ceilings(
    rows: Rows, *, n_halves: int, rng: np.random.Generator
) -> dict[MetricName, Ceiling]:
    """Return the ceilings of every metric on `rows`.

    Parameters
    ----------
    rows
        The trials and people that the score uses.
    n_halves
        Random splits of people.
    rng
        Source of randomness.
    """
    ceilings: dict[MetricName, Ceiling] = {}
    for subset in SUBSETS:
        part = take_trials(rows, find_trials(rows, subset.trials))
        ceilings |= _compute_subset(subset, part, n_halves=n_halves, rng=rng)
    whole = ceilings["all"]
    # The published model meets half of the people: its bound is the root of the half-half r.
    ceilings["published"] = replace(whole, attainable_r=root_of(whole.split_half_r))
    return ceilings


def compute_ceiling(rows: Rows, *, n_halves: int, rng: np.random.Generator) -> Ceiling:
    """Return the plain Spearman ceiling of `rows`, whatever trials they are."""
    subset = Subset(metrics=("all",), trials="all")
    return _compute_subset(subset, rows, n_halves=n_halves, rng=rng)["all"]


def apply_spearman_brown(split_half_r: float) -> float | None:
    """Return the reliability of the whole group's mean; None where the halves don't agree at all.

    The formula is for two halves, 2 r / (1 + r) (Spearman 1910; Brown 1910).

    >>> apply_spearman_brown(0.5)
    0.6666666666666666
    """
    return 2 * split_half_r / (1 + split_half_r) if split_half_r > 0 else None


def compute_one_vs_rest(rows: Rows) -> dict[str, np.ndarray]:
    """Return each person's correlation with the mean of the others, under "all" and "partial".

    Returns
    -------
    dict of float arrays, shape (n_people,)
        NaN for a person whose RTs or whose others' means are constant.
    """
    n = len(rows.participant_ids)
    others = mean_rt(rows.rt_s, 1.0 - np.eye(n))
    own = rows.rt_s
    weights = (np.isfinite(own) & np.isfinite(others)).astype(float)
    target = aim_at(rows, others, weights)
    readout = np.where(np.isfinite(own), own, 0.0)
    subset = Subset(metrics=("partial", "all"), trials="all")
    return {str(name): r for name, r in correlate_subset(subset, readout, target).items()}


def _compute_subset(
    subset: Subset, rows: Rows, *, n_halves: int, rng: np.random.Generator
) -> dict[MetricName, Ceiling]:
    n_people = len(rows.participant_ids)
    if n_people < MIN_PEOPLE:
        note = f"no ceiling: {n_people} people have reaction times, at least {MIN_PEOPLE} needed"
        return dict.fromkeys(subset.metrics, _no_ceiling(rows, note))
    halves = split_people(rows, n_halves=n_halves, rng=rng)
    by_half = correlate_subset(subset, *second_predicts_first(rows, halves))
    by_person = compute_one_vs_rest(rows)
    one_metric = {name: "partial" if name == "partial" else "all" for name in subset.metrics}
    return {
        name: _summarise(rows, by_half[name], by_person[one_metric[name]])
        for name in subset.metrics
    }


def second_predicts_first(rows: Rows, halves: Halves) -> tuple[np.ndarray, Target]:
    """Return the second halves' means as a readout, and the first halves' as its target."""
    target = aim_at(rows, np.where(halves.weights > 0, halves.first, np.nan), halves.weights)
    return np.where(halves.weights > 0, halves.second, 0.0), target


def _summarise(rows: Rows, by_half: np.ndarray, by_person: np.ndarray) -> Ceiling:
    if not np.isfinite(by_half).all():
        return _no_ceiling(rows, "no ceiling: halves of people have too few or constant trials")
    persons = by_person[np.isfinite(by_person)]
    split_half_r = float(by_half.mean())
    reliability = apply_spearman_brown(split_half_r)
    notes = []
    if reliability is None:
        notes.append(f"no reliability: split-half r is {split_half_r:.3f}, not above zero")
    if len(persons) < len(by_person):
        notes.append(f"one vs rest without {len(by_person) - len(persons)} constant people")
    return Ceiling(
        split_half_r=split_half_r,
        split_half_sd=float(by_half.std(ddof=1)) if len(by_half) > 1 else None,
        spearman_brown_r=reliability,
        attainable_r=root_of(reliability),
        one_vs_rest_r=float(persons.mean()) if len(persons) else None,
        one_vs_rest_sem=_sem(persons),
        n_people=len(rows.participant_ids),
        n_trials=len(rows.trial_ids),
        n_halves=len(by_half),
        note="; ".join(notes) or None,
    )


def _no_ceiling(rows: Rows, note: str) -> Ceiling:
    return Ceiling(
        split_half_r=None,
        split_half_sd=None,
        spearman_brown_r=None,
        attainable_r=None,
        one_vs_rest_r=None,
        one_vs_rest_sem=None,
        n_people=len(rows.participant_ids),
        n_trials=len(rows.trial_ids),
        n_halves=0,
        note=note,
    )


def root_of(reliability: float | None) -> float | None:
    """Return the correlation that a model of the true means reaches; None without reliability."""
    return float(np.sqrt(reliability)) if reliability is not None and reliability > 0 else None


def _sem(values: np.ndarray) -> float | None:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
