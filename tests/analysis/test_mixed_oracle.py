"""R's lme4 and lmerTest on the published data, to five digits."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.adeli2023 import read_published_readouts, read_published_responses
from analysis.human import build_matrix
from analysis.mixed_models import fit_model, tabulate_rts
from analysis.rows import select_rows
from stimuli.adeli2023 import TRIALS_FILE, read_published_table, tabulate_trials

pytestmark = [pytest.mark.shared, pytest.mark.slow]

# The oracle's names of the groups.
OURS = {"subj": "person", "img_id": "scene", "trial": "trial", "lrt": "log_rt", "steps": "readout"}
MODELS = ("subj_image", "subj_image_trial", "subj_slope_trial", "ml_full", "ml_null")


@pytest.fixture(scope="module")
def oracle(shared):
    return json.loads((shared / "oracles/lme4_oracle.json").read_text())


@pytest.fixture(scope="module")
def data(shared):
    """As the oracle's script has it: correct RTs of at least 100 ms."""
    source = shared / "adeli2023"
    trials = tabulate_trials(read_published_table(source / TRIALS_FILE), source="published")
    responses = read_published_responses(source)
    times = build_matrix(responses[responses["rt_s"] >= 0.1], trials)
    readouts = read_published_readouts(source, trials["trial_id"])
    steps = readouts[readouts["readout"] == "spread_steps"]["value"].to_numpy(float)
    return tabulate_rts(select_rows(times, trials), {"readout": steps})


def translate(text):
    for theirs, ours in OURS.items():
        text = text.replace(theirs, ours)
    return text


@pytest.fixture(scope="module", params=MODELS)
def pair(request, oracle, data):
    expected = oracle[request.param]
    return expected, fit_model(translate(expected["formula"]), data, reml=expected["REML"])


def test_the_data_are_the_oracles(data):
    assert len(data) == 15479
    assert data["readout"].groupby(data["trial"]).first().to_numpy().std() == pytest.approx(1)


def test_estimates_errors_and_likelihood_are_lme4s(pair):
    expected, fit = pair
    assert fit.n_observations == expected["nobs"]
    assert fit.log_likelihood == pytest.approx(expected["logLik"], abs=1e-3)
    assert fit.aic == pytest.approx(expected["AIC"], abs=1e-2)
    for k, term in enumerate(expected["terms"]):
        effect = fit.effects[translate(term)]
        assert effect.estimate == pytest.approx(expected["estimate"][k], rel=1e-5), term
        assert effect.se == pytest.approx(expected["se"][k], rel=1e-3), term


def test_degrees_of_freedom_and_p_are_lmertests(pair):
    expected, fit = pair
    for k, term in enumerate(expected["terms"]):
        effect = fit.effects[translate(term)]
        assert effect.df == pytest.approx(expected["df"][k], rel=0.01), term
        assert np.log(effect.p) == pytest.approx(np.log(expected["p"][k]), rel=0.02), term


def test_variances_are_lme4s(pair):
    expected, fit = pair
    found = pd.DataFrame(expected["vc"])
    for _, row in found[found.get("var2", pd.Series(index=found.index)).isna()].iterrows():
        if row["grp"] == "Residual":
            assert fit.variances["residual"] == pytest.approx(row["vcov"], rel=1e-3)
        else:
            name = f"{translate(row['grp'])}:{translate(row['var1'])}"
            assert fit.variances[name] == pytest.approx(row["vcov"], rel=2e-3), name
    assert fit.fixed_variance == pytest.approx(expected["fixed_var"], rel=1e-3)


def test_without_the_trials_effect_the_df_are_ten_times_too_many(oracle, data):
    formula = "log_rt ~ same * far + readout + (1 | person) + (1 | scene)"
    without = fit_model(formula, data, reml=True).effects["readout"]
    having = fit_model(f"{formula} + (1 | trial)", data, reml=True).effects["readout"]
    assert without.df > 10 * having.df
    assert without.se < 0.8 * having.se
