import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.person_scores import OTHERS, score_persons, summarise_person_scores
from analysis.rows import select_rows
from tests.analysis.simulate import make_times, make_trials

KEY = ("m", "1", "tokens", "cosine")


def make_rows(rng, **kinds):
    trials = make_trials(kinds.pop("n_scenes", 40))
    times, truth = make_times(trials, rng, **kinds)
    return select_rows(times, trials), truth


def test_a_person_s_r_is_scipy_s_on_the_trials_that_the_person_saw():
    rng = np.random.default_rng(1)
    rows, truth = make_rows(rng, n_people=5, share=0.6)
    table = score_persons({KEY: truth}, rows)
    own = table[table["model"] == "m"].set_index("participant_id")
    for person, rt_s in zip(rows.participant_ids, rows.rt_s, strict=True):
        seen = np.isfinite(rt_s)
        assert own.loc[person, "all_r"] == pytest.approx(spearmanr(truth[seen], rt_s[seen])[0])
        assert own.loc[person, "n_trials"] == seen.sum()


def test_the_truth_beats_the_others_and_noise_is_nothing():
    rng = np.random.default_rng(3)
    rows, truth = make_rows(rng, n_people=16, trial_sd=0.1, n_scenes=100)
    noise = ("noise", "", "", "r")
    table = summarise_person_scores(
        score_persons({KEY: truth, noise: rng.normal(size=len(truth))}, rows)
    ).set_index("model")
    assert table.loc["m", "mean_r"] > table.loc[OTHERS, "mean_r"] > 0.2
    assert table.loc["m", "share_above_0"] == 1
    assert abs(table.loc["noise", "mean_r"]) < 0.05


def test_a_model_that_is_wrong_about_everybody_is_below_zero():
    rng = np.random.default_rng(3)
    rows, truth = make_rows(rng, n_people=6)
    table = score_persons({KEY: -truth}, rows)
    assert (table.loc[table["model"] == "m", "partial_r"] < 0).all()


def test_what_is_constant_is_empty_and_one_person_has_no_interval():
    rng = np.random.default_rng(0)
    rows, _ = make_rows(rng, n_people=1)
    table = score_persons({KEY: np.zeros(len(rows.trial_ids))}, rows)
    assert table["partial_r"].isna().all()  # nobody else, and a constant readout
    summary = summarise_person_scores(table).set_index("model")
    assert summary.loc["m", "n_people"] == 0
    assert np.isnan(summary.loc["m", "mean_r"])
    one, truth = make_rows(np.random.default_rng(5), n_people=1)
    alone = summarise_person_scores(score_persons({KEY: truth}, one)).set_index("model")
    assert np.isfinite(alone.loc["m", "mean_r"])
    assert np.isnan(alone.loc["m", "ci_low_r"])


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_a_rising_transform_of_the_readout_changes_nothing(scale):
    rng = np.random.default_rng(8)
    rows, truth = make_rows(rng, n_people=4)
    plain = score_persons({KEY: truth}, rows)
    changed = score_persons({KEY: np.exp(scale * truth)}, rows)
    assert changed["all_r"].to_numpy() == pytest.approx(plain["all_r"].to_numpy())
