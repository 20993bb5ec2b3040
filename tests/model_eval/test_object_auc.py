"""The object-centric metric: by hand, against a plain loop, and in the published form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import zoom

from model_eval.readouts.object_auc import (
    compute_auc,
    compute_published_roc,
    count_zoomed_pixels,
)
from stimuli.geometry import InputNeeds, fit_image, pad_to_grid, parse_geometry


def test_auc_by_hand_with_a_tie():
    values = np.array([0.9, 0.5, 0.5, 0.1])
    is_object = np.array([True, True, False, False])
    # Pairs: .9>.5, .9>.1, .5=.5 (half), .5>.1.
    assert compute_auc(values, is_object=is_object, is_other=~is_object) == 3.5 / 4


def test_a_map_that_says_nothing_has_auc_one_half():
    is_object = np.array([True, False, False])
    assert compute_auc(np.ones(3), is_object=is_object, is_other=~is_object) == 0.5


def test_a_map_that_picks_everything_but_the_object_is_worse_than_chance():
    is_object = np.array([True, False, False])
    values = np.array([0.0, 1.0, 2.0])
    assert compute_auc(values, is_object=is_object, is_other=~is_object) == 0.0


@given(
    values=st.lists(st.integers(-3, 3), min_size=2, max_size=12),
    seed=st.integers(0, 1000),
)
def test_auc_equals_the_loop_over_all_pairs(values, seed):
    values = np.array(values, float)
    is_object = np.zeros(len(values), bool)
    rng = np.random.default_rng(seed)
    is_object[rng.permutation(len(values))[: rng.integers(1, len(values))]] = True
    wins = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a in values[is_object]
        for b in values[~is_object]
    ]
    found = compute_auc(values, is_object=is_object, is_other=~is_object)
    assert found == pytest.approx(np.mean(wins))
    assert compute_auc(-values, is_object=is_object, is_other=~is_object) == pytest.approx(
        1 - found
    )


@pytest.mark.parametrize(("width", "height"), [(56, 56), (70, 45), (30, 61)])
def test_the_published_form_equals_the_published_loop_on_pixels(width, height, rng):
    stride = 14
    grid = pad_to_grid(width_px=width, height_px=height, stride_px=stride)
    values = rng.standard_normal(grid.n_patches)
    mask = np.zeros((height, width), int)
    mask[5:30, 10:25] = 1
    rates = compute_published_roc(values, *count_zoomed_pixels(grid, mask == 1))

    pixels = zoom(
        values.reshape(grid.n_rows, grid.n_columns), [stride, stride], order=0, mode="wrap"
    )
    pixels = pixels - np.min(pixels)
    pixels = pixels / np.max(pixels)
    expected = np.zeros((2, 21))
    for k, threshold in enumerate(1 - np.arange(0, 21) / 20):
        active = (pixels[:height, :width] > threshold) * 1
        expected[0, k] = np.sum(active * mask) / np.sum(mask)
        expected[1, k] = np.sum(active * (1 - mask)) / np.sum(1 - mask)
    np.testing.assert_allclose(rates, expected, atol=1e-12)


def test_zoomed_pixels_of_a_scaled_image_are_counted_in_image_pixels():
    needs = InputNeeds(stride_px=8, own_size_px=32)
    grid = fit_image(parse_geometry("longest"), width_px=64, height_px=40, needs=needs)
    region = np.ones((40, 64), bool)
    inside, outside = count_zoomed_pixels(grid, region)
    assert (inside.sum(), outside.sum()) == (40 * 64, 0)


@pytest.mark.shared
@pytest.mark.golden
def test_the_published_curves_have_the_published_areas(shared):
    rates = np.load(shared / "adeli2023" / "published_readouts" / "dinov2_vitb14_test_14_q.npy")[
        :1020
    ]
    per_trial = [np.trapezoid(tpr, fpr) for tpr, fpr in rates]
    mean = rates.mean(axis=0)
    assert np.mean(per_trial) == pytest.approx(0.888, abs=0.0005)
    assert np.trapezoid(mean[0], mean[1]) == pytest.approx(0.884, abs=0.0005)
