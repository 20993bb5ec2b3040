"""Which patches of a model's grid speak for a dot: the one it lies in, four around it, or as published.

Continues `stimuli.geometry`, which owns the grid.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from stimuli.errors import InputError
from stimuli.geometry import PatchGrid, find_patch

DotRule = Literal["contains", "bilinear", "published_rounding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DotWeights:
    """Which patches speak for each dot, and how much.

    Attributes
    ----------
    patches : int array, shape (n_dots, n_corners)
        Row-major indices; one corner, or four for bilinear reading.
    weights : float array, shape (n_dots, n_corners)
        Add up to 1 for each dot.
    """

    patches: np.ndarray
    weights: np.ndarray


def read_dots(grid: PatchGrid, rule: DotRule, *, x_px: np.ndarray, y_px: np.ndarray) -> DotWeights:
    """Return which patches speak for each dot.

    Parameters
    ----------
    grid
        The image's patch grid.
    rule
        ``contains``: the patch that the dot lies in. ``bilinear``: the four patches whose centres
        surround it, weighted by nearness; at the border the centres repeat. ``published_rounding``:
        the published code's rounding (Adeli 2023), which is off by half a patch on average.
    x_px, y_px : float arrays, shape (n_dots,), image pixels
        The dots.

    Raises
    ------
    InputError
        A dot lies outside the image, or (published rounding) is rounded off the grid.
    """
    containing = find_patch(grid, x_px=x_px, y_px=y_px)
    if rule == "contains":
        return DotWeights(patches=containing[:, None], weights=np.ones((len(containing), 1)))
    if rule == "published_rounding":
        columns = _round_as_published(x_px, n_px=grid.width_px, n_cells=grid.n_columns)
        rows = _round_as_published(y_px, n_px=grid.height_px, n_cells=grid.n_rows)
        patches = rows * grid.n_columns + columns
        return DotWeights(patches=patches[:, None], weights=np.ones((len(patches), 1)))
    columns, right = _surround(x_px, grid.scale_x, grid.stride_px, content_px=grid.content_width_px)
    rows, below = _surround(y_px, grid.scale_y, grid.stride_px, content_px=grid.content_height_px)
    corners = [(0, 0), (0, 1), (1, 0), (1, 1)]
    patches = np.stack([rows[i] * grid.n_columns + columns[j] for i, j in corners], axis=1)
    weights = np.stack([np.abs(1 - i - below) * np.abs(1 - j - right) for i, j in corners], axis=1)
    return DotWeights(patches=patches, weights=weights)


def _surround(
    place_px: np.ndarray, scale: float, stride_px: int, *, content_px: int
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Cells before and after each place, by their centres, and how far it is towards the second."""
    position = np.asarray(place_px, dtype=float) * scale / stride_px - 0.5
    last = -(-content_px // stride_px) - 1
    before = np.floor(position).astype(int)
    cells = (np.clip(before, 0, last), np.clip(before + 1, 0, last))
    return cells, position - before


def _round_as_published(place_px: np.ndarray, *, n_px: int, n_cells: int) -> np.ndarray:
    """Adeli 2023 code: round(x / width * n_columns), x a whole pixel, halves to even."""
    cell = np.round((np.asarray(place_px, dtype=float) - 0.5) / n_px * n_cells).astype(int)
    if (cell >= n_cells).any() or (cell < 0).any():
        k = int(np.flatnonzero((cell >= n_cells) | (cell < 0))[0])
        raise InputError(
            f"dot {k} at {place_px[k]:g} of {n_px} px is rounded to patch {cell[k]} of {n_cells}: the "
            "published rounding has no patch for it; use --dots contains"
        )
    return cell
