"""Intervals of the ceilings: the jackknife by hand, its reasons, and what it recovers."""

import numpy as np
import pytest

from analysis.ceiling_intervals import (
    add_intervals,
    attainable_in_replicates,
    replicate_ceilings,
)
from analysis.ceilings import compute_ceiling, compute_ceilings, compute_one_vs_rest
from analysis.jackknife import combine_variance, jackknife_interval, leave_out
from analysis.metrics import Subset
from analysis.rows import select_rows
from tests.analysis.simulate import make_times, make_trials


def rows_of(rng, *, n_scenes=12, n_people=10, **keywords):
    trials = make_trials(n_scenes)
    times, _ = make_times(trials, rng, n_people=n_people, **keywords)
    return select_rows(times, trials)


def with_intervals(rows, rng, n_halves=6):
    ceilings = compute_ceilings(rows, n_halves=40, rng=rng)
    replicates = replicate_ceilings(rows, n_halves=n_halves, rng=rng)
    return add_intervals(ceilings, rows, replicates)


def test_whole_scenes_and_whole_people_are_left_out_once_each(rng):
    rows = rows_of(rng)
    over_scenes, *by_half = leave_out(rows, rng)
    assert over_scenes.trials.shape == (12, 48)
    assert ((over_scenes.trials == 0).sum(axis=0) == 1).all()
    by_scene = over_scenes.trials.reshape(12, 12, 4)
    assert (by_scene == by_scene[:, :, :1]).all()
    assert (over_scenes.people == 1).all()
    for first, second in zip(by_half[::2], by_half[1::2], strict=True):
        assert ((first.people == 0).sum(axis=0) == 1).all()
        assert (first.is_used ^ second.is_used).all()
        assert set(rows.scenes[first.is_used]).isdisjoint(rows.scenes[second.is_used])


def test_the_jackknife_variance_of_a_mean_is_its_textbook_variance(rng):
    """Leaving each value out: sum of squares / (n (n - 1)); no people's part without people."""
    values = rng.normal(size=30)
    left_out = (values.sum() - values) / 29
    flat = np.zeros(5)
    assert combine_variance([left_out, flat, flat]) == pytest.approx(values.var(ddof=1) / 30)
    shared = np.array([1.0, 2.0, 4.0])
    expected = 2 / 3 * (shared - shared.mean()) @ (shared - shared.mean())
    assert combine_variance([np.zeros(4), shared, shared]) == pytest.approx(expected)
    assert combine_variance([np.zeros(4), shared, -shared]) == 0.0


def test_intervals_hold_their_ceilings_and_rise_with_the_split_half(rng):
    for name, ceiling in with_intervals(rows_of(rng, trial_sd=0.15), rng).items():
        for what in ("split_half", "spearman_brown", "attainable", "one_vs_rest"):
            low, value, high = (getattr(ceiling, f"{what}{end}_r") for end in ("_low", "", "_high"))
            assert low < value < high, (name, what)
        assert ceiling.spearman_brown_low_r == pytest.approx(
            2 * ceiling.split_half_low_r / (1 + ceiling.split_half_low_r)
        )


def test_the_published_bound_has_the_interval_of_the_root_of_the_half_half_r(rng):
    published = with_intervals(rows_of(rng, trial_sd=0.15), rng)["published"]
    assert published.attainable_low_r == pytest.approx(np.sqrt(published.split_half_low_r))


def test_one_vs_rest_with_nobody_left_out_is_the_mean_over_people(rng):
    rows = rows_of(rng, share=0.6)
    replicates = replicate_ceilings(rows, n_halves=2, rng=rng)
    assert replicates is not None
    whole = np.mean(compute_one_vs_rest(rows)["partial"])
    assert np.mean(replicates.one_vs_rest["partial"][0]) == pytest.approx(whole, abs=0.02)


@pytest.mark.parametrize(
    ("n_scenes", "n_people", "reason"),
    [(12, 3, "3 people, at least 4"), (3, 12, "3 scenes, at least 4")],
)
def test_too_few_people_or_scenes_have_no_interval_and_say_so(rng, n_scenes, n_people, reason):
    rows = rows_of(rng, n_scenes=n_scenes, n_people=n_people)
    ceiling = with_intervals(rows, rng)["all"]
    assert ceiling.split_half_low_r is None
    assert reason in ceiling.note


def test_perfect_agreement_has_no_interval_and_says_so(rng):
    rows = rows_of(rng, noise_sd=0.0)
    ceiling = with_intervals(rows, rng)["all"]
    assert ceiling.split_half_r == pytest.approx(1)
    assert ceiling.split_half_low_r is None
    assert "perfect" in ceiling.note


def test_a_reliability_whose_interval_reaches_zero_says_so_and_has_no_lower_end(rng):
    ceiling = with_intervals(rows_of(rng, trial_sd=0.0), np.random.default_rng(2))["all"]
    assert ceiling.split_half_low_r < 0
    assert ceiling.attainable_low_r is None
    assert "reaches zero" in ceiling.note


def test_halves_that_disagree_have_no_attainable_r_in_a_replicate(rng):
    replicates = replicate_ceilings(rows_of(rng, trial_sd=0.0), n_halves=3, rng=rng)
    assert replicates is not None
    for r, bound in zip(
        replicates.split_half["all"], attainable_in_replicates(replicates, "all"), strict=True
    ):
        assert (np.isnan(bound) == (r <= 0)).all()


@pytest.mark.parametrize(
    ("estimate", "replicated", "reason"),
    [
        (np.nan, [np.arange(4.0)] * 3, "undefined"),
        (0.5, [np.array([1.0, np.nan]), np.ones(2), np.ones(2)], "when some people or scenes"),
        (0.5, [np.ones(4)] * 3, "not positive"),
    ],
)
def test_there_is_no_interval_without_its_conditions(rng, estimate, replicated, reason):
    interval = jackknife_interval(estimate, replicated, rows_of(rng))
    assert interval.low is None
    assert reason in interval.note


@pytest.mark.slow
def test_the_error_of_a_split_half_is_that_over_repeated_studies():
    """Repeated studies give the error that one study states."""
    rng = np.random.default_rng(4)
    plain = (Subset(metrics=("all",), trials="all"),)
    found = []
    for _ in range(40):
        rows = rows_of(rng, n_scenes=20, n_people=12, trial_sd=0.1)
        ceiling = {"all": compute_ceiling(rows, n_halves=40, rng=rng)}
        replicates = replicate_ceilings(rows, n_halves=4, rng=rng, subsets=plain)
        ceiling = add_intervals(ceiling, rows, replicates)["all"]
        z = np.arctanh([ceiling.split_half_r, ceiling.split_half_low_r, ceiling.split_half_high_r])
        found.append((z[0], (z[2] - z[1]) / 2 / 1.96))
    z, se = np.array(found).T
    assert np.sqrt(np.mean(se**2)) == pytest.approx(z.std(ddof=1), rel=0.3)
