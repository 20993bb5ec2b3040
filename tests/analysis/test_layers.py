"""The best layer: noise scores zero when cross-fitted, and not when chosen on the scored scenes."""

import numpy as np
import pytest

from analysis.layers import find_best_layer
from analysis.rows import select_rows
from stimuli.errors import InputError
from tests.analysis.simulate import make_times, make_trials


def study(rng, n_scenes=40, **keywords):
    trials = make_trials(n_scenes)
    times, truth = make_times(trials, rng, n_people=12, **keywords)
    return select_rows(times, trials), truth


def test_24_layers_of_noise_score_zero_cross_fitted_and_well_above_it_naively():
    rng = np.random.default_rng(3)
    cross_fitted, naive = [], []
    for _ in range(60):
        rows, _ = study(rng)
        layers = {str(k): rng.normal(size=len(rows.trial_ids)) for k in range(24)}
        found = find_best_layer(layers, rows, rng=rng, n_halves=10)
        cross_fitted.append(found.cross_fitted_r)
        naive.append(found.naive_r)
    error = np.std(cross_fitted, ddof=1) / np.sqrt(60)
    assert abs(np.mean(cross_fitted)) < 2.5 * error
    assert error < 0.01
    assert np.mean(naive) > 0.1
    assert min(naive) > 0


def test_a_layer_that_is_better_is_chosen_and_loses_nothing(rng):
    rows, truth = study(rng, trial_sd=0.2)
    layers = {str(k): rng.normal(size=160) for k in range(5)} | {"good": truth}
    found = find_best_layer(layers, rows, rng=rng)
    assert found.naive_layer == "good"
    assert found.chosen_share["good"] == 1
    assert found.cross_fitted_r == pytest.approx(found.naive_r, abs=0.03)


def test_a_model_whose_every_layer_is_wrong_stays_below_zero(rng):
    rows, truth = study(rng, trial_sd=0.2)
    layers = {str(k): -truth + rng.normal(0, 0.1, 160) for k in range(4)}
    assert find_best_layer(layers, rows, rng=rng).cross_fitted_r < -0.2


def test_no_layer_few_scenes_and_constant_layers_are_named(rng):
    rows, _ = study(rng)
    with pytest.raises(InputError, match="no layer to choose from"):
        find_best_layer({}, rows, rng=rng)
    with pytest.raises(InputError, match="no layer has a headline value"):
        find_best_layer({"0": np.ones(160)}, rows, rng=rng)
    small, _ = study(rng, n_scenes=3)
    with pytest.raises(InputError, match="too few scenes: 3"):
        find_best_layer({"0": np.arange(12.0)}, small, rng=rng)
