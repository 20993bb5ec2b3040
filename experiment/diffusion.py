"""Exact first-passage times of a drift-diffusion process that starts midway between its bounds.

Evidence moves with drift v and noise 1 per square root of a second from 0 until it leaves
(-a/2, a/2) (Ratcliff 1978; Bogacz et al. 2006, appendix). Scaled by the half-width h = a/2, time
counts in units of h² and the drift is m = v h. With the start midway, which bound is reached and
when are independent: P(upper) = 1 / (1 + exp(-2 m)), and the time has the density

    g(t) = cosh(m) exp(-m² t / 2) f(t),

f being the exit time of (-1, 1) without drift. g is sampled by rejection, without a time step: f lies
below twice the first-passage density of one bound, which is Lévy's; with drift that bound becomes
the inverse Gaussian, and at least half of the proposals are accepted.
"""

import numpy as np

# Below this drift the Lévy proposal is used (acceptance 1 / (2 cosh m) >= .44), above it the
# inverse Gaussian (acceptance 1 / (1 + exp(-2 m)) >= .73).
_SMALL_DRIFT = 0.5
# The two series of f cross over here; four terms of either are exact to 1e-16.
_SERIES_CROSSOVER = 1.5
_TERMS = np.arange(5)


def sample_exits(
    *, drift: np.ndarray, threshold: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return which bound is reached and when.

    Parameters
    ----------
    drift : float array, any shape
        Evidence per second; positive drifts to the upper bound.
    threshold : float array, same shape
        Distance between the bounds.
    rng
        Source of the noise.

    Returns
    -------
    is_upper : bool array
    decision_time_s : float array
    """
    drift, threshold = np.broadcast_arrays(
        np.asarray(drift, dtype=float), np.asarray(threshold, dtype=float)
    )
    half = threshold / 2
    scaled = drift * half
    is_upper = rng.random(drift.shape) < probability_upper(drift=drift, threshold=threshold)
    time = _sample_scaled_times(np.abs(scaled).ravel(), rng).reshape(drift.shape)
    return is_upper, time * half**2


def probability_upper(*, drift: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the probability of reaching the upper bound, ``1 / (1 + exp(-v a))``."""
    return 0.5 * (1 + np.tanh(np.asarray(drift) * threshold / 2))


def mean_decision_time_s(*, drift: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the mean exit time, ``a / (2 v) tanh(v a / 2)``; ``a² / 4`` without drift."""
    half = np.asarray(threshold, dtype=float) / 2
    m = np.asarray(drift, dtype=float) * half
    with np.errstate(invalid="ignore", divide="ignore"):
        return half**2 * np.where(m == 0, 1.0, np.tanh(m) / m)


def _sample_scaled_times(m: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Exit times of (-1, 1) with drifts m >= 0, shape (n,)."""
    times = np.empty_like(m)
    waiting = np.arange(m.size)
    while waiting.size:
        proposed, accept = _propose(m[waiting], rng)
        is_taken = rng.random(waiting.size) < accept
        times[waiting[is_taken]] = proposed[is_taken]
        waiting = waiting[~is_taken]
    return times


def _propose(m: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Proposed times and the probability of accepting each."""
    is_small = m < _SMALL_DRIFT
    levy = 1.0 / rng.standard_normal(m.size) ** 2
    gaussian = rng.wald(1 / np.where(is_small, 1.0, m), 1.0)
    t = np.where(is_small, levy, gaussian)
    accept = _share_below_one_bound(t) * np.where(is_small, np.exp(-(m**2) * t / 2), 1.0)
    return t, accept


def _share_below_one_bound(t: np.ndarray) -> np.ndarray:
    """f(t) divided by its bound ``2 / sqrt(2 pi t³) exp(-1 / (2 t))``, in [0, 1]."""
    sign = (-1.0) ** _TERMS
    odd = 2 * _TERMS + 1
    early_t = np.minimum(t, _SERIES_CROSSOVER)[:, None]
    early = (sign * odd * np.exp(-2 * _TERMS * (_TERMS + 1) / early_t)).sum(axis=1)
    late_t = np.maximum(t, _SERIES_CROSSOVER)[:, None]
    density = (np.pi / 2 * sign * odd * np.exp(-(odd**2) * np.pi**2 * late_t / 8)).sum(axis=1)
    bound = 2 / np.sqrt(2 * np.pi * late_t[:, 0] ** 3) * np.exp(-1 / (2 * late_t[:, 0]))
    return np.where(t < _SERIES_CROSSOVER, early, density / bound)
