"""From responses to the human table and the ledger."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, percentileofscore

from analysis.exclusions import apply_rules
from analysis.human import (
    ReactionTimes,
    build_matrix,
    compute_percentiles,
    read_responses,
    summarise_conditions,
    summarise_trials,
    wilson_interval,
)
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.errors import InputError, TableError
from stimuli.table_io import write_table
from tests.analysis.simulate import make_responses, make_times, make_trials

MANIFEST = Manifest(name="t", version="1", source="test", licence="none", is_simulated=True)


def respond(outcome="correct", *, person="p1", trial="s0_0", rt_s=0.8, is_practice=False):
    return {
        "participant_id": person,
        "session": "1",
        "trial_id": trial,
        "is_practice": is_practice,
        "outcome": outcome,
        "response": "same",
        "rt_s": rt_s,
        "is_simulated": True,
    }


def as_times(rt_s):
    rt_s = np.array(rt_s, dtype=float)
    return ReactionTimes(
        rt_s=rt_s,
        participant_ids=tuple(f"p{k}" for k in range(len(rt_s))),
        trial_ids=tuple(f"s0_{k}" for k in range(rt_s.shape[1])),
    )


def test_two_analysed_responses_of_one_person_to_one_trial_are_refused():
    trials = make_trials(1)
    twice = pd.DataFrame([respond(), respond(rt_s=0.9)])
    with pytest.raises(TableError, match=r"'p1' has two analysed responses to trial 's0_0'"):
        build_matrix(twice, trials)


def test_nothing_left_after_the_exclusions_is_an_error():
    with pytest.raises(InputError, match="no response is left"):
        build_matrix(pd.DataFrame([respond()]).head(0), make_trials(1))


@given(st.lists(st.floats(0.1, 5), min_size=1, max_size=30))
@settings(max_examples=50, deadline=None)
def test_percentiles_are_scipys_rank_kind(values):
    got = compute_percentiles(np.array([[*values, np.nan]]))[0]
    expected = [percentileofscore(values, value, kind="rank") for value in values]
    assert got[:-1] == pytest.approx(expected)
    assert np.isnan(got[-1])


def test_the_human_table_by_hand():
    times = as_times([[0.5, np.nan, 1.0, 2.0], [0.7, np.nan, np.nan, 3.0]])
    table = summarise_trials(times, pd.DataFrame([respond()]), errors_recorded=False)
    assert table["n_people"].tolist() == [2, 0, 1, 2]
    assert table["mean_rt_s"].tolist() == pytest.approx([0.6, np.nan, 1.0, 2.5], nan_ok=True)
    assert table["sem_rt_s"].tolist() == pytest.approx([0.1, np.nan, np.nan, 0.5], nan_ok=True)
    assert table["mean_log_rt"].iloc[0] == pytest.approx((np.log(0.5) + np.log(0.7)) / 2)
    assert table["mean_rt_percentile"].iloc[0] == pytest.approx((100 / 3 + 50) / 2)
    assert table["accuracy"].isna().all()


def test_accuracy_counts_answers_and_leaves_practice_and_timeouts_out():
    times = as_times([[0.8, 0.8, 0.8, 0.8]])
    rows = [
        respond(),
        respond("wrong", person="p2"),
        respond("timeout", person="p3", rt_s=np.nan),
        respond("wrong", person="p4", is_practice=True),
    ]
    answered = apply_rules(pd.DataFrame(rows)).answered
    table = summarise_trials(times, answered, errors_recorded=True)
    assert table["accuracy"].iloc[0] == pytest.approx(0.5)
    assert table["n_answered"].tolist() == [2, 0, 0, 0]
    assert table["accuracy"].isna().tolist() == [False, True, True, True]
    low, high = table.loc[0, ["accuracy_low", "accuracy_high"]]
    assert (low, high) == pytest.approx((0.0945, 0.9055), abs=1e-3)


@given(st.integers(1, 60), st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_the_interval_of_accuracy_is_scipys_wilson_interval(n, k):
    k = min(k, n)
    low, high = wilson_interval(np.array([float(k)]), np.array([float(n)]))
    expected = binomtest(k, n).proportion_ci(method="wilson")
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_benchmark_without_people_is_one_clear_message(tmp_path):
    benchmark = write_benchmark(tmp_path / "b", manifest=MANIFEST, trials=make_trials(2))
    with pytest.raises(InputError, match="no people"):
        read_responses(benchmark)


def test_responses_to_unknown_trials_and_correct_without_rt_are_named(tmp_path):
    benchmark = write_benchmark(tmp_path / "b", manifest=MANIFEST, trials=make_trials(2))
    path = benchmark.responses_folder / "p1.csv"
    write_table(pd.DataFrame([respond(trial="elsewhere")]), path)
    with pytest.raises(TableError, match=r"p1\.csv: trial_id 'elsewhere' not in"):
        read_responses(benchmark)
    write_table(pd.DataFrame([respond(), respond(trial="s0_1", rt_s=np.nan)]), path)
    with pytest.raises(TableError, match=r"p1\.csv, line 3: outcome 'correct' without rt_s"):
        read_responses(benchmark)


def test_ids_stay_text_through_the_file(tmp_path):
    benchmark = write_benchmark(tmp_path / "b", manifest=MANIFEST, trials=make_trials(2))
    rows = [respond(person="007"), respond(person="NA", trial="s0_1")]
    write_table(pd.DataFrame(rows), benchmark.responses_folder / "p.csv")
    assert read_responses(benchmark)["participant_id"].tolist() == ["007", "NA"]


def test_conditions_are_means_and_sems_over_trials(rng):
    trials = make_trials(6)
    times, _ = make_times(trials, rng)
    human = summarise_trials(times, make_responses(times), errors_recorded=False)
    table = summarise_conditions(human, trials).set_index("condition")
    close = human.loc[trials["same_object"] & trials["distance_condition"].eq("close"), "mean_rt_s"]
    assert table.index.tolist() == ["same close", "same far", "different close", "different far"]
    assert table.loc["same close", "mean_rt_s"] == pytest.approx(close.mean())
    assert table.loc["same close", "sem_rt_s"] == pytest.approx(close.std() / np.sqrt(6))
