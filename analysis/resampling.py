"""Draws of people and of scenes, and the interval that they give.

People and scenes are both samples, crossed. By the law of total variance, a score varies because of
the scenes that happened to be shown (given the people), and because of the people who happened to
come. The first part is the bootstrap variance over scenes, people held fixed; the residual noise of
the trial means is in it. The second part is what a draw of people does to *all* scenes alike: the
covariance, over draws of people, of the score on two disjoint random halves of the scenes. (The plain
bootstrap of people counts the residual noise a second time, and resampling both factors, even as
corrected by 2 (V_people + V_scenes) - V_both, is too wide for a correlation; see docs/decisions/0004
and `benchmarks/coverage.py`.) The interval is normal on Fisher's z around the estimate: resampled
people are less reliable than real ones, which would shift percentile intervals.
"""

from dataclasses import dataclass

import numpy as np

CONFIDENCE_Z = 1.959963984540054  # two-sided 95 %

# A metric that is undefined in more than this share of draws gets no interval.
MAX_UNDEFINED_SHARE = 0.05

# Random splits of the scenes that the people's part of the variance is averaged over.
N_SCENE_SPLITS = 2

# Correlations this close to 1 have no usable Fisher z.
PERFECT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval and its standard error, or the reason why there is none."""

    se: float | None
    low: float | None
    high: float | None
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Weights of one kind of resampling.

    Attributes
    ----------
    people : float array, shape (n_draws, n_people)
        How often each person was drawn.
    is_used : bool array, shape (n_trials,)
        The trials that this kind of draw looks at.
    trials : float array, shape (n_draws, n_used)
        How often each used trial's scene was drawn.
    """

    people: np.ndarray
    is_used: np.ndarray
    trials: np.ndarray


def draw_bootstrap(
    *, n_people: int, scenes: np.ndarray, n_draws: int, rng: np.random.Generator
) -> list[Draw]:
    """Return the bootstrap of scenes, and that of people on disjoint halves of the scenes.

    Parameters
    ----------
    n_people
        People in the matrix.
    scenes : int array, shape (n_trials,)
        Scene of each trial, counted from 0; the trials of a scene are drawn together.
    n_draws
        Draws of each kind.
    rng
        Source of randomness.

    Returns
    -------
    list of Draw
        Scenes first; then, for each of `N_SCENE_SPLITS` random splits of the scenes, the first and
        the second half, under the same draws of people.
    """
    n_scenes = int(scenes.max()) + 1
    same_people = np.ones((n_draws, n_people))
    drawn_people = _draw_with_replacement(n_people, n_draws, rng)
    drawn_scenes = _draw_with_replacement(n_scenes, n_draws, rng)
    everything = np.ones(len(scenes), dtype=bool)
    draws = [Draw(people=same_people, is_used=everything, trials=drawn_scenes[:, scenes])]
    for _ in range(N_SCENE_SPLITS):
        in_first = (rng.permutation(n_scenes) < n_scenes // 2)[scenes]
        draws += [
            Draw(people=drawn_people, is_used=half, trials=np.ones((n_draws, int(half.sum()))))
            for half in (in_first, ~in_first)
        ]
    return draws


def draw_halves(*, n_people: int, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return random halves of people: True for the first half.

    Parameters
    ----------
    n_people
        With an odd number, the second half has one more.
    n_draws
        How many splits.
    rng
        Source of randomness.

    Returns
    -------
    bool array, shape (n_draws, n_people)
    """
    order = rng.permuted(np.tile(np.arange(n_people), (n_draws, 1)), axis=1)
    return order < n_people // 2


def mean_rt(rt_s: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return each draw's mean RT per trial.

    Parameters
    ----------
    rt_s : float array, shape (n_people, n_trials)
        NaN where a person has none.
    people : float array, shape (n_draws, n_people)
        Weights.

    Returns
    -------
    float array, shape (n_draws, n_trials)
        NaN where none of the drawn people has an RT.
    """
    is_there = np.isfinite(rt_s)
    total = people @ np.where(is_there, rt_s, 0.0)
    n = people @ is_there.astype(float)
    return np.where(n > 0, total / np.where(n > 0, n, 1.0), np.nan)


def estimate_interval(estimate: float, drawn: list[np.ndarray]) -> Interval:
    """Return the interval of a correlation from its bootstrap.

    Parameters
    ----------
    estimate
        The correlation on the data as they are; NaN when undefined.
    drawn : list of float arrays, shape (n_draws,)
        The correlation in each draw, in the order of `draw_bootstrap`.

    Returns
    -------
    Interval
        All None, with the reason, where the estimate is undefined or perfect, where it is undefined
        in over 5 % of the draws, or where the variance is not positive.
    """
    if not np.isfinite(estimate):
        return _no_interval("undefined: constant, or nothing left to correlate")
    undefined = max(float(np.mean(~np.isfinite(values))) for values in drawn)
    if undefined > MAX_UNDEFINED_SHARE:
        return _no_interval(f"no interval: undefined in {undefined:.0%} of the draws")
    largest = max(abs(estimate), *(float(np.nanmax(np.abs(values))) for values in drawn))
    if largest > 1 - PERFECT:
        return _no_interval("no interval: the correlation is perfect, as estimated or in a draw")
    variance = compute_variance([np.arctanh(values) for values in drawn])
    if not variance > 0:
        return _no_interval("no interval: the bootstrap variance is not positive")
    z, half_width = np.arctanh(estimate), CONFIDENCE_Z * np.sqrt(variance)
    return Interval(
        se=float(np.sqrt(variance) * (1 - estimate**2)),
        low=float(np.tanh(z - half_width)),
        high=float(np.tanh(z + half_width)),
        note=None,
    )


def compute_variance(drawn: list[np.ndarray]) -> float:
    """Return the variance over people and scenes of a statistic (ours; module docstring).

    Parameters
    ----------
    drawn : list of float arrays, shape (n_draws,)
        The statistic in each draw, in the order of `draw_bootstrap`; NaN draws are left out.
    """
    over_scenes, *by_half = drawn
    shared = [
        _covary(first, second) for first, second in zip(by_half[::2], by_half[1::2], strict=True)
    ]
    return float(np.nanvar(over_scenes, ddof=1) + np.mean(shared))


def _covary(first: np.ndarray, second: np.ndarray) -> float:
    both = np.isfinite(first) & np.isfinite(second)
    return float(np.cov(first[both], second[both])[0, 1])


def _draw_with_replacement(n: int, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    return rng.multinomial(n, np.full(n, 1 / n), size=n_draws).astype(float)


def _no_interval(note: str) -> Interval:
    return Interval(se=None, low=None, high=None, note=note)
