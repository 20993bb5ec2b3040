import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.human import ReactionTimes
from analysis.person_tables import bin_reaction_times, summarise_persons, tabulate_quantiles
from tests.analysis.simulate import make_times, make_trials


def make_four(rt_s):
    rt_s = np.asarray(rt_s, dtype=float)
    return ReactionTimes(
        rt_s=rt_s,
        participant_ids=tuple(f"p{k}" for k in range(len(rt_s))),
        trial_ids=tuple(make_trials(1)["trial_id"]),
    )


def test_a_person_s_mean_median_and_accuracy_by_hand():
    times = make_four([[1.0, 2.0, 6.0, np.nan], [np.nan] * 4])
    answered = pd.DataFrame(
        {"participant_id": ["p0"] * 4, "outcome": ["correct", "correct", "correct", "wrong"]}
    )
    table = summarise_persons(times, answered, errors_recorded=True).set_index("participant_id")
    assert table.loc["p0", ["n_rts", "mean_rt_s", "median_rt_s", "accuracy"]].tolist() == [
        3,
        3.0,
        2.0,
        0.75,
    ]
    assert table.loc["p0", "sd_rt_s"] == pytest.approx(np.sqrt(7))
    assert table.loc["p1", "n_rts"] == 0
    assert table.loc["p1", "n_answered"] == 0
    assert table.loc["p1", ["mean_rt_s", "accuracy"]].isna().all()


def test_without_recorded_errors_accuracy_is_unknown_not_perfect():
    times = make_four([[1.0, 2.0, 6.0, 3.0]])
    answered = pd.DataFrame({"participant_id": ["p0"], "outcome": ["correct"]})
    table = summarise_persons(times, answered, errors_recorded=False)
    assert table["accuracy"].isna().all()
    assert table["n_answered"].isna().all()


def test_quantiles_are_those_of_numpy_within_each_kind_and_empty_kinds_are_left_out():
    times = make_four([[1.0, 2.0, 5.0, 9.0], [1.0, 1.0, np.nan, np.nan]])
    table = tabulate_quantiles(times, make_trials(1))
    own = table[(table["participant_id"] == "p0") & (table["kind"] == "different")]
    assert own["rt_s"].tolist() == pytest.approx(np.quantile([5.0, 9.0], own["quantile"]).tolist())
    constant = table[table["participant_id"] == "p1"]
    assert set(constant["kind"]) == {"same"}
    assert set(constant["rt_s"]) == {1.0}


@given(st.floats(0.1, 3.0), st.integers(0, 2**16))
def test_quantiles_scale_with_the_unit_and_bins_hold_every_rt_once(factor, seed):
    rng = np.random.default_rng(seed)
    trials = make_trials(4)
    times, _ = make_times(trials, rng, n_people=3, share=0.7)
    scaled = ReactionTimes(
        rt_s=times.rt_s * factor, participant_ids=times.participant_ids, trial_ids=times.trial_ids
    )
    plain = tabulate_quantiles(times, trials)["rt_s"].to_numpy()
    assert tabulate_quantiles(scaled, trials)["rt_s"].to_numpy() == pytest.approx(plain * factor)
    bins = bin_reaction_times(scaled, trials)
    assert bins["n"].sum() == np.isfinite(times.rt_s).sum()
    assert bins.groupby("condition")["share"].sum().to_numpy() == pytest.approx(1)


def test_a_bin_is_closed_below():
    times = make_four([[0.05, 0.049, 0.1, 0.2]])
    bins = bin_reaction_times(times, make_trials(1)).set_index(["condition", "low_s"])["n"]
    assert bins["same close"].to_numpy().tolist() == [0, 1, 0, 0, 0]
    assert bins["same far"].to_numpy().tolist() == [1, 0, 0, 0, 0]


def test_nobody_gives_empty_tables():
    nobody = make_four(np.full((1, 4), np.nan))
    assert bin_reaction_times(nobody, make_trials(1)).empty
    assert tabulate_quantiles(nobody, make_trials(1)).empty
