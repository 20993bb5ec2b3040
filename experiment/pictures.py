"""What a display looks like, as pixels: the image at its size in the window, and the dots.

The dots are drawn by the one drawing function, on the scaled image, at the place that the table
names, so that they lie on the pixel that the models read. What is cut out around them goes onto the
image, or onto the blank, as a patch of its own: the flicker then costs two small pictures.
"""

from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from experiment.config import Rgb
from experiment.screen import Placement
from stimuli.dots import DotStyle, draw_dots

# Room around a dot's radius in its patch, window pixels.
_PATCH_MARGIN_PX = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Pixels and where they lie in the window.

    Attributes
    ----------
    pixels : uint8 array, shape (height, width, 3)
    left_px, top_px
        The top-left corner, whole window pixels.
    """

    pixels: np.ndarray
    left_px: int
    top_px: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """All that one display shows.

    Attributes
    ----------
    image
        Without dots.
    dots_on_blank, dots_on_image
        Patches of the first and the second dot.
    """

    image: Picture
    dots_on_blank: tuple[Picture, Picture]
    dots_on_image: tuple[Picture, Picture]


def compose_pictures(
    pixels: np.ndarray,
    dots_xy_px: tuple[tuple[float, float], tuple[float, float]],
    *,
    placement: Placement,
    style: DotStyle,
    background_rgb: Rgb,
) -> Pictures:
    """Return the pictures of one display.

    Parameters
    ----------
    pixels : uint8 array, shape (height, width, 3)
        The image, as loaded.
    dots_xy_px
        First and second dot, image pixels.
    placement
        Where the image lies in the window.
    style
        The dot, in image pixels.
    background_rgb
        The blank around the image.
    """
    shown = scale_image(pixels, placement)
    blank = np.empty_like(shown)
    blank[:] = background_rgb
    dots = np.array(dots_xy_px) * [placement.scale_x, placement.scale_y]
    scaled = scale_style(style, placement)
    return Pictures(
        image=Picture(pixels=shown, left_px=placement.left_px, top_px=placement.top_px),
        dots_on_blank=_cut_dots(blank, dots, style=scaled, placement=placement),
        dots_on_image=_cut_dots(shown, dots, style=scaled, placement=placement),
    )


def scale_image(pixels: np.ndarray, placement: Placement) -> np.ndarray:
    """Return the image at its size in the window; untouched when that is its own size."""
    size = (placement.width_px, placement.height_px)
    if size == (pixels.shape[1], pixels.shape[0]):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS))


def scale_style(style: DotStyle, placement: Placement) -> DotStyle:
    """Return the dot in window pixels."""
    scale = (placement.scale_x + placement.scale_y) / 2
    return replace(
        style, radius_px=style.radius_px * scale, core_radius_px=style.core_radius_px * scale
    )


def flatten(
    pictures: tuple[Picture, ...], *, width_px: int, height_px: int, background_rgb: Rgb
) -> np.ndarray:
    """Return the window's pixels with `pictures` laid on it in order: what the screen should show."""
    window = np.empty((height_px, width_px, 3), dtype=np.uint8)
    window[:] = background_rgb
    for picture in pictures:
        height, width = picture.pixels.shape[:2]
        rows = slice(picture.top_px, picture.top_px + height)
        window[rows, picture.left_px : picture.left_px + width] = picture.pixels
    return window


def _cut_dots(
    ground: np.ndarray, dots: np.ndarray, *, style: DotStyle, placement: Placement
) -> tuple[Picture, Picture]:
    """Patches of both dots, each drawn on `ground` by itself."""
    first, second = (_cut_dot(ground, dot, style=style, placement=placement) for dot in dots)
    return first, second


def _cut_dot(
    ground: np.ndarray, dot: np.ndarray, *, style: DotStyle, placement: Placement
) -> Picture:
    reach = style.radius_px + _PATCH_MARGIN_PX
    left, top = (max(int(np.floor(centre - reach)), 0) for centre in dot)
    right, bottom = int(np.ceil(dot[0] + reach)), int(np.ceil(dot[1] + reach))
    patch = ground[top:bottom, left:right]
    drawn = draw_dots(patch, (dot - [left, top])[None, :], style=style)
    return Picture(pixels=drawn, left_px=placement.left_px + left, top_px=placement.top_px + top)
