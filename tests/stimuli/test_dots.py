"""The dots are drawn to the pixel."""

import numpy as np

from stimuli.dots import PUBLISHED_DOT, draw_dots

GREY = np.full((40, 60, 3), 90, dtype=np.uint8)


def test_a_dot_on_a_pixel_centre_spans_its_diameter_to_the_pixel():
    drawn = draw_dots(GREY, np.array([[30.5, 20.5]]))
    changed = (drawn != 90).any(axis=2)
    columns, rows = np.flatnonzero(changed.any(axis=0)), np.flatnonzero(changed.any(axis=1))
    assert (columns[0], columns[-1]) == (22, 38)  # 8 px on both sides of pixel 30
    assert (rows[0], rows[-1]) == (12, 28)
    core = (drawn == 255).all(axis=2)
    assert np.flatnonzero(core.any(axis=0)).tolist() == list(range(25, 36))


def test_a_dot_between_pixels_is_symmetric_about_its_continuous_centre():
    changed = (draw_dots(GREY, np.array([[30.0, 20.0]])) != 90).any(axis=2)
    assert np.array_equal(changed[:, 22:38], changed[:, 22:38][:, ::-1])
    assert changed[:, :22].sum() == changed[:, 38:].sum() == 0


def test_the_discs_cover_the_pixels_whose_centres_lie_within_the_radius():
    dot = np.array([33.2, 18.7])
    drawn = draw_dots(GREY, dot)
    for row in range(40):
        for column in range(60):
            distance = np.hypot(column + 0.5 - dot[0], row + 0.5 - dot[1])
            expected = (
                PUBLISHED_DOT.core_colour
                if distance <= 5
                else PUBLISHED_DOT.colour
                if distance <= 8
                else (90, 90, 90)
            )
            assert tuple(drawn[row, column]) == expected


def test_a_dot_at_the_border_is_cut_and_one_outside_draws_nothing():
    assert (draw_dots(GREY, np.array([[0.0, 0.0]])) != 90).any()
    assert np.array_equal(draw_dots(GREY, np.array([[-30.0, 500.0]])), GREY)


def test_the_image_given_is_left_as_it_was():
    before = GREY.copy()
    draw_dots(GREY, np.array([[30.5, 20.5]]))
    assert np.array_equal(GREY, before)
