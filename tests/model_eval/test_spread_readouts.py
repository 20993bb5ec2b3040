"""Spread over the grid: widest path, published steps, and what distance explains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from model_eval.displays import Display, PatchDisplay
from model_eval.readouts import READOUTS
from model_eval.readouts.beyond_distance import MAX_ANCHORS, choose_anchors, explain_by_distance
from model_eval.readouts.spread import count_spread_steps, scale_affinity
from model_eval.readouts.widest_path import find_widest_paths
from model_eval.scene_statistics import describe_scene
from model_eval.view import LayerView
from stimuli.geometry import pad_to_grid


def make_view(
    tokens, *, width=40, height=30, stride=10, dots=(((5, 5), (35, 25)),), labels=None, **settings
):
    display = Display(
        trial_ids=tuple(map(str, range(len(dots)))),
        dots_px=np.array(dots, float),
        object_ids=np.array([(1, 2)] * len(dots)),
        labels=labels,
    )
    grid = pad_to_grid(width_px=width, height_px=height, stride_px=stride)
    return LayerView(tokens, PatchDisplay(display, grid, **settings), where="here")


def widest_by_trying(values, start, end):
    """Try each value of the map as the threshold, by flood fill."""
    best = -np.inf
    for threshold in np.unique(values):
        is_open = values >= threshold
        labels, _ = ndimage.label(is_open)
        if labels.flat[start] and labels.flat[start] == labels.flat[end]:
            best = max(best, threshold)
    return best


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_widest_path_is_that_found_by_trying_all_thresholds(seed, rows, columns, with_ties):
    rng = np.random.default_rng(seed)
    maps = rng.random((3, rows, columns))
    maps = np.round(maps, 1) if with_ties else maps
    starts, ends = rng.integers(0, rows * columns, (2, 3))
    expected = [widest_by_trying(m, a, b) for m, a, b in zip(maps, starts, ends, strict=True)]
    assert find_widest_paths(maps, starts, ends).tolist() == expected


def test_a_wall_lowers_the_widest_path_and_a_detour_counts():
    values = np.array([[1.0, 0.1, 0.9], [0.8, 0.1, 0.9], [0.8, 0.7, 0.9]])
    ends = find_widest_paths(values[None], np.array([0]), np.array([2]))
    assert ends.tolist() == [0.7]
    values[2, 1] = -0.3
    assert find_widest_paths(values[None], np.array([0]), np.array([2])).tolist() == [0.1]


def test_diagonal_neighbours_are_not_joined():
    values = np.array([[1.0, 0.2], [0.3, 0.9]])
    assert find_widest_paths(values[None], np.array([0]), np.array([3])).tolist() == [0.3]


def test_the_widest_path_readout_takes_the_wider_direction_and_leaves_padding_out(rng):
    view = make_view(rng.normal(size=(12, 6)))
    first, second = (READOUTS[f"widest_path_dot{k}"].compute(view)[0] for k in (1, 2))
    assert READOUTS["widest_path"].compute(view)[0] == max(first, second)
    assert first == widest_by_trying(view.maps[view.patches.seed_of_dot[0, 0]].reshape(3, 4), 0, 11)


def published_steps(affinity, start, end):
    """The published loop (Adeli 2023 code), written plainly; affinity (rows, columns, rows, columns)."""
    tau = 0.8
    centre = (affinity[:, :, start[0], start[1]] > tau) * 1
    labelled, _ = ndimage.label(centre)
    centre[labelled != labelled[start[0], start[1]]] = 0
    grown, mask, steps = centre.copy(), np.zeros(centre.shape), 21
    for step in range(20):
        mask = mask + grown
        mask = mask / np.max(mask)
        if mask[end[0], end[1]] > 0 and steps == 21:
            steps = step
        chosen = affinity[:, :, np.nonzero(mask)[0], np.nonzero(mask)[1]].mean(-1)
        chosen = (chosen > tau) * 1
        labelled, _ = ndimage.label(chosen)
        chosen[labelled != labelled[start[0], start[1]]] = 0
        grown = chosen.copy()
        if tau > 0:
            tau = tau - 0.02
    return steps


@pytest.mark.parametrize("shape", [(6, 6), (4, 9), (9, 5)])
def test_spread_steps_equal_the_published_loop_on_stored_affinities(shape, rng):
    n = shape[0] * shape[1]
    seen = set()
    for trial in range(25):
        rows, columns = np.divmod(np.arange(n), shape[1])
        smooth = np.stack([np.sin(rows * f + p) for f, p in rng.random((6, 2))], axis=1)
        smooth += np.stack([np.cos(columns * f + p) for f, p in rng.random((6, 2))], axis=1)
        tokens = smooth + rng.normal(scale=0.1 + 0.1 * (trial % 5), size=(n, 6))
        tokens /= np.linalg.norm(tokens, axis=1, keepdims=True)
        affinity = scale_affinity(tokens @ tokens.T)
        start, *ends = rng.integers(0, n, 5)
        found = count_spread_steps(affinity, int(start), ends=ends, shape=shape)
        four = affinity.reshape(*shape, *shape)
        where = divmod(int(start), shape[1])
        expected = [published_steps(four, where, divmod(int(end), shape[1])) for end in ends]
        assert found.tolist() == expected
        seen.update(expected)
    assert len(seen) > 4  # the comparison meant something


def test_a_dot_on_the_first_dot_s_patch_takes_no_step_and_an_island_is_never_reached():
    affinity = np.eye(4) * 0.9 + 0.1
    affinity = scale_affinity(affinity)
    assert count_spread_steps(affinity, 0, ends=[0, 3], shape=(2, 2)).tolist() == [0, 21]


def test_published_rounding_is_that_of_the_code():
    # Whole pixel 16 of 40 on 4 columns: round(16 / 40 * 4) = 2, though it lies in column 1.
    view = make_view(
        np.ones((12, 2)), dots=(((16.5, 5.5), (24.5, 14.5)),), rule="published_rounding"
    )
    assert view.patches.dot_patches.tolist() == [[0 * 4 + 2, 1 * 4 + 2]]
    with pytest.raises(ValueError, match="published rounding has no patch"):
        _ = make_view(
            np.ones((12, 2)), dots=(((39.5, 5), (5, 5)),), rule="published_rounding"
        ).patches.seed_of_dot


def test_bilinear_reading_is_linear_between_patch_centres():
    columns = np.tile(np.arange(4.0), 3)
    rows = np.repeat(np.arange(3.0), 4)
    tokens = np.stack([columns, rows, np.ones(12)], axis=1)
    dots = (((12, 17), (35, 25)), ((1, 1), (39.9, 29.9)))
    view = make_view(tokens, dots=dots, rule="bilinear")
    got = view.seed_tokens[view.patches.seed_of_dot.ravel()]
    expected = [[0.7, 1.2, 1], [3, 2, 1], [0, 0, 1], [3, 2, 1]]
    np.testing.assert_allclose(got, expected, atol=1e-6)
    assert view.patches.dot_patches.tolist() == [[5, 11], [0, 11]]


def test_what_distance_explains_is_the_mean_cosine_of_pairs_so_far_apart(rng):
    view = make_view(rng.normal(size=(12, 5)))
    unit = view.tokens / np.linalg.norm(view.tokens, axis=1, keepdims=True)
    rows, columns = np.divmod(np.arange(12), 4)
    distance = np.round(np.hypot(rows[:, None] - rows, columns[:, None] - columns)).astype(int)
    explained = explain_by_distance(view)
    for r in range(5):
        assert explained[r] == pytest.approx((unit @ unit.T)[distance == r].mean(), abs=1e-6)
    got = READOUTS["cosine_beyond_distance"].compute(view)[0]
    assert got == pytest.approx((unit @ unit.T)[0, 11] - explained[distance[0, 11]], abs=1e-6)


def test_a_layer_that_knows_only_position_has_nothing_beyond_distance():
    """Tokens turn with the column: all similarity is distance, and the residual is flat."""
    angle = np.tile(np.arange(20) * 0.05, 1)
    tokens = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    labels = np.ones((10, 200), np.int32)
    labels[:, 100:] = 2
    dots = (((75, 5), (95, 5)), ((75, 5), (195, 5)))
    view = make_view(tokens, width=200, height=10, dots=dots, labels=labels)
    raw = READOUTS["object_auc_dot1"].compute(view)[0]
    assert raw > 0.6
    residual = READOUTS["cosine_beyond_distance"].compute(view)
    np.testing.assert_allclose(residual, 0, atol=1e-5)


def test_anchors_are_few_spread_out_and_on_the_image():
    view = make_view(np.ones((60 * 45, 2)), width=600, height=445, stride=10)
    anchors = choose_anchors(view.patches)
    assert len(anchors) <= MAX_ANCHORS
    rows, columns = np.divmod(anchors, 60)
    assert rows.max() - rows.min() > 35
    assert columns.max() - columns.min() > 50


def scene_by_pairs(tokens, labels):
    """Means, d' and AUC over all pairs, by a loop."""
    unit = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
    within, between = [], []
    for i in range(len(unit)):
        for j in range(i):
            if labels[i] and labels[j]:
                (within if labels[i] == labels[j] else between).append(unit[i] @ unit[j])
    wins = [(a > b) + 0.5 * (a == b) for a in within for b in between]
    spread = np.sqrt((np.var(within) + np.var(between)) / 2)
    return {
        "mean_within": np.mean(within),
        "mean_between": np.mean(between),
        "object_dprime": (np.mean(within) - np.mean(between)) / spread,
        "object_auc": np.mean(wins),
    }


