"""Draws of people and scenes, and the interval that they give."""

import numpy as np
import pytest

from analysis.resampling import (
    compute_variance,
    draw_bootstrap,
    draw_halves,
    estimate_interval,
    mean_rt,
)


def drawn_with(scenes, people, noise=0.05):
    """Draws whose variance over scenes, and covariance over people, on Fisher's z are as given."""
    angle = 2 * np.pi * np.arange(400) / 400
    # Three waves without correlation, each of variance 1.
    shared, first, second = (np.sqrt(2) * np.cos(k * angle) for k in (1, 2, 3))
    scale = 399 / 400
    shared, first, second = (np.sqrt(scale) * wave for wave in (shared, first, second))
    halves = [np.tanh(np.sqrt(people) * shared + np.sqrt(noise) * own) for own in (first, second)]
    return [np.tanh(np.sqrt(scenes) * first), *halves, *halves]


def test_draws_keep_the_number_of_people_and_scenes_and_whole_scenes(rng):
    scenes = np.repeat(np.arange(5), 4)
    over_scenes, *by_half = draw_bootstrap(n_people=7, scenes=scenes, n_draws=50, rng=rng)
    assert (over_scenes.people == 1).all()
    assert (over_scenes.trials.sum(axis=1) == 20).all()
    by_scene = over_scenes.trials.reshape(50, 5, 4)
    assert (by_scene == by_scene[:, :, :1]).all()
    for first, second in zip(by_half[::2], by_half[1::2], strict=True):
        assert (first.people.sum(axis=1) == 7).all()
        assert (first.people == second.people).all()
        assert (first.is_used ^ second.is_used).all()
        assert set(scenes[first.is_used]).isdisjoint(scenes[second.is_used])


@pytest.mark.parametrize(("n_people", "n_first"), [(6, 3), (7, 3), (2, 1)])
def test_halves_are_disjoint_and_of_the_stated_size(rng, n_people, n_first):
    halves = draw_halves(n_people=n_people, n_draws=40, rng=rng)
    assert (halves.sum(axis=1) == n_first).all()
    assert halves.any(axis=0).all()


def test_the_mean_of_a_draw_counts_people_as_often_as_drawn():
    rt_s = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, 5.0]])
    means = mean_rt(rt_s, np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 1.0]]))
    assert means[0, 0] == pytest.approx(4 / 3)
    assert np.isnan(means[0, 1])
    assert means[1].tolist() == pytest.approx([7 / 3, 5.0])


def test_the_variance_is_that_over_scenes_plus_what_people_do_to_both_halves():
    interval = estimate_interval(0.0, drawn_with(0.006, 0.004))
    assert interval.se == pytest.approx(0.1)
    assert interval.high == pytest.approx(np.tanh(0.1959964))
    assert interval.low == pytest.approx(-interval.high)


@pytest.mark.parametrize(
    ("estimate", "drawn", "reason"),
    [
        (np.nan, drawn_with(0.01, 0.01), "undefined"),
        (1.0, drawn_with(0.01, 0.01), "perfect"),
        (0.5, [np.full(9, 0.5)] * 5, "not positive"),
        (0.5, [np.full(400, np.nan), *drawn_with(0.01, 0.01)[1:]], "undefined in 100%"),
        (0.5, [np.ones(400), *drawn_with(0.01, 0.01)[1:]], "perfect"),
    ],
)
def test_there_is_no_interval_without_its_conditions_and_the_reason_is_named(
    estimate, drawn, reason
):
    interval = estimate_interval(estimate, drawn)
    assert (interval.se, interval.low, interval.high) == (None, None, None)
    assert reason in interval.note


@pytest.mark.slow
def test_crossed_variances_are_recovered_without_overstating(rng):
    """The mean of crossed normal data has a known variance; the bootstrap gives it back."""
    n_people, n_scenes = 40, 50
    sd_p, sd_s, sd_e = 1.0, 1.5, 4.0
    true = sd_p**2 / n_people + sd_s**2 / n_scenes + sd_e**2 / (n_people * n_scenes)
    estimates = []
    for _ in range(100):
        data = (
            rng.normal(0, sd_p, (n_people, 1))
            + rng.normal(0, sd_s, (1, n_scenes))
            + rng.normal(0, sd_e, (n_people, n_scenes))
        )
        draws = draw_bootstrap(n_people=n_people, scenes=np.arange(n_scenes), n_draws=300, rng=rng)
        means = [
            ((draw.people @ data[:, draw.is_used]) / n_people * draw.trials).sum(axis=1)
            / draw.trials.sum(axis=1)
            for draw in draws
        ]
        estimates.append(compute_variance(means))
    assert np.mean(estimates) == pytest.approx(true, rel=0.1)
