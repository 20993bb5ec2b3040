"""Mixed models of simulated people: planted effects, named errors before and after."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.mixed_models import (
    check_before,
    find_design_terms,
    fit_model,
    standardise,
    tabulate_rts,
)
from analysis.mixed_scores import fit_readout, score_mixed
from analysis.rows import select_rows, take_trials
from stimuli.errors import InputError
from tests.analysis.simulate import make_log_times, make_times, make_trials

KEY = ("m", None, None, "r")


def study(rng, **keywords):
    trials = make_trials(keywords.pop("n_scenes", 40))
    return select_rows(make_log_times(trials, rng, **keywords), trials)


def test_the_long_table_has_a_row_per_response_and_standardised_predictors(rng):
    rows = study(rng, readout_effect=0.0, readout=None, share=0.5, n_people=6)
    values = rng.normal(size=len(rows.trial_ids))
    table = tabulate_rts(rows, {"readout": values})
    assert len(table) == np.isfinite(rows.rt_s).sum()
    assert set(table["same"]) == {0.5, -0.5} == set(table["far"])
    by_trial = table.groupby("trial", sort=False)["readout"].first()
    assert by_trial.to_numpy() == pytest.approx(
        standardise(values, name="r")[[rows.trial_ids.index(name) for name in by_trial.index]]
    )
    k = table.index[7]
    person = rows.participant_ids.index(table.loc[k, "person"])
    trial = rows.trial_ids.index(table.loc[k, "trial"])
    assert table.loc[k, "log_rt"] == pytest.approx(np.log(1000 * rows.rt_s[person, trial]))


@pytest.mark.slow
def test_a_planted_effect_is_recovered_and_its_p_is_uniform_without_one(rng):
    found, p = [], []
    for _ in range(25):
        readout = rng.normal(size=160)
        rows = study(rng, readout_effect=0.03, readout=readout, scene_sd=0.12)
        formula = "log_rt ~ 1 + same + readout + (1 | person) + (1 | scene) + (1 | trial)"
        effect = fit_model(formula, tabulate_rts(rows, {"readout": readout}), reml=True)
        found.append((effect.effects["readout"].estimate, effect.effects["readout"].se))
        noise = rng.normal(size=160)
        nothing = fit_model(formula, tabulate_rts(rows, {"readout": noise}), reml=True)
        p.append(nothing.effects["readout"].p)
    estimate, se = np.mean(found, axis=0)
    assert abs(estimate - 0.03) < 2 * se / 5
    assert np.std([b for b, _ in found], ddof=1) == pytest.approx(se, rel=0.4)
    assert np.mean(np.array(p) < 0.05) <= 0.16  # 4 of 25; 5 % on average
    assert 0.3 < np.mean(p) < 0.7


def test_a_readout_that_matters_is_needed_by_every_test_and_its_sign_is_kept(rng):
    readout = rng.normal(size=160)
    rows = study(rng, readout_effect=0.06, readout=readout)
    table = score_mixed({KEY: readout, ("anti", None, None, "r"): -readout}, rows)
    right, wrong = table.iloc[0], table.iloc[1]
    assert right["estimate"] > 0
    assert right["ci_low"] > 0
    assert wrong["estimate"] == pytest.approx(-right["estimate"], rel=1e-4)
    assert right["lr_p"] < 1e-4
    assert right["delta_aic"] < -10
    assert right["delta_aic"] == pytest.approx(2 - right["lr_chi2"], abs=1e-6)
    assert right["marginal_r2"] > right["marginal_r2_without"]
    assert right["percent_per_sd"] == pytest.approx(100 * np.expm1(right["estimate"]))
    assert "(1 | trial)" in right["random_effects"]


def test_an_effect_on_same_trials_alone_shows_in_the_interaction(rng):
    readout = rng.normal(size=160)
    trials = make_trials(40)
    on_same = np.where(trials["same_object"], readout, 0.0)
    rows = select_rows(make_log_times(trials, rng, readout_effect=0.08, readout=on_same), trials)
    row = score_mixed({KEY: readout}, rows).iloc[0]
    assert row["interaction"] == pytest.approx(0.08, abs=0.03)
    assert row["interaction_p"] < 0.01
    assert row["interaction_lr_p"] < 0.01


def test_slopes_that_differ_between_people_are_found(rng):
    readout = rng.normal(size=160)
    rows = study(rng, readout_effect=0.05, readout=readout, slope_sd=0.05)
    score = fit_readout(rows, readout)
    assert "readout" in score.random_effects
    sd = np.sqrt(score.main.variances["person:readout"])
    assert sd == pytest.approx(0.05, rel=0.4)


def test_what_the_data_don_t_carry_is_given_up_by_name_and_the_trial_is_kept(rng):
    readout = rng.normal(size=160)
    rows = study(rng, readout_effect=0.05, readout=readout, scene_sd=0.0)
    row = score_mixed({KEY: readout}, rows).iloc[0]
    assert "(1 | trial)" in row["random_effects"]
    assert "given up" in row["note"]
    assert "boundary" in row["note"]


def few(rng, n_people=6, n_scenes=12):
    trials = make_trials(n_scenes)
    return select_rows(make_times(trials, rng, n_people=n_people)[0], trials)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda rng: (few(rng, n_people=4), rng.normal(size=48)), "too few people: 4"),
        (lambda rng: (few(rng, n_scenes=4), rng.normal(size=16)), "too few scenes: 4"),
        (lambda rng: (few(rng), np.ones(48)), "constant predictor: readout is 1 on all 48"),
        (lambda rng: (few(rng), np.r_[np.nan, np.ones(47)]), "missing: readout has no finite"),
        (lambda rng: (few(rng), few(rng).distance_px), "collinear"),
        (lambda rng: (few(rng), few(rng).is_same * 2.0), "collinear"),
    ],
)
def test_what_makes_a_fit_meaningless_is_named_before_it(rng, make, message):
    rows, readout = make(rng)
    with pytest.raises(InputError, match=message):
        check_before(rows, readout)
    row = score_mixed({KEY: readout}, rows).iloc[0]
    assert pd.isna(row["estimate"])
    assert message.split(":", maxsplit=1)[0] in row["note"]


def test_one_response_per_trial_is_named(rng):
    rows = few(rng)
    rt_s = np.full_like(rows.rt_s, np.nan)
    for k in range(rt_s.shape[1]):
        rt_s[k % 6, k] = rows.rt_s[k % 6, k]
    trials = make_trials(12)
    times, _ = make_times(trials, rng, n_people=6)
    sparse = select_rows(replace(times, rt_s=rt_s), trials)
    with pytest.raises(InputError, match="one response per trial"):
        check_before(sparse, rng.normal(size=48))


def balanced(rng, n=20):
    """Crossed data without any effect of group h."""
    g, h = np.divmod(np.arange(n * n), n)
    x = rng.normal(size=n * n)
    effect = rng.normal(size=n)[g]
    y = effect + rng.normal(size=n * n)
    noise_by_h = pd.Series(y).groupby(h).transform("mean") - y.mean()
    return pd.DataFrame(
        {"y": y - noise_by_h, "x": x, "g": g.astype(str), "h": h.astype(str), "z": 2 * x}
    )


def test_a_variance_of_zero_is_a_named_error_after_the_fit(rng):
    with pytest.raises(InputError, match="boundary: no variance of 'h:"):
        fit_model("y ~ x + (1 | g) + (1 | h)", balanced(rng), reml=True)


def test_a_correlation_of_one_is_a_named_error_after_the_fit(rng):
    data = balanced(rng)
    slope = data.groupby("g")["y"].transform("mean")
    data["y"] += slope * data["x"]
    with pytest.raises(InputError, match="boundary"):
        fit_model("y ~ x + (1 + x | g)", data, reml=True)


def test_a_predictor_that_another_makes_up_is_a_named_error_after_the_fit(rng):
    with pytest.raises(InputError, match="rank deficient"):
        fit_model("y ~ x + z + (1 | g)", balanced(rng), reml=True)


def test_an_optimiser_that_stops_early_is_a_named_error(rng, monkeypatch):
    import mixedlm

    honest = mixedlm.lmer

    def stopped(*words, **keywords):
        return honest(*words, **keywords, maxiter=1)

    monkeypatch.setattr(mixedlm, "lmer", stopped)
    with pytest.raises(InputError, match="not converged"):
        fit_model("y ~ x + (1 | g)", balanced(rng), reml=True)


def test_an_estimate_that_is_not_finite_is_a_named_error(rng, monkeypatch):
    import mixedlm

    from analysis import mixed_models

    class Broken:
        def __init__(self, fitted):
            self._fitted = fitted

        def __getattr__(self, name):
            return getattr(self._fitted, name)

        def fixef(self):
            return dict.fromkeys(self._fitted.fixef(), np.nan)

    honest = mixedlm.lmer
    monkeypatch.setattr(mixedlm, "lmer", lambda *w, **k: Broken(honest(*w, **k)))
    with pytest.raises(InputError, match="non-finite"):
        mixed_models.fit_model("y ~ x + (1 | g)", balanced(rng), reml=True, needs_df=False)


def test_terms_that_a_design_lacks_are_left_out_by_name(rng):
    rows = few(rng)
    assert find_design_terms(rows) == (["same", "far", "same:far", "distance"], [])
    only_same = take_trials(rows, rows.is_same)
    assert find_design_terms(only_same) == (["far", "distance"], ["same", "same:far"])
    close_same = take_trials(rows, rows.cells == 0)
    assert find_design_terms(close_same) == (["distance"], ["same", "far", "same:far"])