@pytest.mark.parametrize("n_dims", [3, 30])
def test_scene_statistics_by_sums_equal_those_over_all_pairs(n_dims, rng):
    labels = np.zeros((30, 40), np.int32)
    labels[:, :20], labels[:20, 20:] = 1, 2
    tokens = rng.normal(size=(12, n_dims))
    tokens[[0, 1, 4, 5, 8, 9]] += 1
    view = make_view(tokens, labels=labels)
    patch_labels = [1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 0, 0]
    assert view.patches.patch_labels.tolist() == patch_labels
    found = describe_scene(view, with_pairs=True)
    for name, value in scene_by_pairs(tokens, patch_labels).items():
        assert found[name] == pytest.approx(value, abs=1e-5)
    assert describe_scene(view, with_pairs=False).keys() == {
        "mean_within",
        "mean_between",
        "object_dprime",
    }


def test_a_model_that_groups_against_the_objects_has_a_negative_dprime(rng):
    labels = np.zeros((30, 40), np.int32)
    labels[:, ::20], labels[:, :20], labels[:, 20:] = 1, 1, 2
    tokens = np.tile([[1.0, 0.0], [0.0, 1.0]], (6, 1)) + rng.normal(scale=0.01, size=(12, 2))
    assert describe_scene(make_view(tokens, labels=labels), with_pairs=True)["object_dprime"] < 0


def test_a_scene_with_one_object_or_no_mask_has_no_statistics(rng):
    tokens = rng.normal(size=(12, 4))
    assert describe_scene(make_view(tokens), with_pairs=True) == {}
    labels = np.ones((30, 40), np.int32)
    assert describe_scene(make_view(tokens, labels=labels), with_pairs=True) == {}


def test_pair_readouts_by_hand():
    tokens = np.zeros((12, 2))
    tokens[:] = [1.0, 1.0]
    tokens[0], tokens[11] = [3.0, 0.0], [3.0, 4.0]
    view = make_view(tokens)
    mean = (np.array([3, 0]) + [3, 4] + 10 * np.array([1, 1])) / 12
    a, b = tokens[0] - mean, tokens[11] - mean
    expected = {
        "cosine": 0.6,
        "dot_product": 9.0,
        "negative_l2": -4.0,
        "centred_cosine": a @ b / np.linalg.norm(a) / np.linalg.norm(b),
    }
    for name, value in expected.items():
        assert READOUTS[name].compute(view)[0] == pytest.approx(value, abs=1e-6)
