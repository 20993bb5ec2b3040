"""Simulated studies: the published reliability, the design, planted correlations, every check."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.ceilings import compute_ceiling
from analysis.simulation import PUBLISHED_STUDY, Study, draw_model, simulate_study
from stimuli.errors import InputError


def test_the_published_study_has_the_published_reliability():
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = simulate_study(PUBLISHED_STUDY, rng).rows
        found.append(compute_ceiling(rows, n_halves=20, rng=rng).split_half_r)
    assert np.mean(found) == pytest.approx(0.42, abs=0.02)


def test_a_person_sees_one_condition_of_each_scene(rng):
    made = simulate_study(replace(PUBLISHED_STUDY, accuracy=1.0), rng)
    seen = np.isfinite(made.rows.rt_s)
    assert (seen.sum(axis=1) == 255).all()
    assert made.truth.shape == (len(made.rows.trial_ids),)


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.3, 1.0])
def test_a_planted_correlation_is_recovered(rng, correlation):
    truth = rng.normal(0, 0.1, 40_000)
    found = np.corrcoef(truth, draw_model(truth, correlation, rng))[0, 1]
    assert found == pytest.approx(correlation, abs=0.02)


@pytest.mark.parametrize(
    ("faulty", "message"),
    [
        ({"n_people": 0}, "at least one each"),
        ({"conditions_per_scene": 5}, "expected 1 to 4"),
        ({"accuracy": 0.0}, "accuracy 0.0"),
        ({"noise_sd_s": -1.0}, "none below 0"),
        ({"trial_sd_s": 0.0, "scene_sd_s": 0.0}, "scenes or trials that differ"),
        ({"cell_effects_s": (0.0,)}, "1 cell effects"),
    ],
)
def test_a_study_that_cannot_be_is_refused(faulty, message):
    with pytest.raises(InputError, match=message):
        Study(**faulty)


def test_a_correlation_beyond_one_is_refused(rng):
    with pytest.raises(InputError, match=r"correlation 1\.5"):
        draw_model(rng.normal(size=9), 1.5, rng)
