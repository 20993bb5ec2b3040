"""The two dots as they are drawn: the one function for screen, previews and figures.

A dot is a red disc of 8 px radius with a white core of 5 px radius (Adeli 2023, methods 1.1 [paper,
code]), centred at a continuous coordinate: (0, 0) is the outer corner of the top-left pixel. A pixel
belongs to a disc when its centre lies within the radius; nothing is smoothed, so the sizes are exact.
"""

from dataclasses import dataclass

import numpy as np

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DotStyle:
    """How a dot looks.

    Attributes
    ----------
    radius_px, core_radius_px
        Radii of the disc and of its core, in image pixels.
    colour, core_colour
        8-bit RGB.
    """

    radius_px: float = 8.0
    core_radius_px: float = 5.0
    colour: Rgb = (255, 0, 0)
    core_colour: Rgb = (255, 255, 255)


PUBLISHED_DOT = DotStyle()


def scale_dots(radius_px: float) -> DotStyle:
    """Return the published dot at another size, core and disc in the same proportion.

    >>> scale_dots(4.0).core_radius_px
    2.5
    """
    share = PUBLISHED_DOT.core_radius_px / PUBLISHED_DOT.radius_px
    return DotStyle(radius_px=radius_px, core_radius_px=share * radius_px)


def draw_dots(
    pixels: np.ndarray, dots_xy_px: np.ndarray, *, style: DotStyle = PUBLISHED_DOT
) -> np.ndarray:
    """Return a copy of `pixels` with dots drawn on it.

    Parameters
    ----------
    pixels : uint8 array, shape (height, width, 3)
        An image.
    dots_xy_px : float array, shape (n_dots, 2)
        Centres, x then y, continuous pixels. What lies outside the image is cut off.
    style
        Sizes and colours.
    """
    drawn = pixels.copy()
    for x_px, y_px in np.asarray(dots_xy_px, dtype=float).reshape(-1, 2):
        for radius_px, colour in (
            (style.radius_px, style.colour),
            (style.core_radius_px, style.core_colour),
        ):
            _fill_disc(drawn, x_px, y_px, radius_px=radius_px, colour=colour)
    return drawn


def _fill_disc(
    pixels: np.ndarray, x_px: float, y_px: float, *, radius_px: float, colour: Rgb
) -> None:
    """Colour, in place, the pixels whose centres lie within the radius."""
    height, width = pixels.shape[:2]
    left, right = _span(x_px, radius_px, width)
    top, bottom = _span(y_px, radius_px, height)
    columns = np.arange(left, right) + 0.5 - x_px
    rows = np.arange(top, bottom) + 0.5 - y_px
    is_inside = rows[:, None] ** 2 + columns[None, :] ** 2 <= radius_px**2
    pixels[top:bottom, left:right][is_inside] = colour


def _span(centre_px: float, radius_px: float, size_px: int) -> tuple[int, int]:
    """First and one-past-last whole pixel that a disc can reach along one side."""
    first = max(int(np.floor(centre_px - radius_px)), 0)
    last = min(int(np.ceil(centre_px + radius_px)), size_px)
    return min(first, size_px), max(last, 0)
