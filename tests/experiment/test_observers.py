"""Simulated people: valid tables, planted effects come back, the Latin square holds."""

import time

import numpy as np
import pandas as pd
import pytest

from experiment.diffusion import mean_decision_time_s, probability_upper
from experiment.observers import (
    DifficultyDesign,
    ObserverDesign,
    draw_true_difficulty,
    simulate_responses,
)
from experiment.tables import Responses
from stimuli.errors import InputError
from tests.experiment.displays import make_trials

NO_SPREAD = ObserverDesign(
    person_drift_sd=0,
    person_log_threshold_sd=0,
    person_log_non_decision_sd=0,
    person_trial_drift_sd=0,
    lapse=0,
    blank=0,
    timeout_s=1000,
)


@pytest.fixture
def trials():
    return make_trials(40)


@pytest.fixture
def difficulty(trials, rng):
    return draw_true_difficulty(trials, rng)


def test_rows_are_valid_and_say_that_they_are_simulated(trials, difficulty, rng):
    table = simulate_responses(trials, difficulty, n_people=8, rng=rng)
    Responses.validate(table)
    assert table["is_simulated"].all()
    assert table["participant_id"].unique().tolist() == [f"sim-{k:03d}" for k in range(1, 9)]


def test_each_person_sees_each_scene_once_and_each_condition_equally_often(trials, difficulty, rng):
    table = simulate_responses(trials, difficulty, n_people=8, rng=rng).merge(trials, on="trial_id")
    assert (table.groupby(["participant_id", "scene_id"]).size() == 1).all()
    cells = table.groupby(["participant_id", "same_object", "distance_condition"]).size()
    assert (cells == 10).all()
    assert (table.groupby("trial_id").size() == 2).all()


def test_people_can_see_every_display(trials, difficulty, rng):
    table = simulate_responses(trials, difficulty, n_people=3, rng=rng, see_every_display=True)
    assert (table.groupby("participant_id").size() == len(trials)).all()


def test_more_people_do_not_change_the_first_ones(trials, difficulty):
    few = simulate_responses(trials, difficulty, n_people=3, rng=np.random.default_rng(4))
    many = simulate_responses(trials, difficulty, n_people=9, rng=np.random.default_rng(4))
    pd.testing.assert_frame_equal(few, many.iloc[: len(few)])


def test_the_order_of_the_trial_table_does_not_decide_difficulty(trials, difficulty, rng):
    by_id = simulate_responses(trials, difficulty, n_people=2, rng=np.random.default_rng(4))
    shuffled = difficulty.sample(frac=1, random_state=1)
    again = simulate_responses(trials, shuffled, n_people=2, rng=np.random.default_rng(4))
    pd.testing.assert_frame_equal(by_id, again)


def test_accuracy_and_mean_rt_follow_from_the_declared_parameters(rng):
    trials = make_trials(500)
    difficulty = np.full(len(trials), 1.0)
    table = simulate_responses(
        trials, difficulty, n_people=40, rng=rng, design=NO_SPREAD, see_every_display=True
    )
    drift = NO_SPREAD.drift - NO_SPREAD.drift_per_difficulty
    share = (table["outcome"] == "correct").mean()
    assert share == pytest.approx(
        probability_upper(drift=drift, threshold=NO_SPREAD.threshold), abs=0.005
    )
    expected_s = NO_SPREAD.non_decision_s + mean_decision_time_s(
        drift=drift, threshold=NO_SPREAD.threshold
    )
    assert table["rt_s"].mean() == pytest.approx(expected_s, abs=0.005)


def test_harder_displays_are_slower_and_less_accurate(trials, difficulty, rng):
    table = simulate_responses(trials, difficulty, n_people=200, rng=rng)
    correct = table[table["outcome"] == "correct"].groupby("trial_id")["rt_s"].mean()
    assert correct.corr(difficulty, method="spearman") > 0.85
    accuracy = table["outcome"].eq("correct").groupby(table["trial_id"]).mean()
    assert accuracy.corr(difficulty, method="spearman") < -0.5


