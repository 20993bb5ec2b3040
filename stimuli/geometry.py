"""Every map between image pixels, model input and patch grid. One owner; nothing else does it.

Pixels are continuous: x right, y down, (0, 0) the outer corner of the top-left pixel; the centre of
a whole pixel is +0.5. Patches are half-open cells: the patch of a dot is the one that contains it.

How an image becomes a model's input is a `Geometry`. No mode crops, so every dot stays inside.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

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

    def at_stride(self, stride_px: int) -> "PatchGrid":
        """Return the grid of another layer of the same model, whose cells have another size.

        Raises
        ------
        InputError
            The input isn't a whole number of such cells.
        """
        if self.input_width_px % stride_px or self.input_height_px % stride_px:
            raise InputError(
                f"an input of {self.input_width_px}x{self.input_height_px} px has no whole number of "
                f"cells of {stride_px} px; choose layers whose strides divide the coarsest one"
            )
        return replace(
            self,
            stride_px=stride_px,
            n_columns=self.input_width_px // stride_px,
            n_rows=self.input_height_px // stride_px,
        )


GeometryMode = Literal["pad", "native", "square", "longest", "shortest", "grid"]
_SIZED: tuple[GeometryMode, ...] = ("square", "longest", "shortest", "grid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """How images become model input; the same for all models of a comparison.

    Attributes
    ----------
    mode
        ``pad``: native size, padded right and below to whole patches (the published form for ViTs,
        Adeli 2023 code). ``native``: native size, and an error where padding would be needed.
        ``square``: stretched to a square. ``longest``, ``shortest``: that side scaled to a size,
        aspect ratio kept, padded. ``grid``: scaled so that a patch covers so many image pixels; with
        16, every model has the grid of a ViT-B/16 on the image as it is (the published form for
        CNNs, Adeli 2026).
    size_px
        Input pixels of the side (``square``, ``longest``, ``shortest``; None is the model's own
        size), or image pixels per patch (``grid``).
    """

    mode: GeometryMode
    size_px: int | None = None

    def __str__(self) -> str:
        """Return the form that `parse_geometry` reads."""
        return self.mode if self.size_px is None else f"{self.mode}:{self.size_px}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputNeeds:
    """What a model asks of its input.

    Attributes
    ----------
    stride_px
        Input sides are multiples of it: the patch size, or a CNN's coarsest stride.
    own_size_px
        The square that it was trained with.
    is_fixed
        It takes that square and nothing else.
    """

    stride_px: int
    own_size_px: int
    is_fixed: bool = False


def parse_geometry(text: str) -> Geometry:
    """Return the geometry that a word such as ``pad``, ``longest`` or ``square:518`` names.

    Raises
    ------
    InputError
        An unknown mode, a size that isn't a positive whole number or doesn't belong, or none where
        one is needed.

    Examples
    --------
    >>> parse_geometry("longest:518")
    Geometry(mode='longest', size_px=518)
    """
    mode, colon, size = text.partition(":")
    known = {str(name): name for name in get_args(GeometryMode)}
    if mode not in known:
        modes = ", ".join(known)
        raise InputError(f"geometry {text!r}: expected one of {modes}, e.g. pad or longest:518")
    if colon and (mode not in _SIZED or not size.isdecimal() or int(size) == 0):
        sized = ", ".join(f"{name}:PIXELS" for name in _SIZED)
        raise InputError(f"geometry {text!r}: a size goes with {sized}, in whole pixels above 0")
    if mode == "grid" and not colon:
        raise InputError("geometry 'grid' needs the image pixels per patch, e.g. grid:16")
    return Geometry(mode=known[mode], size_px=int(size) if colon else None)


def fit_image(geometry: Geometry, *, width_px: int, height_px: int, needs: InputNeeds) -> PatchGrid:
    """Return how one image becomes one model's input.

    Parameters
    ----------
    geometry
        The mode.
    width_px, height_px
        The image.
    needs
        What the model asks.

    Raises
    ------
    InputError
        The mode can't serve this image and model; the message says which could.

    Examples
    --------
    >>> needs = InputNeeds(stride_px=16, own_size_px=224)
    >>> grid = fit_image(parse_geometry("longest"), width_px=640, height_px=480, needs=needs)
    >>> grid.n_columns, grid.n_rows, grid.content_height_px
    (14, 11, 168)
    """
    content_width, content_height = _content_size(geometry, width_px, height_px, needs=needs)
    stride = needs.stride_px
    grid = PatchGrid(
        width_px=width_px,
        height_px=height_px,
        scale_x=content_width / width_px,
        scale_y=content_height / height_px,
        stride_px=stride,
        n_columns=-(-content_width // stride),
        n_rows=-(-content_height // stride),
    )
    has_padding = (grid.input_width_px, grid.input_height_px) != (content_width, content_height)
    if has_padding and geometry.mode in {"native", "square"}:
        raise InputError(
            f"geometry {str(geometry)!r}: an input of {content_width}x{content_height} px is no whole "
            f"number of patches of {stride} px; use 'pad', or a multiple of {stride}"
        )
    return _fill_fixed(grid, needs) if needs.is_fixed else grid


def pad_to_grid(*, width_px: int, height_px: int, stride_px: int) -> PatchGrid:
    """Return the grid of an image at its native size, padded right and below to whole patches.

    A side that is already a multiple of the stride gets no padding, whatever the other needs.

    >>> grid = pad_to_grid(width_px=230, height_px=224, stride_px=14)
    >>> grid.n_columns, grid.n_rows
    (17, 16)
    """
    needs = InputNeeds(stride_px=stride_px, own_size_px=stride_px)
    return fit_image(Geometry(mode="pad"), width_px=width_px, height_px=height_px, needs=needs)


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
    columns = _find_cell(x_px, grid.scale_x, grid.stride_px, content_px=grid.content_width_px)
    rows = _find_cell(y_px, grid.scale_y, grid.stride_px, content_px=grid.content_height_px)
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


def _find_cell(
    place_px: np.ndarray, scale: float, stride_px: int, *, content_px: int
) -> np.ndarray:
    """Cell of each place along one side, the places being inside the image."""
    cell = np.floor(place_px * scale / stride_px).astype(int)
    # A dot within rounding of the far edge must not be scaled onto it.
    return np.minimum(cell, -(-content_px // stride_px) - 1)


def _overlaps(n_px: int, *, scale: float, stride_px: int, n_cells: int) -> np.ndarray:
    """Share of each cell (rows) that each pixel (columns) covers, along one side."""
    edges = np.arange(n_px + 1) * scale / stride_px
    cells = np.arange(n_cells)[:, None]
    overlap = np.minimum(edges[1:], cells + 1) - np.maximum(edges[:-1], cells)
    return np.maximum(overlap, 0.0)


def _content_size(
    geometry: Geometry, width_px: int, height_px: int, *, needs: InputNeeds
) -> tuple[int, int]:
    """Return the width and height that the image has in the input."""
    if geometry.mode in {"pad", "native"}:
        return width_px, height_px
    size = needs.own_size_px if geometry.size_px is None else geometry.size_px
    if geometry.mode == "square":
        return size, size
    if geometry.mode == "grid":
        scale = needs.stride_px / size
    elif geometry.mode == "longest":
        scale = size / max(width_px, height_px)
    else:
        scale = size / min(width_px, height_px)
    return max(1, round(width_px * scale)), max(1, round(height_px * scale))


def _fill_fixed(grid: PatchGrid, needs: InputNeeds) -> PatchGrid:
    """Return the grid padded to the only size that the model takes."""
    side = needs.own_size_px
    if grid.input_width_px > side or grid.input_height_px > side:
        raise InputError(
            f"the model takes inputs of {side}x{side} px only, but this geometry makes "
            f"{grid.input_width_px}x{grid.input_height_px} px of an image of {grid.width_px}x"
            f"{grid.height_px} px; use --geometry longest (aspect ratio kept) or square"
        )
    n_cells = side // needs.stride_px
    return replace(grid, n_columns=n_cells, n_rows=n_cells)
