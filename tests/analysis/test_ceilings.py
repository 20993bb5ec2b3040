"""Ceilings: by hand, degenerate, and recovered from planted reliabilities."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.ceilings import apply_spearman_brown, compute_ceilings, compute_one_vs_rest
from analysis.human import ReactionTimes
from analysis.rows import select_rows
from tests.analysis.simulate import make_times, make_trials


def rows_of(rt_s, trials):
    times = ReactionTimes(
        rt_s=np.asarray(rt_s, dtype=float),
        participant_ids=tuple(f"p{k}" for k in range(len(rt_s))),
        trial_ids=tuple(trials["trial_id"]),
    )
    return select_rows(times, trials)


def test_spearman_brown_by_hand_and_below_zero():
    assert apply_spearman_brown(1.0) == 1.0
    assert apply_spearman_brown(0.6) == pytest.approx(0.75)
    assert apply_spearman_brown(0.0) is None
    assert apply_spearman_brown(-0.3) is None


def test_people_who_agree_perfectly_have_ceilings_of_one(rng):
    trials = make_trials(5)
    truth = rng.permutation(20) + 1.0
    ceiling = compute_ceilings(rows_of([truth, truth + 5, truth**2], trials), n_halves=20, rng=rng)
    for name in ("split_half_r", "spearman_brown_r", "attainable_r", "one_vs_rest_r"):
        assert getattr(ceiling["all"], name) == pytest.approx(1)


def test_people_who_disagree_have_no_reliability_and_say_so(rng):
    trials = make_trials(5)
    truth = np.arange(20.0) + 1
    ceiling = compute_ceilings(rows_of([truth, 30 - truth], trials), n_halves=20, rng=rng)["all"]
    assert ceiling.split_half_r == pytest.approx(-1)
    assert ceiling.spearman_brown_r is None
    assert ceiling.attainable_r is None
    assert "not above zero" in ceiling.note


@pytest.mark.parametrize(
    ("rt_s", "reason"),
    [(np.ones((1, 8)), "1 people"), (np.ones((3, 8)), "constant")],
)
def test_one_person_and_constant_people_have_no_ceiling_and_say_why(rng, rt_s, reason):
    ceiling = compute_ceilings(rows_of(rt_s, make_trials(2)), n_halves=10, rng=rng)["all"]
    assert ceiling.split_half_r is None
    assert ceiling.one_vs_rest_r is None
    assert reason in ceiling.note


def test_a_design_without_same_trials_has_no_ceiling_within_them(rng):
    trials = make_trials(6)
    trials = trials[~trials["same_object"]].reset_index(drop=True)
    times, _ = make_times(trials, rng)
    ceilings = compute_ceilings(select_rows(times, trials), n_halves=10, rng=rng)
    assert ceilings["same"].split_half_r is None
    assert ceilings["different"].split_half_r is not None


def test_one_vs_rest_is_the_plain_loop(rng):
    trials = make_trials(10)
    times, _ = make_times(trials, rng, n_people=8, share=0.5)
    rows = select_rows(times, trials)
    got = compute_one_vs_rest(rows)["all"]
    for k in range(len(rows.rt_s)):
        others = np.delete(rows.rt_s, k, axis=0)
        both = np.isfinite(rows.rt_s[k]) & np.isfinite(others).any(axis=0)
        expected = spearmanr(rows.rt_s[k, both], np.nanmean(others[:, both], axis=0)).statistic
        assert got[k] == pytest.approx(expected)


@pytest.mark.slow
def test_a_planted_reliability_is_recovered_within_two_standard_errors(rng):
    """Normal data: the halves' correlation is s2 / (s2 + n2 / (P/2)); Spearman is 6/pi asin(r/2)."""
    n_people, trial_sd, noise_sd = 40, 0.05, 0.25
    trials = make_trials(100)
    half = trial_sd**2 / (trial_sd**2 + noise_sd**2 / (n_people / 2))
    whole = trial_sd**2 / (trial_sd**2 + noise_sd**2 / n_people)

    def spearman(r):
        return 6 / np.pi * np.arcsin(r / 2)

    found = []
    for _ in range(30):
        times, truth = make_times(
            trials, rng, n_people=n_people, trial_sd=trial_sd, noise_sd=noise_sd
        )
        rows = select_rows(times, trials)
        ceiling = compute_ceilings(rows, n_halves=50, rng=rng)["all"]
        perfect = spearmanr(truth, rows.mean_rt_s).statistic
        found.append((ceiling.split_half_r, ceiling.attainable_r, perfect))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    assert abs(mean[0] - spearman(half)) < 2 * error[0]
    # Spearman-Brown and its root hold for Pearson r; for ranks they are an approximation, whose
    # error here is below 0.015.
    assert mean[1] == pytest.approx(np.sqrt(spearman(whole)), abs=0.015 + 2 * error[1])
    assert mean[2] == pytest.approx(mean[1], abs=0.015 + 2 * error[2])


def test_the_published_ceiling_of_a_perfect_model_is_the_root_of_the_half_half_r(rng):
    trials = make_trials(30)
    times, _ = make_times(trials, rng)
    ceilings = compute_ceilings(select_rows(times, trials), n_halves=50, rng=rng)
    published = ceilings["published"]
    assert published.attainable_r == pytest.approx(np.sqrt(published.split_half_r))


@pytest.mark.slow
def test_a_planted_one_vs_rest_is_recovered_within_two_standard_errors(rng):
    """Normal data: s2 / sqrt((s2 + n2) (s2 + n2 / (P - 1))), as Spearman."""
    n_people, trial_sd, noise_sd = 12, 0.1, 0.2
    trials = make_trials(60)
    signal, noise = trial_sd**2, noise_sd**2
    planted = signal / np.sqrt((signal + noise) * (signal + noise / (n_people - 1)))
    found = []
    for _ in range(30):
        times, _ = make_times(trials, rng, n_people=n_people, trial_sd=trial_sd, noise_sd=noise_sd)
        found.append(compute_one_vs_rest(select_rows(times, trials))["all"].mean())
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - 6 / np.pi * np.arcsin(planted / 2)) < 2 * error
