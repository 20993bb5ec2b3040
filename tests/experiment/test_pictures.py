"""What a display looks like, as pixels."""

import numpy as np
import pytest

from experiment.config import PUBLISHED_SESSION
from experiment.measure import find_dots
from experiment.pictures import compose_pictures, flatten, scale_image
from experiment.screen import place_image, read_display
from stimuli.dots import PUBLISHED_DOT, draw_dots

GREY = PUBLISHED_SESSION.background_rgb


def compose(pixels, dots, *, share=1.0):
    display = read_display("virtual")
    placement = place_image(
        pixels.shape[1],
        pixels.shape[0],
        display=display,
        image_px_per_degree=display.px_per_degree / share,
    )
    pictures = compose_pictures(
        pixels, dots, placement=placement, style=PUBLISHED_DOT, background_rgb=GREY
    )
    return pictures, placement


def test_at_its_own_size_the_window_shows_what_figures_and_models_see(rng):
    pixels = rng.integers(0, 255, (300, 401, 3), dtype=np.uint8)
    dots = ((200.5, 150.5), (301.25, 149.0))
    pictures, placement = compose(pixels, dots)
    window = flatten(
        (pictures.image, *pictures.dots_on_image),
        width_px=1024,
        height_px=768,
        background_rgb=GREY,
    )
    rows = slice(placement.top_px, placement.top_px + 300)
    columns = slice(placement.left_px, placement.left_px + 401)
    expected = draw_dots(pixels, np.array(dots))
    assert np.array_equal(window[rows, columns], expected)
    window[rows, columns] = GREY
    assert (window == GREY).all()


@pytest.mark.parametrize("share", [0.5, 0.8, 1.0, 1.3])
@pytest.mark.parametrize("size", [(480, 360), (300, 401)])
def test_dots_lie_where_the_table_says_at_any_scale(share, size):
    width, height = size
    pixels = np.zeros((height, width, 3), dtype=np.uint8)
    dots = ((width / 2 + 0.5, height / 2), (width / 2 - 100.25, height / 2 + 20))
    pictures, placement = compose(pixels, dots, share=share)
    frame = flatten(pictures.dots_on_blank, width_px=1024, height_px=768, background_rgb=GREY)
    expected = np.array([placement.to_window(*dot) for dot in dots])
    found = find_dots(frame, expected, style=PUBLISHED_DOT, placement=placement)
    assert np.abs(found - expected).max() < 0.5


def test_a_dot_at_the_image_s_border_is_cut_off_there():
    pixels = np.zeros((100, 100, 3), dtype=np.uint8)
    pictures, placement = compose(pixels, ((2.0, 2.0), (98.5, 98.5)))
    first, second = pictures.dots_on_image
    assert (first.left_px, first.top_px) == (placement.left_px, placement.top_px)
    assert second.left_px + second.pixels.shape[1] == placement.left_px + 100


def test_an_image_at_its_own_size_is_not_resampled(rng):
    pixels = rng.integers(0, 255, (60, 80, 3), dtype=np.uint8)
    _, placement = compose(pixels, ((40, 30), (20, 30)))
    assert scale_image(pixels, placement) is pixels


def test_missing_dots_are_not_found():
    _, placement = compose(np.zeros((100, 100, 3), dtype=np.uint8), ((50, 50), (20, 20)))
    blank = np.full((768, 1024, 3), 128, dtype=np.uint8)
    assert find_dots(blank, np.array([[5, 5]]), style=PUBLISHED_DOT, placement=placement) is None
