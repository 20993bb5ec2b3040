"""Readouts against plain loops and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import zoom
from sklearn.metrics import roc_auc_score

from model_eval.displays import Display, PatchDisplay
from model_eval.readouts.object_auc import (
    compute_auc,
    compute_published_roc,
    count_zoomed_pixels,
)
from model_eval.readouts.registry import READOUTS, choose_readouts
from model_eval.view import LayerView
from stimuli.errors import InputError
from stimuli.geometry import pad_to_grid

GRID = pad_to_grid(width_px=40, height_px=30, stride_px=10)  # 4 columns, 3 rows


def make_view(tokens, *, dots, objects=((0, 0),), labels=None):
    display = Display(
        trial_ids=tuple(f"t{k}" for k in range(len(dots))),
        dots_px=np.array(dots, dtype=float),
        object_ids=np.array(objects),
        labels=labels,
    )
    return LayerView(np.asarray(tokens, float), PatchDisplay(display, GRID), where="here")


def left_half():
    labels = np.full((30, 40), 2, np.int32)
    labels[:, :20] = 1
    return labels


def test_cosine_is_that_of_the_patches_under_the_dots(rng):
    tokens = rng.normal(size=(12, 5))
    view = make_view(tokens, dots=[[[5, 5], [35, 25]], [[15, 5], [15, 9]]], objects=[(0, 0)] * 2)
    a, b = tokens[0], tokens[11]
    expected = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert READOUTS["cosine"].compute(view) == pytest.approx([expected, 1.0], abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_auc_is_the_share_of_pairs_won_ties_counted_half(seed, with_ties):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=20)
    values = np.round(values) if with_ties else values
    is_object = np.arange(20) % 3 == 0
    pairs = [(a > b) + 0.5 * (a == b) for a in values[is_object] for b in values[~is_object]]
    got = compute_auc(values, is_object=is_object, is_other=~is_object)
    assert got == pytest.approx(np.mean(pairs))
    assert got == pytest.approx(roc_auc_score(is_object, values))
    assert compute_auc(-values, is_object=is_object, is_other=~is_object) == pytest.approx(1 - got)


def test_a_map_that_is_the_object_scores_one_its_inverse_zero_and_a_constant_one_half():
    is_object = np.arange(6) < 2
    for values, expected in ((is_object, 1.0), (~is_object, 0.0), (np.ones(6), 0.5)):
        got = compute_auc(values.astype(float), is_object=is_object, is_other=~is_object)
        assert got == expected


def test_the_object_s_patches_leave_out_the_dot_s_own_and_padding():
    labels = left_half()
    tokens = np.tile([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]], (3, 1))
    view = make_view(tokens, dots=[[[5, 5], [35, 5]]], objects=[(1, 2)], labels=labels)
    found = view.patches.objects[0][0]
    assert np.flatnonzero(found.is_object).tolist() == [1, 4, 5, 8, 9]
    assert READOUTS["object_auc_dot1"].compute(view).tolist() == [1.0]
    assert READOUTS["object_auc_dot2"].compute(view).tolist() == [1.0]


def test_a_model_that_groups_the_wrong_way_scores_below_one_half():
    tokens = np.tile([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [1.0, 0.2]], (3, 1))
    tokens[4] = tokens[8] = [0.0, 1.0]
    view = make_view(tokens, dots=[[[5, 5], [35, 5]]], objects=[(1, 2)], labels=left_half())
    assert READOUTS["object_auc_dot1"].compute(view)[0] == 0.0


@pytest.mark.parametrize(
    ("labels", "number", "reason"),
    [
        (None, 1, "the scene has no mask"),
        (left_half(), 0, "no object is known under dot 1"),
        (np.ones((30, 40), np.int32), 1, "covers every patch"),
        (np.zeros((30, 40), np.int32), 1, "covers half of no patch but the dot's own"),
    ],
)
def test_what_can_t_be_compared_is_missing_with_a_reason(rng, labels, number, reason):
    view = make_view(
        rng.normal(size=(12, 4)), dots=[[[5, 5], [35, 5]]], objects=[(number, 1)], labels=labels
    )
    assert np.isnan(READOUTS["object_auc_dot1"].compute(view)).all()
    assert reason in view.patches.objects[0][0]


@pytest.mark.parametrize(("width", "height"), [(40, 30), (37, 52)])
def test_the_published_form_is_the_plain_loop_of_its_code(rng, width, height):
    """Methods 1.5, 2023 form, pixel by pixel."""
    grid = pad_to_grid(width_px=width, height_px=height, stride_px=10)
    values = rng.normal(size=grid.n_patches)
    is_object = rng.random((height, width)) > 0.6
    picture = values.reshape(grid.n_rows, grid.n_columns)
    scaled = zoom(picture, 10, order=0, mode="wrap")
    scaled = (scaled - scaled.min()) / (scaled.max() - scaled.min())
    scaled = scaled[:height, :width]
    expected = np.array(
        [
            [(scaled[region] > threshold).mean() for threshold in 1 - np.arange(21) / 20]
            for region in (is_object, ~is_object)
        ]
    )
    got = compute_published_roc(values, *count_zoomed_pixels(grid, is_object))
    assert got == pytest.approx(expected)


def test_nothing_that_isn_t_a_number_gets_a_rank(rng):
    tokens = rng.normal(size=(12, 4))
    tokens[3] = np.nan
    view = make_view(tokens, dots=[[[5, 5], [35, 25]]])
    with pytest.raises(InputError, match=r"here: .* of 1 of 12 patches aren't finite"):
        READOUTS["cosine"].compute(view)


def test_half_precision_tokens_are_compared_in_single_precision():
    tokens = np.full((12, 4), 300.0, np.float16)  # the square overflows float16
    view = make_view(tokens, dots=[[[5, 5], [35, 25]]])
    view = LayerView(tokens, view.patches, where="here")
    assert READOUTS["cosine"].compute(view) == pytest.approx([1.0])


def test_unknown_readouts_are_refused_with_the_known_ones():
    with pytest.raises(
        InputError, match=r"no readout 'cosinus'; expected 'all' or some of 'cosine'"
    ):
        choose_readouts(["cosinus"])
    assert {item.name for item in choose_readouts([])} == {
        "cosine",
        "object_auc_dot1",
        "object_auc_dot2",
    }