def test_default_people_resemble_the_published_ones(rng):
    trials = make_trials(256)
    table = simulate_responses(
        trials, draw_true_difficulty(trials, rng), n_people=72, rng=rng
    ).merge(trials, on="trial_id")
    correct = table[table["outcome"] == "correct"]
    means = correct.groupby(["same_object", "distance_condition"])["rt_s"].mean()
    assert 0.8 < means[True, "close"] < means[True, "far"] < means[False, "far"] < 1.0
    assert 0.85 < (table["outcome"] == "correct").mean() < 0.95
    assert 0 < (table["outcome"] == "timeout").mean() < 0.02


def test_no_answer_is_an_outcome_in_words_with_empty_fields(trials, difficulty, rng):
    design = ObserverDesign(blank=1.0, lapse=0.0)
    table = simulate_responses(trials, difficulty, n_people=1, rng=rng, design=design)
    assert (table["outcome"] == "timeout").all()
    assert table["rt_s"].isna().all()
    assert table["response"].isna().all()


def test_lapses_are_right_half_of_the_time(rng):
    trials = make_trials(300)
    design = ObserverDesign(lapse=1.0, blank=0.0)
    table = simulate_responses(trials, np.zeros(len(trials)), n_people=20, rng=rng, design=design)
    assert (table["outcome"] == "correct").mean() == pytest.approx(0.5, abs=0.03)
    assert table["rt_s"].max() <= design.timeout_s


def test_what_a_person_said_agrees_with_the_outcome(trials, difficulty, rng):
    table = simulate_responses(trials, difficulty, n_people=20, rng=rng).merge(
        trials, on="trial_id"
    )
    answered = table[table["response"].notna()]
    said_same = answered["response"] == "same"
    is_right = said_same == answered["same_object"]
    assert (is_right == (answered["outcome"] == "correct")).all()


def test_practice_displays_are_not_simulated(rng):
    trials = make_trials(8, n_practice=2)
    table = simulate_responses(trials, np.zeros(len(trials)), n_people=4, rng=rng)
    assert not table["trial_id"].str.startswith(("s008", "s009")).any()


def test_planted_difficulty_has_the_declared_size(rng):
    trials = make_trials(2000)
    design = DifficultyDesign(different=2.0, doubling_same=0.5, display_sd=0.1)
    mean = (
        draw_true_difficulty(trials, rng, design=design)
        .groupby([trials["same_object"].to_numpy(), trials["distance_condition"].to_numpy()])
        .mean()
    )
    assert mean.to_dict() == pytest.approx(
        {(True, "close"): 0, (True, "far"): 0.5, (False, "close"): 2, (False, "far"): 2}, abs=0.02
    )


def test_seventy_two_people_take_seconds(rng):
    trials = make_trials(256)
    start = time.perf_counter()
    simulate_responses(trials, np.zeros(len(trials)), n_people=72, rng=rng)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"threshold": 0}, "threshold is 0; expected above 0"),
        ({"lapse": -0.1}, "lapse is -0.1; expected 0 or more"),
        ({"lapse": 0.7, "blank": 0.7}, "add up to more than 1"),
        ({"person_drift_sd": float("nan")}, "person_drift_sd is nan"),
    ],
)
def test_impossible_observers_are_refused(fault, message):
    with pytest.raises(InputError, match=message):
        ObserverDesign(**fault)


def test_no_people_and_missing_difficulties_are_refused(trials, difficulty, rng):
    with pytest.raises(InputError, match="n_people is 0"):
        simulate_responses(trials, difficulty, n_people=0, rng=rng)
    with pytest.raises(InputError, match="missing for trial 's000_same_close'"):
        simulate_responses(trials, difficulty.iloc[1:], n_people=1, rng=rng)
    with pytest.raises(InputError, match="one value for each of the 160 trials"):
        simulate_responses(trials, np.zeros(3), n_people=1, rng=rng)
