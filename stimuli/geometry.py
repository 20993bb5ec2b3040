"""Every map between image pixels, model input and patch grid. One owner; nothing else does it.

Pixels are continuous: x right, y down, (0, 0) the outer corner of the top-left pixel; the centre of
a whole pixel is +0.5. Patches are half-open cells: the patch of a dot is the one that contains it.
"""

from dataclasses import dataclass

import numpy as np

from stimuli.errors import InputError


def centre_of_pixel(whole_px: np.ndarray | float) -> np.ndarray | float:
    """Return the continuous coordinate of the centre of whole-pixel index `whole_px`."""
    return whole_px + 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchGrid:
    """How an image becomes a model's input and its patches.

    The image is scaled by `scale_x`, `scale_y`, laid at the top left of the input, and padded to the
    right and below to a multiple of the stride (the published form, Adeli 2023 code).

    Attributes
    ----------
    width_px, height_px
        The image.
    scale_x, scale_y
        Input pixels per image pixel.
    stride_px
        Input pixels per patch, in both directions.
    n_columns, n_rows
        The patch grid, padding included.
    """

    width_px: int
    height_px: int
    scale_x: float
    scale_y: float
    stride_px: int
    n_columns: int
    n_rows: int

    @property
    def content_width_px(self) -> int:
        """Input columns that hold image."""
        return round(self.width_px * self.scale_x)

    @property
    def content_height_px(self) -> int:
        """Input rows that hold image."""
        return round(self.height_px * self.scale_y)

    @property
    def input_width_px(self) -> int:
        """Input columns, padding included."""
        return self.n_columns * self.stride_px

    @property
    def input_height_px(self) -> int:
        """Input rows, padding included."""
        return self.n_rows * self.stride_px

    @property
    def n_patches(self) -> int:
        """Patches, row by row."""
        return self.n_columns * self.n_rows


def pad_to_grid(*, width_px: int, height_px: int, stride_px: int) -> PatchGrid:
    """Return the grid of an image at its native size, padded right and below to whole patches.

    A side that is already a multiple of the stride gets no padding, whatever the other needs.

    >>> grid = pad_to_grid(width_px=230, height_px=224, stride_px=14)
    >>> grid.n_columns, grid.n_rows
    (17, 16)
    """
    return PatchGrid(
        width_px=width_px,
        height_px=height_px,
        scale_x=1.0,
        scale_y=1.0,
        stride_px=stride_px,
        n_columns=-(-width_px // stride_px),
        n_rows=-(-height_px // stride_px),
    )


def find_patch(grid: PatchGrid, *, x_px: np.ndarray, y_px: np.ndarray) -> np.ndarray:
    """Return the row-major index of the patch that contains each dot.

    Parameters
    ----------
    grid
        The image's patch grid.
    x_px, y_px : float arrays, shape (n_dots,), image pixels
        The dots.

    Returns
    -------
    int array, shape (n_dots,)
        ``row * n_columns + column``.

    Raises
    ------
    InputError
        A dot lies outside the image; its index and place are named.
    """
    x_px, y_px = np.asarray(x_px, dtype=float), np.asarray(y_px, dtype=float)
    is_outside = ~((x_px >= 0) & (x_px < grid.width_px) & (y_px >= 0) & (y_px < grid.height_px))
    if is_outside.any():
        k = int(np.flatnonzero(is_outside)[0])
        raise InputError(
            f"dot {k} at ({x_px[k]:g}, {y_px[k]:g}) px lies outside its image of "
            f"{grid.width_px}x{grid.height_px} px; correct the trial table"
        )
    columns = np.floor(x_px * grid.scale_x / grid.stride_px).astype(int)
    rows = np.floor(y_px * grid.scale_y / grid.stride_px).astype(int)
    return rows * grid.n_columns + columns


def share_of_patches(grid: PatchGrid, is_inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how much of each patch a region covers, and how much of it is image at all.

    Parameters
    ----------
    grid
        The image's patch grid.
    is_inside : bool array, shape (height_px, width_px)
        The region, in image pixels.

    Returns
    -------
    region, image : float arrays, shape (n_patches,)
        Shares of the patch's area, 0 to 1; `image` is below 1 where there is padding.
    """
    x_overlap = _overlaps(
        grid.width_px, scale=grid.scale_x, stride_px=grid.stride_px, n_cells=grid.n_columns
    )
    y_overlap = _overlaps(
        grid.height_px, scale=grid.scale_y, stride_px=grid.stride_px, n_cells=grid.n_rows
    )
    region = y_overlap @ is_inside.astype(float) @ x_overlap.T
    image = np.outer(y_overlap.sum(axis=1), x_overlap.sum(axis=1))
    return region.ravel(), image.ravel()


def _overlaps(n_px: int, *, scale: float, stride_px: int, n_cells: int) -> np.ndarray:
    """Share of each cell (rows) that each pixel (columns) covers, along one side."""
    edges = np.arange(n_px + 1) * scale / stride_px
    cells = np.arange(n_cells)[:, None]
    overlap = np.minimum(edges[1:], cells + 1) - np.maximum(edges[:-1], cells)
    return np.maximum(overlap, 0.0)
