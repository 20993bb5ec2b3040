"""The cheats' parts: logistic regression, AUC, overlap, colours; by hand and against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stimuli.cheats import describe_geometry, score_cheat
from stimuli.colour import convert_to_lab
from stimuli.distributions import compare_angles, compute_overlap
from stimuli.logistic import compute_auc, compute_weighted_aucs, fit_logistic, predict_held_out
from stimuli.margins import measure_object_margin


def auc_by_loop(evidence, is_positive):
    wins = [
        1.0 if p > n else 0.5 if p == n else 0.0
        for p in evidence[is_positive]
        for n in evidence[~is_positive]
    ]
    return float(np.mean(wins)) if wins else float("nan")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=25))
def test_auc_counts_pairs_and_ties_as_half(rows):
    evidence = np.array([float(value) for value, _ in rows])
    is_positive = np.array([flag for _, flag in rows])
    expected = auc_by_loop(evidence, is_positive)
    assert compute_auc(evidence, is_positive) == pytest.approx(expected, nan_ok=True)


def test_weighted_auc_is_the_auc_of_repeated_rows(rng):
    evidence = rng.integers(0, 6, size=40).astype(float)
    is_positive = rng.random(40) < 0.5
    weights = rng.integers(0, 4, size=(20, 40))
    weights[0] = is_positive
    found = compute_weighted_aucs(evidence, is_positive, weights)
    expected = [compute_auc(np.repeat(evidence, w), np.repeat(is_positive, w)) for w in weights]
    assert found == pytest.approx(expected, nan_ok=True)
    assert np.isnan(found[0])


def test_auc_of_the_opposite_evidence_is_one_minus(rng):
    evidence, is_positive = rng.normal(size=50), rng.random(50) < 0.4
    assert compute_auc(-evidence, is_positive) == pytest.approx(
        1 - compute_auc(evidence, is_positive)
    )


def test_logistic_weights_agree_with_scikit_learn(rng):
    linear_model = pytest.importorskip("sklearn.linear_model")
    features = rng.normal(size=(200, 3))
    is_positive = features @ [1.0, -2.0, 0.0] + rng.logistic(size=200) > 0.3
    ours = fit_logistic(features, is_positive, ridge=1.0)
    theirs = linear_model.LogisticRegression(C=1.0, tol=1e-10, max_iter=1000)
    theirs.fit(features, is_positive)
    assert ours == pytest.approx([theirs.intercept_[0], *theirs.coef_[0]], abs=1e-5)


def test_separable_data_still_give_finite_weights():
    features = np.linspace(-1, 1, 20)[:, None]
    weights = fit_logistic(features, features[:, 0] > 0, ridge=1.0)
    assert np.isfinite(weights).all()
    assert weights[1] > 0


def test_no_row_is_predicted_by_a_fit_that_saw_its_group(rng):
    """Noise that is constant within a group is learnt by rows and useless across groups."""
    groups = np.repeat(np.arange(30), 6)
    is_positive = np.repeat(rng.random(30) < 0.5, 6)
    features = np.eye(30)[groups]
    log_odds = predict_held_out(features, is_positive, groups, rng=rng)
    assert compute_auc(log_odds, is_positive) < 0.6


def test_a_constant_feature_tells_nothing(rng):
    trials = pd.DataFrame(
        {"same_object": [True, False] * 8, "scene_id": np.repeat(list("abcd"), 4)}
    )
    score = score_cheat("x", pd.DataFrame({"one": np.ones(16)}), trials, rng=rng)
    assert score.auc == 0.5


def test_rows_that_a_cheat_cannot_know_are_left_out_and_counted(rng):
    trials = pd.DataFrame(
        {"same_object": [True, False] * 8, "scene_id": np.repeat(list("abcd"), 4)}
    )
    known = pd.DataFrame({"f": [np.nan] * 4 + [1.0, 0.0] * 6})
    score = score_cheat("x", known, trials, rng=rng)
    assert (score.n_trials, score.n_scenes, score.auc, score.accuracy) == (12, 3, 1.0, 1.0)
    assert score_cheat("x", known.head(8), trials.head(8), rng=rng) is None


def test_geometry_in_numbers():
    trials = pd.DataFrame(
        {"distance_px": [5.0], "distance_condition": ["close"], "dot1_x_px": [50.0],
         "dot1_y_px": [40.0], "dot2_x_px": [53.0], "dot2_y_px": [44.0], "width_px": [100],
         "height_px": [80]}
    )  # fmt: skip
    known = {name: table.iloc[0].to_dict() for name, table in describe_geometry(trials).items()}
    assert known["distance"] == {"distance": 5.0, "off": 0.0, "off2": 0.0}
    assert known["eccentricity"] == {"from_centre1": 0.0, "from_centre2": 5.0}
    assert known["angle"]["cos1"] == pytest.approx(0.6)
    assert known["angle"]["sin2"] == pytest.approx(0.96)
    assert known["position"]["x"] == pytest.approx(0.53)


@pytest.mark.parametrize(
    ("rgb", "lab"),
    [
        ((255, 255, 255), (100, 0, 0)),
        ((0, 0, 0), (0, 0, 0)),
        ((255, 0, 0), (53.24, 80.09, 67.20)),
        ((0, 0, 255), (32.30, 79.19, -107.86)),
        ((119, 119, 119), (50.03, 0, 0)),
    ],
)
def test_lab_of_known_colours(rgb, lab):
    assert convert_to_lab(np.array(rgb, dtype=np.uint8)) == pytest.approx(lab, abs=0.02)


def test_overlap_is_one_for_equal_and_zero_for_distant_values(rng):
    values = rng.normal(size=300)
    assert compute_overlap(values, values) == pytest.approx(1.0, abs=1e-3)
    assert compute_overlap(values, values + 40) < 0.01
    assert compute_overlap(np.full(5, 2.0), np.full(3, 2.0)) == 1.0


def test_overlap_of_two_normals_is_the_known_area(rng):
    """Two unit normals 1 apart share 2 Phi(-1/2) = .617."""
    first, second = rng.normal(size=20000), rng.normal(size=20000) + 1
    assert compute_overlap(first, second) == pytest.approx(0.617, abs=0.04)


def test_overlap_is_symmetric_and_does_not_mind_numbers(rng):
    first, second = rng.normal(size=100), rng.normal(size=60) + 0.5
    there = compute_overlap(first, second)
    assert compute_overlap(second, first) == pytest.approx(there)


def angle_trials(same_angle, different_angle):
    n = len(same_angle)
    angle = np.concatenate([same_angle, different_angle])
    return pd.DataFrame(
        {"scene_id": [*range(n)] * 2, "distance_condition": "close",
         "same_object": [True] * n + [False] * n, "dot1_x_px": 0.0, "dot1_y_px": 0.0,
         "dot2_x_px": np.cos(angle), "dot2_y_px": np.sin(angle)}
    )  # fmt: skip


def test_directions_that_never_meet_do_not_overlap(rng):
    found = compare_angles(angle_trials(np.full(30, 0.5), np.full(30, 2.5)), rng=rng)
    assert found.overlap == 0.0
    assert found.p < 0.001
    assert found.n_pairs == 30


def test_directions_drawn_alike_have_no_small_p_more_often_than_said():
    rng = np.random.default_rng(4)
    small = sum(
        compare_angles(
            angle_trials(*rng.uniform(-np.pi, np.pi, size=(2, 40))), rng=rng
        ).p < 0.05
        for _ in range(60)
    )  # fmt: skip
    assert small <= 9


def test_close_and_far_of_one_scene_are_one_observation(rng):
    """Each scene twice: no more evidence than once."""
    once = angle_trials(rng.uniform(-np.pi, 0, size=12), rng.uniform(-1, np.pi, size=12))
    twice = pd.concat([once, once.assign(distance_condition="far")])
    one, two = (compare_angles(trials, rng=np.random.default_rng(1)) for trials in (once, twice))
    assert two.n_pairs == 2 * one.n_pairs
    assert two.p == pytest.approx(one.p, abs=0.03)


def test_the_margin_is_the_distance_to_the_nearest_other_pixels_centre():
    labels = np.ones((100, 100), dtype=int)
    labels[50, 57] = 2
    margin = {"x_px": 50.5, "y_px": 50.5, "object_id": 1}
    assert measure_object_margin(labels, **margin) == 7.0
    assert measure_object_margin(labels, **(margin | {"object_id": 2})) == 0.0
    labels[:] = 1
    assert measure_object_margin(labels, **margin) == 50.0  # the pixels beyond the right border
