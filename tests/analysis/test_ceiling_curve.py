import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.ceiling_curve import choose_sizes, compute_ceiling_curve, predict_reliability
from analysis.rows import select_rows
from stimuli.errors import InputError
from tests.analysis.simulate import make_times, make_trials


def make_rows(rng, **kinds):
    trials = make_trials(kinds.pop("n_scenes", 60))
    times, _ = make_times(trials, rng, **kinds)
    return select_rows(times, trials)


def test_the_curve_follows_spearman_brown_of_planted_reliability():
    rng = np.random.default_rng(2)
    rows = make_rows(rng, n_people=24, trial_sd=0.1, noise_sd=0.25, n_scenes=150)
    table = compute_ceiling_curve(rows, rng=rng, n_draws=60)
    planted = 0.1**2 / (0.1**2 + 0.25**2 / table["n_people"])
    # Ranks of normal values: Spearman is 6 / pi asin(r / 2) of Pearson's r.
    wanted = 6 / np.pi * np.arcsin(planted / 2)
    assert table["mean_r"].to_numpy() == pytest.approx(wanted.to_numpy(), abs=0.04)
    assert table["mean_r"].is_monotonic_increasing
    assert table["predicted_r"].to_numpy() == pytest.approx(table["mean_r"].to_numpy(), abs=0.04)


def test_people_who_share_nothing_agree_by_nothing_and_nothing_is_predicted_below_zero():
    rng = np.random.default_rng(0)
    rows = make_rows(rng, n_people=8, trial_sd=0.0)
    table = compute_ceiling_curve(rows, rng=rng, n_draws=40)
    assert table["mean_r"].abs().max() < 0.15
    opposed = predict_reliability(np.array([1.0, 5.0]), r=-0.1, n_people=4)
    assert np.isnan(opposed).all()


def test_people_without_noise_agree_perfectly():
    rng = np.random.default_rng(0)
    table = compute_ceiling_curve(make_rows(rng, n_people=6, noise_sd=0.0), rng=rng, n_draws=5)
    assert table["mean_r"].to_numpy() == pytest.approx(1.0)
    assert table["predicted_r"].to_numpy() == pytest.approx(1.0)


def test_groups_without_common_trials_are_counted_not_averaged():
    rng = np.random.default_rng(0)
    rows = make_rows(rng, n_people=12, share=0.02, n_scenes=20)
    table = compute_ceiling_curve(rows, rng=rng, n_draws=20)
    assert table["n_undefined"].iloc[0] > 0


def test_too_few_people_and_too_large_groups_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="3 people; a ceiling's curve needs at least 4"):
        compute_ceiling_curve(make_rows(rng, n_people=3), rng=rng)
    with pytest.raises(InputError, match=r"groups of 2 to 5 people; expected 1 to 4"):
        compute_ceiling_curve(make_rows(rng, n_people=8), rng=rng, sizes=(2, 5))


@given(st.integers(1, 400))
def test_sizes_rise_to_the_largest(largest):
    sizes = choose_sizes(largest)
    assert sizes[-1] == largest
    assert list(sizes) == sorted(set(sizes))
    assert len(sizes) <= 8


@given(st.floats(0.01, 0.99), st.integers(1, 50), st.integers(1, 50))
def test_predicting_there_and_back_is_the_identity(r, n, m):
    there = predict_reliability(np.array([float(m)]), r=r, n_people=n)[0]
    assert predict_reliability(np.array([float(n)]), r=there, n_people=m)[0] == pytest.approx(r)
