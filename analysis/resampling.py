"""Draws of people and of scenes, and the interval that they give.

People and scenes are both samples, crossed. The bootstrap of both together overstates the variance,
because the person-by-scene noise enters it three times: with variance components p (people), s
(scenes) and e (their interaction and noise), resampling people gives p + e, scenes s + e, both
p + s + 3e. So the variance of a score is 2 (V_people + V_scenes) - V_both (Schuett et al. 2023,
rsatoolbox, eq. for the two-factor bootstrap), and the interval is normal on Fisher's z around the
estimate: resampled people are less reliable than real ones, which shifts percentile intervals.
"""

from dataclasses import dataclass

import numpy as np

CONFIDENCE_Z = 1.959963984540054  # two-sided 95 %

# A metric that is undefined in more than this share of draws gets no interval.
MAX_UNDEFINED_SHARE = 0.05


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
    trials : float array, shape (n_draws, n_trials)
        How often each trial's scene was drawn.
    """

    people: np.ndarray
    trials: np.ndarray


def draw_bootstrap(
    *, n_people: int, scenes: np.ndarray, n_draws: int, rng: np.random.Generator
) -> dict[str, Draw]:
    """Return the three bootstraps: of people, of scenes, of both.

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
    dict
        Keys "people", "scenes", "both".
    """
    n_scenes = int(scenes.max()) + 1

    def draw(n: int) -> np.ndarray:
        return rng.multinomial(n, np.full(n, 1 / n), size=n_draws).astype(float)

    same_people = np.ones((n_draws, n_people))
    same_scenes = np.ones((n_draws, len(scenes)))
    return {
        "people": Draw(people=draw(n_people), trials=same_scenes),
        "scenes": Draw(people=same_people, trials=draw(n_scenes)[:, scenes]),
        "both": Draw(people=draw(n_people), trials=draw(n_scenes)[:, scenes]),
    }


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


def estimate_interval(estimate: float, draws: dict[str, np.ndarray]) -> Interval:
    """Return the interval of a correlation from its three bootstraps.

    Parameters
    ----------
    estimate
        The correlation on the data as they are; NaN when undefined.
    draws
        The correlation in each draw, keys "people", "scenes", "both".

    Returns
    -------
    Interval
        All None, with the reason, where the estimate is undefined or perfect, where it is undefined
        in over 5 % of the draws, or where the variance is not positive.
    """
    if not np.isfinite(estimate):
        return _no_interval("undefined: constant, or nothing left to correlate")
    undefined = max(float(np.mean(~np.isfinite(values))) for values in draws.values())
    if undefined > MAX_UNDEFINED_SHARE:
        return _no_interval(f"no interval: undefined in {undefined:.0%} of the draws")
    if abs(estimate) >= 1 or any(np.nanmax(np.abs(values)) >= 1 for values in draws.values()):
        return _no_interval("no interval: the correlation is perfect, as estimated or in a draw")
    variance = {kind: float(np.nanvar(np.arctanh(v), ddof=1)) for kind, v in draws.items()}
    corrected = 2 * (variance["people"] + variance["scenes"]) - variance["both"]
    if not corrected > 0:
        return _no_interval("no interval: the bootstrap variance is not positive")
    z, half_width = np.arctanh(estimate), CONFIDENCE_Z * np.sqrt(corrected)
    return Interval(
        se=float(np.sqrt(corrected) * (1 - estimate**2)),
        low=float(np.tanh(z - half_width)),
        high=float(np.tanh(z + half_width)),
        note=None,
    )


def _no_interval(note: str) -> Interval:
    return Interval(se=None, low=None, high=None, note=note)
