"""Pixels to a network's input, through the one geometry that dots and masks also go through."""

import numpy as np
from PIL import Image

from model_eval.card import Preprocessing
from stimuli.errors import InputError
from stimuli.geometry import PatchGrid

FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


def make_input(pixels: np.ndarray, grid: PatchGrid, preprocessing: Preprocessing) -> np.ndarray:
    """Return one image as a network's input.

    Parameters
    ----------
    pixels : uint8 array, shape (height_px, width_px, 3)
        The image.
    grid
        Its geometry: scaled to the content size, laid at the top left, padded with zeros after
        normalisation.
    preprocessing
        Mean, SD and filter.

    Returns
    -------
    float32 array, shape (3, input_height_px, input_width_px)

    Raises
    ------
    InputError
        An unknown filter.
    """
    content = (grid.content_width_px, grid.content_height_px)
    if content != (grid.width_px, grid.height_px):
        if preprocessing.interpolation not in FILTERS:
            raise InputError(
                f"interpolation {preprocessing.interpolation!r}: expected one of {', '.join(FILTERS)}"
            )
        picture = Image.fromarray(pixels)
        pixels = np.asarray(picture.resize(content, FILTERS[preprocessing.interpolation]))
    mean = np.array(preprocessing.mean, np.float32)
    sd = np.array(preprocessing.sd, np.float32)
    normal = (pixels.astype(np.float32) / np.float32(255) - mean) / sd
    made = np.zeros((3, grid.input_height_px, grid.input_width_px), np.float32)
    made[:, : content[1], : content[0]] = normal.transpose(2, 0, 1)
    return made
