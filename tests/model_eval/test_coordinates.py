"""Every dot meets the token of its own patch, in every layout, image shape and geometry."""

import numpy as np
import pytest

from model_eval.card import choose_features
from model_eval.displays import Display, PatchDisplay
from model_eval.source import SourceImage
from stimuli.errors import InputError
from stimuli.geometry import fit_image, parse_geometry
from tests.model_eval.coordinate_networks import LAYOUTS, make_backbone

SHAPES = [(64, 64), (96, 64), (64, 96), (75, 50), (41, 130)]
GEOMETRIES = ["pad", "square:128", "longest:120", "shortest:90", "grid:5"]


def code_coordinates(width: int, height: int) -> np.ndarray:
    """Return an image whose red is x and whose green is y, as a share of 255 px."""
    y, x = np.mgrid[:height, :width]
    return np.stack([x, y, np.full_like(x, 200)], axis=-1).astype(np.uint8)


def read_all(backbone, image):
    found = {}
    wanted = choose_features(backbone.card, layers="all")
    backbone.read([image], wanted, lambda feature, tokens: found.setdefault(feature, tokens[0]))
    return {feature: tokens.numpy() for feature, tokens in found.items()}


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", [*LAYOUTS, "CNN"])
def test_a_dot_meets_the_token_of_its_own_patch(layout, shape, geometry, rng):
    backbone = make_backbone(layout)
    width, height = shape
    grid = fit_image(
        parse_geometry(geometry), width_px=width, height_px=height, needs=backbone.card.needs
    )
    pixels = code_coordinates(width, height)
    image = SourceImage(name="coordinates", sha256="", pixels=pixels, grid=grid)
    corners = [[0, 0], [width - 0.01, 0], [0, height - 0.01], [width - 0.01, height - 0.01]]
    inside = rng.uniform(size=(40, 2)) * [width, height]
    dots = np.concatenate([corners, inside]).reshape(-1, 2, 2)
    display = Display(
        trial_ids=tuple(map(str, range(len(dots)))),
        dots_px=dots,
        object_ids=np.zeros((len(dots), 2), int),
        labels=None,
    )
    for feature, tokens in read_all(backbone, image).items():
        if feature.representation == "tokens_normed":
            continue
        patches = PatchDisplay(
            display, grid.at_stride(backbone.card.layer(feature.layer).stride_px)
        )
        found = tokens[patches.dot_patches.ravel()]
        # Of a patch with padding the mean colour is less; blue tells how much of it is image.
        seen = found[:, :2] / (found[:, 2:3] / 200) + 0.5
        cell = patches.grid.stride_px / np.array([grid.scale_x, grid.scale_y])
        share = np.sqrt(2) if geometry != "pad" else 1.0
        assert np.all(np.abs(seen - dots.reshape(-1, 2)) <= share * (cell / 2 + 0.51))


def test_a_transposed_grid_would_be_noticed():
    backbone = make_backbone("CLS")
    needs = backbone.card.needs
    wide = fit_image(parse_geometry("pad"), width_px=96, height_px=64, needs=needs)
    tall = fit_image(parse_geometry("pad"), width_px=64, height_px=96, needs=needs)
    image = SourceImage(name="wide", sha256="", pixels=code_coordinates(96, 64), grid=wide)
    tokens = read_all(backbone, image)[choose_features(backbone.card, layers="0")[0]]
    dot = Display(
        trial_ids=("a",),
        dots_px=np.array([[[60.0, 10.0], [10.0, 60.0]]]),
        object_ids=np.zeros((1, 2), int),
        labels=None,
    )
    right = tokens[PatchDisplay(dot, wide).dot_patches[0, 0]]
    assert abs(right[0] + 0.5 - 60) <= 4
    assert PatchDisplay(dot, tall).dot_patches[0, 0] != PatchDisplay(dot, wide).dot_patches[0, 0]


def test_a_map_of_another_size_than_the_stride_promises_is_refused():
    backbone = make_backbone("CNN")
    backbone.module.forward_intermediates = lambda x, indices, **_: (
        [x[:, :, ::16, ::16]] * len(indices)
    )
    grid = fit_image(parse_geometry("pad"), width_px=64, height_px=64, needs=backbone.card.needs)
    image = SourceImage(name="a", sha256="", pixels=code_coordinates(64, 64), grid=grid)
    with pytest.raises(InputError, match=r"4 rows x 4 columns, expected 16 x 16"):
        read_all(backbone, image)


def test_a_network_that_refuses_the_size_is_a_named_error():
    def refuse(*_args, **_settings):
        raise AssertionError("Input height (64) doesn't match model (224).")

    backbone = make_backbone("CLS")
    backbone.module.forward_intermediates = refuse
    grid = fit_image(parse_geometry("pad"), width_px=64, height_px=64, needs=backbone.card.needs)
    image = SourceImage(name="a", sha256="", pixels=code_coordinates(64, 64), grid=grid)
    with pytest.raises(InputError, match=r"can't read an input of 64x64 px.*doesn't match model"):
        read_all(backbone, image)


def test_a_fixed_input_is_filled_with_padding_or_refused():
    needs = make_backbone("CLS", is_fixed=True).card.needs
    grid = fit_image(parse_geometry("pad"), width_px=40, height_px=30, needs=needs)
    assert (grid.input_width_px, grid.input_height_px, grid.scale_x) == (64, 64, 1.0)
    with pytest.raises(InputError, match=r"takes inputs of 64x64 px only.*--geometry longest"):
        fit_image(parse_geometry("pad"), width_px=65, height_px=30, needs=needs)
    grid = fit_image(parse_geometry("longest"), width_px=640, height_px=480, needs=needs)
    assert (grid.content_width_px, grid.content_height_px, grid.n_rows) == (64, 48, 8)
