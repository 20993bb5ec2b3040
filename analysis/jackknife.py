"""The jackknife over people and scenes: intervals of ceilings and of what is divided by them.

The same law of total variance as in `analysis.resampling` (docs/decisions/0004): the variance over
scenes with the people as they are, plus what people do to all scenes alike, here the covariance of
the statistic on two disjoint halves of the scenes when people are left out. A bootstrap of people
draws some of them twice, which makes the rest look more alike or less reliable than they are; a
reliability is what that disturbs most. Leaving people out does not, and needs tens of replicates
instead of a thousand (docs/decisions/0051).
"""

from dataclasses import dataclass

import numpy as np

from analysis.resampling import CONFIDENCE_Z, Interval
from analysis.rows import Rows

# Leave-out groups: each person or scene alone where there are fewer.
MAX_GROUPS = 40
# Random splits of the scenes that the people's part of the variance is averaged over.
N_SCENE_SPLITS = 4
# People, and scenes, below which no variance over them can be had.
MIN_LEVELS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicate:
    """One kind of leaving out.

    Attributes
    ----------
    people : float array, shape (n_groups, n_people)
        1 for a person who is kept.
    is_used : bool array, shape (n_trials,)
        The trials that this kind looks at.
    trials : float array, shape (n_groups, n_used)
        1 for a used trial whose scene is kept.
    """

    people: np.ndarray
    is_used: np.ndarray
    trials: np.ndarray


def leave_out(rows: Rows, rng: np.random.Generator) -> list[Replicate]:
    """Return scenes left out; then, for each split of the scenes, people left out on either half.

    Parameters
    ----------
    rows
        Trials and people.
    rng
        Deals scenes and people into groups, and scenes into halves.
    """
    n_people, n_trials = rows.rt_s.shape
    without_scenes = _leave_each_out(_deal(rows.n_scenes, rng))[:, rows.scenes]
    without_people = _leave_each_out(_deal(n_people, rng))
    everything = np.ones(n_trials, dtype=bool)
    replicates = [
        Replicate(
            people=np.ones((len(without_scenes), n_people)),
            is_used=everything,
            trials=without_scenes,
        )
    ]
    for _ in range(N_SCENE_SPLITS):
        in_first = (rng.permutation(rows.n_scenes) < rows.n_scenes // 2)[rows.scenes]
        replicates += [
            Replicate(
                people=without_people,
                is_used=half,
                trials=np.ones((len(without_people), int(half.sum()))),
            )
            for half in (in_first, ~in_first)
        ]
    return replicates


def combine_variance(replicated: list[np.ndarray]) -> float:
    """Return the variance over people and scenes of a statistic.

    Parameters
    ----------
    replicated : list of float arrays, shape (n_groups,)
        The statistic in each replicate, in the order of `leave_out`.

    Returns
    -------
    float
        Delete-a-group jackknife, (g - 1) / g times the sum of squared (over scenes) or multiplied
        (people, on disjoint halves of the scenes) deviations. NaN where a replicate is undefined.
        The people's part is a variance; where its estimate is below zero it adds nothing.
    """
    over_scenes, *by_half = replicated
    shared = [
        _sum_of_products(first, second)
        for first, second in zip(by_half[::2], by_half[1::2], strict=True)
    ]
    return _sum_of_products(over_scenes, over_scenes) + max(float(np.mean(shared)), 0.0)


def jackknife_interval(estimate: float, replicated: list[np.ndarray], rows: Rows) -> Interval:
    """Return a normal 95 % interval over people and scenes, or the reason why there is none.

    Parameters
    ----------
    estimate
        The statistic on all rows.
    replicated
        As for `combine_variance`.
    rows
        What was left out from.
    """
    note = find_shortage(rows)
    if note is None and not np.isfinite(estimate):
        note = "undefined"
    if note is None and not all(np.isfinite(values).all() for values in replicated):
        note = "no interval: undefined when some people or scenes are left out"
    variance = np.nan if note else combine_variance(replicated)
    if note is None and not variance > 0:
        note = "no interval: the jackknife variance is not positive"
    if note:
        return Interval(se=None, low=None, high=None, note=note)
    se = float(np.sqrt(variance))
    return Interval(
        se=se, low=estimate - CONFIDENCE_Z * se, high=estimate + CONFIDENCE_Z * se, note=None
    )


def find_shortage(rows: Rows) -> str | None:
    """Return why people or scenes are too few for a variance over them, or None."""
    for what, n in (("people", len(rows.participant_ids)), ("scenes", rows.n_scenes)):
        if n < MIN_LEVELS:
            return f"no interval: {n} {what}, at least {MIN_LEVELS} needed"
    return None


def _deal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the leave-out group of each of n levels, groups of one size (the last may lack some)."""
    size = -(-n // MAX_GROUPS)
    return rng.permutation(n) // size


def _leave_each_out(group: np.ndarray) -> np.ndarray:
    return (group[None, :] != np.arange(group.max() + 1)[:, None]).astype(float)


def _sum_of_products(first: np.ndarray, second: np.ndarray) -> float:
    n = len(first)
    return float((n - 1) / n * ((first - first.mean()) @ (second - second.mean())))
