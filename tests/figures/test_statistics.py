"""The statistics behind the figures: the regression, the extremes, the mean ROC curves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import linregress, spearmanr
from scipy.stats import t as student_t

from analysis.extremes import choose_readout, find_extremes, predict_difficulty
from analysis.published_roc import average_curves, measure_area, read_published_roc
from analysis.regression import fit_line, predict_band
from stimuli.errors import TableError
from tests.analysis.simulate import make_readouts, make_trials


def test_a_line_by_hand():
    # x = 0, 1, 2; y = 0, 2, 1: slope 1/2, intercept 1/2, residuals -.5, 1, -.5, s² = 1.5.
    line = fit_line(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0]))
    assert (line.slope, line.intercept) == pytest.approx((0.5, 0.5))
    assert line.residual_sd == pytest.approx(np.sqrt(1.5))
    assert line.spearman_r == pytest.approx(0.5)
    half_width = 12.706204736 * np.sqrt(1.5 / 2)  # t(.975, 1) and Sxx = 2
    assert (line.slope_low, line.slope_high) == pytest.approx((0.5 - half_width, 0.5 + half_width))


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "0 points"),
        ([0.0, 1.0], [0.0, 1.0], "2 points, at least 3"),
        ([2.0, 2.0, 2.0], [0.0, 1.0, 2.0], "the same x"),
        ([0.0, 1.0, 2.0], [0.7, 0.7, 0.7], "the same y"),
    ],
)
def test_no_line_has_its_reason_and_no_numbers(x, y, reason):
    line = fit_line(np.array(x), np.array(y))
    assert reason in line.note
    assert line.slope is None
    assert line.spearman_r is None


def test_a_falling_line_stays_falling():
    line = fit_line(np.arange(5.0), -np.arange(5.0))
    assert line.slope == pytest.approx(-1)
    assert line.spearman_r == pytest.approx(-1)
    assert line.residual_sd == pytest.approx(0, abs=1e-12)


points = st.lists(
    st.tuples(st.floats(-10, 10), st.floats(-10, 10)),
    min_size=4,
    max_size=12,
    unique_by=lambda p: p[0],
)


@settings(max_examples=50, deadline=None)
@given(points, st.floats(0.1, 10), st.floats(-5, 5))
def test_scaling_x_scales_the_slope_and_leaves_the_band(pairs, factor, shift):
    x, y = np.array(pairs).T
    line, scaled = fit_line(x, y), fit_line(x * factor + shift, y)
    if line.note or scaled.note or np.ptp(x) < 1e-3:
        return
    assert scaled.slope * factor == pytest.approx(line.slope, rel=1e-6, abs=1e-6)
    before, after = predict_band(line, x), predict_band(scaled, x * factor + shift)
    for old, new in zip(before, after, strict=True):
        assert new == pytest.approx(old, rel=1e-5, abs=1e-5)


def test_line_and_band_agree_with_scipy(rng):
    for n in (3, 4, 9, 30):
        x = rng.normal(size=n)
        y = 0.4 * x + rng.normal(size=n)
        line, oracle = fit_line(x, y), linregress(x, y)
        assert (line.slope, line.intercept) == pytest.approx((oracle.slope, oracle.intercept))
        assert line.spearman_r == pytest.approx(spearmanr(x, y).statistic)
        t = student_t.ppf(0.975, n - 2)
        assert line.slope_high - line.slope == pytest.approx(t * oracle.stderr)
        mean, low, high = predict_band(line, np.array([0.0]))  # at 0 the band is the intercept's
        assert mean[0] == pytest.approx(oracle.intercept)
        assert (high - low)[0] / 2 == pytest.approx(t * oracle.intercept_stderr)


def test_the_interval_of_the_slope_covers_the_truth_in_95_of_100(rng):
    x = rng.normal(size=8)
    lines = [fit_line(x, 0.5 * x + rng.normal(size=8)) for _ in range(2000)]
    assert np.mean([line.slope_low < 0.5 < line.slope_high for line in lines]) == pytest.approx(
        0.95, abs=0.02
    )


# Extremes


def test_extremes_by_hand_one_display_per_photograph_ties_by_id():
    trials = pd.DataFrame(
        {"trial_id": list("abcdefg"), "scene_id": ["1", "1", "2", "3", "3", "4", "5"]}
    )
    difficulty = pd.Series(
        {"a": 1.0, "b": 1.5, "c": 2.0, "d": 9.0, "e": 9.0, "f": 8.0, "g": np.nan}
    )
    found = find_extremes(difficulty, trials, n=2)
    assert found[["end", "place", "trial_id"]].to_numpy().tolist() == [
        ["easiest", 1, "a"],
        ["easiest", 2, "c"],
        ["hardest", 1, "d"],
        ["hardest", 2, "f"],
    ]


def test_no_photograph_is_both_easiest_and_hardest():
    trials = make_trials(3)
    difficulty = pd.Series(np.arange(12.0), index=trials["trial_id"])
    found = find_extremes(difficulty, trials, n=5)
    assert len(found) == 2
    assert found["scene_id"].is_unique
    assert find_extremes(difficulty, trials.iloc[:4], n=5).empty


def test_turning_difficulty_round_swaps_the_ends(rng):
    trials = make_trials(9).drop_duplicates("scene_id")
    difficulty = pd.Series(rng.normal(size=9), index=trials["trial_id"])
    ends, turned = (find_extremes(d, trials, n=3) for d in (difficulty, -difficulty))
    for one, other in (("easiest", "hardest"), ("hardest", "easiest")):
        assert (
            ends.loc[ends["end"] == one, "trial_id"].tolist()
            == turned.loc[turned["end"] == other, "trial_id"].tolist()
        )


def test_high_similarity_is_easy_on_same_trials_and_hard_on_different_ones():
    trials = make_trials(2)
    readout = make_readouts(trials, [0.1, 0.2, 0.3, 0.4, 0.9, 0.8, 0.7, 0.6], kind="evidence_same")
    difficulty = predict_difficulty(readout, trials)
    assert difficulty["s1_0"] < difficulty["s0_0"]  # same: more similar, easier
    assert difficulty["s1_3"] > difficulty["s0_2"]  # different: more similar, harder


def test_the_last_layer_of_the_first_readout_that_is_there_is_chosen():
    trials = make_trials(1)
    tables = [
        make_readouts(trials, np.full(4, k), readout=name, layer=layer)
        for k, (name, layer) in enumerate([("cosine", "0"), ("cosine", "1"), ("steps", "1")])
    ]
    readouts = pd.concat(tables, ignore_index=True)
    assert set(choose_readout(readouts, ("nothing", "cosine", "steps"))["value"]) == {1.0}
    assert set(choose_readout(readouts, ("steps",))["value"]) == {2.0}
    assert choose_readout(readouts, ("nothing",)).empty


# ROC


def test_curves_are_averaged_threshold_by_threshold_and_per_condition():
    curves = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.5, 0.5], [0.5, 1.0]]])
    table = average_curves(curves, np.array(["same close", "different far"]))
    whole = table[table["condition"] == "all"]
    assert whole["tpr"].tolist() == [0.25, 0.75]
    assert whole["fpr"].tolist() == [0.25, 0.5]
    assert whole["threshold"].tolist() == [1.0, 0.0]
    assert table.groupby("condition")["n_trials"].first().to_dict() == {
        "all": 2,
        "different far": 1,
        "same close": 1,
    }


def test_the_area_of_chance_is_a_half_and_of_the_worst_is_zero():
    assert measure_area(pd.DataFrame({"fpr": [0.5, 1.0], "tpr": [0.5, 1.0]})) == 0.5
    assert measure_area(pd.DataFrame({"fpr": [1.0, 1.0], "tpr": [0.0, 1.0]})) == 0.0


def test_published_curves_of_another_shape_are_refused(tmp_path):
    trials = make_trials(2)
    assert read_published_roc(tmp_path, trials, model="m", layer="0") is None
    folder = tmp_path / "published_readouts"
    folder.mkdir()
    np.save(folder / "dinov2_vitb14_test_14_q.npy", np.zeros((3, 2, 21)))
    with pytest.raises(TableError, match=r"_q.npy: array of shape \(3, 2, 21\); expected \(8"):
        read_published_roc(tmp_path, trials, model="m", layer="0")


@pytest.mark.shared
@pytest.mark.golden
def test_the_mean_published_curve_has_the_published_area(shared):
    from stimuli.adeli2023 import TRIALS_FILE, read_published_table, tabulate_trials

    path = shared / "adeli2023" / TRIALS_FILE
    trials = tabulate_trials(read_published_table(path), source=str(path))
    roc = read_published_roc(shared / "adeli2023", trials, model="m", layer="11")
    queries = roc[(roc["representation"] == "queries") & (roc["condition"] == "all")]
    assert measure_area(queries) == pytest.approx(0.884, abs=0.0005)
