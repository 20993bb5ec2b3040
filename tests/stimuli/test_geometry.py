"""Image pixels, input pixels and patches: by hand, at the border, and for any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stimuli.errors import InputError
from stimuli.geometry import (
    InputNeeds,
    find_patch,
    fit_image,
    pad_to_grid,
    parse_geometry,
    share_of_patches,
)

SIDES = st.integers(1, 90)
STRIDES = st.sampled_from([1, 3, 8, 14, 16])
GEOMETRIES = st.sampled_from(["pad", "longest", "longest:50", "shortest:20", "grid:16", "grid:3"])


def test_only_the_side_that_needs_padding_gets_it():
    grid = pad_to_grid(width_px=230, height_px=224, stride_px=14)
    assert (grid.input_width_px, grid.input_height_px) == (238, 224)


@given(width=SIDES, height=SIDES, stride=STRIDES, text=GEOMETRIES)
def test_every_dot_lies_in_the_patch_that_its_pixel_falls_into(width, height, stride, text):
    needs = InputNeeds(stride_px=stride, own_size_px=48)
    grid = fit_image(parse_geometry(text), width_px=width, height_px=height, needs=needs)
    x, y = (np.array([0, side / 2, np.nextafter(side, 0)]) for side in (width, height))
    patch = find_patch(grid, x_px=x, y_px=y)
    rows, columns = np.divmod(patch, grid.n_columns)
    for cell, place, scale in ((columns, x, grid.scale_x), (rows, y, grid.scale_y)):
        assert np.all(cell * stride <= place * scale + 1e-9)
        assert np.all(place * scale < (cell + 1) * stride + 1e-9)
    assert patch.max() < grid.n_patches


@given(width=SIDES, height=SIDES, stride=STRIDES, text=GEOMETRIES)
def test_padding_is_less_than_a_patch_and_nothing_is_cropped(width, height, stride, text):
    needs = InputNeeds(stride_px=stride, own_size_px=48)
    grid = fit_image(parse_geometry(text), width_px=width, height_px=height, needs=needs)
    for padded, content in (
        (grid.input_width_px, grid.content_width_px),
        (grid.input_height_px, grid.content_height_px),
    ):
        assert 0 <= padded - content < stride
    assert grid.content_width_px == round(grid.scale_x * width)


@given(width=SIDES, height=SIDES, stride=STRIDES, seed=st.integers(0, 99))
def test_shares_add_up_to_the_region_and_to_the_image(width, height, stride, seed):
    grid = pad_to_grid(width_px=width, height_px=height, stride_px=stride)
    region = np.random.default_rng(seed).random((height, width)) < 0.5
    inside, image = share_of_patches(grid, region)
    assert inside.sum() * stride**2 == pytest.approx(region.sum())
    assert image.sum() * stride**2 == pytest.approx(width * height)


def test_the_grid_of_another_stride_covers_the_same_input():
    grid = pad_to_grid(width_px=100, height_px=33, stride_px=32).at_stride(8)
    assert (grid.n_columns, grid.n_rows) == (16, 8)
    with pytest.raises(InputError, match="no whole number of cells of 5 px"):
        grid.at_stride(5)


def test_grid_16_gives_every_model_the_grid_of_a_patch_16_model():
    for stride in (14, 16, 32):
        needs = InputNeeds(stride_px=stride, own_size_px=224)
        grid = fit_image(parse_geometry("grid:16"), width_px=640, height_px=480, needs=needs)
        assert (grid.n_columns, grid.n_rows) == (40, 30)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pan", "expected one of pad"),
        ("pad:3", "a size goes with"),
        ("longest:0", "whole pixels above 0"),
        ("longest:a", "a size goes with"),
        ("grid", "needs the image pixels per patch"),
    ],
)
def test_a_geometry_that_means_nothing_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_geometry(text)


@pytest.mark.parametrize("text", ["native", "square:100"])
def test_a_mode_that_would_need_padding_but_has_none_says_so(text):
    needs = InputNeeds(stride_px=16, own_size_px=224)
    with pytest.raises(InputError, match="no whole number of patches of 16 px"):
        fit_image(parse_geometry(text), width_px=100, height_px=96, needs=needs)


def test_a_dot_outside_its_image_is_named():
    grid = pad_to_grid(width_px=100, height_px=50, stride_px=16)
    with pytest.raises(InputError, match=r"dot 1 at \(100, 3\) px lies outside"):
        find_patch(grid, x_px=np.array([0.0, 100.0]), y_px=np.array([0.0, 3.0]))
