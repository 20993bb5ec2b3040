"""Explained variance on unseen scenes: planted shares, noise, degenerate cases."""

import numpy as np
import pytest

from analysis.explained import (
    FoldSettings,
    assign_folds,
    cross_validate,
    estimate_trial_effects,
    explain_readouts,
)
from analysis.rows import select_rows
from stimuli.errors import InputError
from tests.analysis.simulate import make_log_times, make_trials

KEY = ("m", "", "", "r")
QUICK = FoldSettings(n_folds=5, n_repeats=2)


def study(rng, readout, effect, **keywords):
    trials = make_trials(len(readout) // 4)
    times = make_log_times(trials, rng, readout_effect=effect, readout=readout, **keywords)
    return select_rows(times, trials)


def test_additive_effects_are_recovered_exactly_whoever_saw_what(rng):
    person, trial = rng.normal(0, 0.3, (6, 1)), rng.normal(0, 0.1, 40)
    rt_s = np.exp(person + trial)
    rt_s[rng.random(rt_s.shape) > 0.6] = np.nan
    found = estimate_trial_effects(rt_s, n_steps=2000)
    seen = np.isfinite(found.effect)
    difference = found.effect[seen] - trial[seen]
    assert difference == pytest.approx(np.full(seen.sum(), difference[0]), abs=1e-5)
    assert found.noise == pytest.approx(0, abs=1e-8)


def test_the_error_is_that_of_plain_least_squares_on_left_out_scenes(rng):
    scenes = np.repeat(np.arange(12), 4)
    design = np.column_stack([np.ones(48), rng.normal(size=48)])
    effects = estimate_trial_effects(np.exp(rng.normal(0, 0.2, (5, 48))))
    folds = assign_folds(12, FoldSettings(n_folds=3, n_repeats=2))
    expected = []
    for fold in folds:
        for k in range(3):
            out = fold[scenes] == k
            slope = np.linalg.lstsq(design[~out], effects.effect[~out], rcond=None)[0]
            expected.append((effects.effect[out] - design[out] @ slope) ** 2)
    got = cross_validate(design, effects, scenes=scenes, folds=folds)
    assert got == pytest.approx(np.concatenate(expected).mean(), rel=1e-6)


@pytest.mark.slow
def test_a_planted_share_is_recovered_and_noise_explains_nothing(rng):
    """Readout SD 1, effect .06; other differences between trials: trial .04 and scene .03."""
    planted = 0.06**2 / (0.06**2 + 0.04**2 + 0.03**2)
    found, noise, covered = [], [], []
    for _ in range(12):
        readout = rng.normal(size=240)
        rows = study(rng, readout, 0.06, trial_sd=0.04, scene_sd=0.03)
        table = explain_readouts(
            {KEY: readout, ("noise", "", "", "r"): rng.normal(size=240)}, rows, settings=QUICK
        )
        found.append(table.loc[0, "share"])
        noise.append(table.loc[1, "share"])
        covered.append(table.loc[0, "share_low"] < planted < table.loc[0, "share_high"])
    for values, truth in ((found, planted), (noise, 0.0)):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - truth) < 3 * error + 0.02
    assert np.mean(covered) > 0.7


def test_a_useless_readout_may_score_below_zero_and_stays_there(rng):
    rows = study(rng, rng.normal(size=48), 0.0)
    shares = explain_readouts(
        {(f"m{k}", "", "", "r"): rng.normal(size=48) for k in range(6)}, rows, settings=QUICK
    )["share"]
    assert (shares < 0).any()


def test_trials_that_do_not_differ_leave_nothing_to_explain_and_say_so(rng):
    readout = rng.normal(size=48)
    found = []
    for _ in range(8):
        rows = study(rng, readout, 0.0, trial_sd=0.0, scene_sd=0.0, share=1.0)
        found.append(explain_readouts({KEY: readout}, rows, settings=QUICK).iloc[0])
    empty = [row for row in found if not row["explainable"] > 0]
    assert empty
    assert all("nothing to explain" in row["note"] and np.isnan(row["share"]) for row in empty)


def test_a_constant_readout_and_too_few_scenes_are_named(rng):
    rows = study(rng, rng.normal(size=48), 0.0)
    row = explain_readouts({KEY: np.ones(48)}, rows, settings=QUICK).iloc[0]
    assert "constant predictor" in row["note"]
    small = study(rng, rng.normal(size=36), 0.0)
    with pytest.raises(InputError, match="too few scenes: 9"):
        explain_readouts({KEY: rng.normal(size=36)}, small)
