"""First-passage times against closed forms and a slow random walk."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from experiment.diffusion import (
    _share_below_one_bound,
    mean_decision_time_s,
    probability_upper,
    sample_exits,
)

N = 100_000


@pytest.mark.parametrize("drift", [-2.0, -0.1, 0.0, 0.3, 0.9, 2.6, 8.0])
@pytest.mark.parametrize("threshold", [0.8, 1.6])
def test_mean_time_and_accuracy_follow_the_closed_forms(drift, threshold, rng):
    is_upper, time_s = sample_exits(
        drift=np.full(N, drift), threshold=np.full(N, threshold), rng=rng
    )
    expected = float(mean_decision_time_s(drift=drift, threshold=threshold))
    assert time_s.mean() == pytest.approx(expected, abs=5 * time_s.std() / np.sqrt(N))
    p = float(probability_upper(drift=drift, threshold=threshold))
    assert is_upper.mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / N) + 1e-4)


def test_ez_diffusion_recovers_drift_and_threshold(rng):
    """Wagenmakers et al. 2007, equations 5, 6 and 9, with their scaling s = 1."""
    drift, threshold, non_decision_s = 1.4, 1.5, 0.3
    is_upper, time_s = sample_exits(
        drift=np.full(N, drift), threshold=np.full(N, threshold), rng=rng
    )
    rt_s = time_s[is_upper] + non_decision_s
    p, variance = is_upper.mean(), rt_s.var()
    logit = np.log(p / (1 - p))
    found_drift = (logit * (p**2 * logit - p * logit + p - 0.5) / variance) ** 0.25
    found_threshold = logit / found_drift
    y = -found_drift * found_threshold
    found_decision = found_threshold / (2 * found_drift) * (1 - np.exp(y)) / (1 + np.exp(y))
    assert found_drift == pytest.approx(drift, rel=0.03)
    assert found_threshold == pytest.approx(threshold, rel=0.03)
    assert rt_s.mean() - found_decision == pytest.approx(non_decision_s, abs=0.015)


def test_times_have_the_distribution_of_a_fine_random_walk(rng):
    drift, threshold, step_s, n = 1.5, 1.0, 5e-5, 1500
    position, times = np.zeros(n), np.full(n, np.nan)
    for k in range(1, 60_000):
        position += drift * step_s + np.sqrt(step_s) * rng.standard_normal(n)
        has_left = np.isnan(times) & (np.abs(position) >= threshold / 2)
        times[has_left] = k * step_s
        if not np.isnan(times).any():
            break
    _, exact = sample_exits(drift=np.full(n, drift), threshold=np.full(n, threshold), rng=rng)
    assert ks_2samp(times[np.isfinite(times)], exact).pvalue > 0.01


def test_both_series_agree_where_they_meet():
    around = np.array([1.5 - 1e-9, 1.5 + 1e-9])
    early, late = _share_below_one_bound(around)
    assert early == pytest.approx(late, abs=1e-8)


def test_errors_and_correct_answers_take_equally_long(rng):
    is_upper, time_s = sample_exits(drift=np.full(N, 1.0), threshold=np.full(N, 1.2), rng=rng)
    assert ks_2samp(time_s[is_upper], time_s[~is_upper]).pvalue > 0.001


def test_without_drift_the_mean_time_is_a_quarter_of_the_squared_threshold():
    assert mean_decision_time_s(drift=0.0, threshold=2.0) == pytest.approx(1.0)
