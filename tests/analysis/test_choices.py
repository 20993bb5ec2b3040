"""Choices and EZ-diffusion: by hand, degenerate, recovered from simulated observers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from analysis.choices import compute_error_consistency, compute_sensitivity, compute_slower_auc
from analysis.ez_diffusion import fit_ez, solve_ez
from experiment.diffusion import sample_exits
from stimuli.errors import InputError


def test_a_planted_sensitivity_and_bias_are_recovered(rng):
    is_same = rng.random(40_000) < 0.5
    evidence = rng.normal(np.where(is_same, 1.0, -1.0), 1) - 0.3
    found = compute_sensitivity(evidence > 0, is_same)
    assert found.d_prime == pytest.approx(2.0, abs=0.05)
    assert found.criterion == pytest.approx(0.3, abs=0.03)


def test_swapped_answers_turn_d_prime_negative_and_perfect_ones_stay_finite():
    is_same = np.array([True] * 5 + [False] * 5)
    perfect = compute_sensitivity(is_same, is_same)
    swapped = compute_sensitivity(~is_same, is_same)
    assert np.isfinite(perfect.d_prime)
    assert swapped.d_prime == pytest.approx(-perfect.d_prime)
    one_type = compute_sensitivity(is_same[:5], is_same[:5])
    assert one_type.d_prime is None
    assert "one type" in one_type.note


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_the_auc_of_rt_is_sklearns(seed):
    rng = np.random.default_rng(seed)
    same, different = np.round(rng.normal(0, 2, 12)), np.round(rng.normal(1, 2, 9))
    expected = roc_auc_score(np.r_[np.zeros(12), np.ones(9)], np.r_[same, different])
    assert compute_slower_auc(same, different) == pytest.approx(expected)
    assert compute_slower_auc(different, same) == pytest.approx(1 - expected)
    assert np.isnan(compute_slower_auc(same, different[:0]))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_error_consistency_is_cohens_kappa(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, 30)) < 0.7
    assert compute_error_consistency(first, second) == pytest.approx(
        cohen_kappa_score(first, second)
    )


def test_error_consistency_by_hand_and_without_errors():
    first = np.array([True, True, False, False])
    assert compute_error_consistency(first, first) == 1
    assert compute_error_consistency(first, ~first) == -1
    assert compute_error_consistency(first, np.array([True, False, True, False])) == 0
    everything = np.ones(4, dtype=bool)
    assert compute_error_consistency(everything, everything) is None
    assert compute_error_consistency(first[:0], first[:0]) is None


@pytest.mark.parametrize(("drift", "threshold", "non_decision"), [(1.0, 1.4, 0.3), (2.5, 1.6, 0.5)])
def test_ez_recovers_planted_parameters_within_two_standard_errors(
    rng, drift, threshold, non_decision
):
    found = []
    for _ in range(40):
        is_upper, time_s = sample_exits(
            drift=np.full(1500, drift), threshold=np.full(1500, threshold), rng=rng
        )
        fit = fit_ez(is_upper, time_s + non_decision)
        found.append((fit.drift, fit.threshold, fit.non_decision_s))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(40)
    planted = np.array([drift, threshold, non_decision])
    # The moments' curvature leaves a bias of under 1 % at this size.
    assert (np.abs(mean - planted) < 2 * error + 0.01 * planted).all()


def test_drift_falls_with_difficulty_and_is_negative_below_chance(rng):
    drifts = []
    for planted in (3.0, 1.5, 0.6, -1.0):
        is_upper, time_s = sample_exits(
            drift=np.full(4000, planted), threshold=np.full(4000, 1.5), rng=rng
        )
        drifts.append(fit_ez(is_upper, time_s + 0.4).drift)
    assert drifts == sorted(drifts, reverse=True)
    assert drifts[-1] < 0


def test_ez_moments_by_hand_from_the_paper():
    """Their worked example (s = .1): Pc .802, VRT .112, MRT .723 give v .099, a .139, Ter .300."""
    drift, threshold, non_decision = solve_ez(accuracy=0.802, rt_variance=0.112, rt_mean_s=0.723)
    assert 0.1 * drift == pytest.approx(0.0999, abs=1e-3)
    assert 0.1 * threshold == pytest.approx(0.140, abs=1e-3)
    assert non_decision == pytest.approx(0.300, abs=1e-3)


def test_responses_without_errors_are_drawn_in_and_say_so(rng):
    fit = fit_ez(np.ones(50, dtype=bool), rng.uniform(0.5, 1, 50))
    assert "no errors" in fit.note
    assert np.isfinite(fit.drift)


@pytest.mark.parametrize(
    ("is_correct", "rt_s", "message"),
    [
        (np.ones(4, dtype=bool), np.ones(4), "4 responses"),
        (np.arange(20) % 2 == 0, np.arange(20.0) + 1, "accuracy 0.5"),
        (np.zeros(20, dtype=bool), np.arange(20.0) + 1, "accuracy 0 has"),
        (np.arange(20) > 3, np.ones(20), "don't vary"),
    ],
)
def test_what_ez_cannot_solve_is_named(is_correct, rt_s, message):
    with pytest.raises(InputError, match=message):
        fit_ez(is_correct, rt_s)
