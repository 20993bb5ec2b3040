"""Floors that every model should beat: patches compared by colour, or by texture, alone.

Per patch of 16x16 image pixels, numpy only (no torch), all definitions ours:

``control:colour``
    mean and SD of three opponent channels: luminance (R+G+B)/3, red-green R-G, blue-yellow
    B-(R+G)/2.
``control:texture``
    log of the mean squared luminance gradient in four orientations (0, 45, 90, 135 degrees) at two
    scales (as it is, and averaged over 2x2 pixels); no mean colour.

Each statistic is standardised over the patches of the image (one that is constant there is left out),
so that cosine compares profiles rather than brightness.
"""

from collections.abc import Callable, Sequence

import numpy as np

from model_eval.card import Feature, Layer, ModelCard
from model_eval.source import Emit, SourceImage
from stimuli.errors import InputError
from stimuli.geometry import InputNeeds, PatchGrid

PATCH_PX = 16
# Squared gradients of a flat patch are 0; one grey level in 255 along one pixel has 1.5e-5.
_FLOOR = 1e-6


class LowLevelControl:
    """A control as a source of features.

    Parameters
    ----------
    name
        One of `CONTROLS`.
    """

    def __init__(self, name: str) -> None:
        self._describe = CONTROLS[name]
        self._card = ModelCard(
            name=name,
            source="control",
            needs=InputNeeds(stride_px=PATCH_PX, own_size_px=224),
            layers=(Layer(name="0", stride_px=PATCH_PX, representations=("map",)),),
            notes=("patch statistics without any learning",),
        )

    @property
    def card(self) -> ModelCard:
        """The control's facts."""
        return self._card

    def read(self, images: Sequence[SourceImage], wanted: Sequence[Feature], emit: Emit) -> None:
        """Read one batch; see `model_eval.source.FeatureSource`."""
        for feature in wanted:
            emit(feature, np.stack([self._read_one(image) for image in images]))

    def _read_one(self, image: SourceImage) -> np.ndarray:
        if (image.grid.scale_x, image.grid.scale_y) != (1.0, 1.0):
            raise InputError(
                f"{self._card.name} is defined on image pixels; use --geometry pad with it"
            )
        statistics = self._describe(_pad(image.pixels, image.grid) / 255)
        sd = statistics.std(axis=0)
        varies = sd > 1e-9
        if not varies.any():
            raise InputError(f"{self._card.name}: image {image.name!r} is the same all over")
        standard = (statistics - statistics.mean(axis=0))[:, varies] / sd[varies]
        full = np.zeros(statistics.shape, np.float32)
        full[:, varies] = standard
        return full


def describe_colour(image: np.ndarray) -> np.ndarray:
    """Return mean and SD of three opponent channels per patch.

    Parameters
    ----------
    image : float array, shape (rows * 16, columns * 16, 3)
        RGB, 0 to 1.

    Returns
    -------
    float array, shape (rows * columns, 6)
    """
    red, green, blue = np.moveaxis(image, -1, 0)
    channels = np.stack([(red + green + blue) / 3, red - green, blue - (red + green) / 2])
    patches = _cut(channels, PATCH_PX)
    return np.concatenate([patches.mean(axis=-1), patches.std(axis=-1)], axis=0).T


def describe_texture(image: np.ndarray) -> np.ndarray:
    """Return log gradient energy in four orientations at two scales per patch.

    Parameters
    ----------
    image : float array, shape (rows * 16, columns * 16, 3)
        RGB, 0 to 1.

    Returns
    -------
    float array, shape (rows * columns, 8)
    """
    fine = image.mean(axis=-1)
    coarse = _cut(fine[None], 2).mean(axis=-1).reshape(fine.shape[0] // 2, fine.shape[1] // 2)
    energies = [_energy(grey, PATCH_PX // step) for step, grey in ((1, fine), (2, coarse))]
    return np.log(np.concatenate(energies, axis=0) + _FLOOR).T


CONTROLS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "control:colour": describe_colour,
    "control:texture": describe_texture,
}


def _energy(grey: np.ndarray, size: int) -> np.ndarray:
    """Mean squared derivative along 0, 45, 90 and 135 degrees, shape (4, n_patches)."""
    down, right = np.gradient(grey)
    angles = np.deg2rad([0, 45, 90, 135])[:, None, None]
    return _cut((np.cos(angles) * right + np.sin(angles) * down) ** 2, size).mean(axis=-1)


def _cut(channels: np.ndarray, size: int) -> np.ndarray:
    """Cut (n, height, width) into patches: (n, n_patches, size * size), row by row."""
    n, height, width = channels.shape
    cut = channels.reshape(n, height // size, size, width // size, size)
    return cut.transpose(0, 1, 3, 2, 4).reshape(n, -1, size * size)


def _pad(pixels: np.ndarray, grid: PatchGrid) -> np.ndarray:
    """Repeat the border, so that patches at the rim have the statistics of what is there."""
    below, right = grid.input_height_px - grid.height_px, grid.input_width_px - grid.width_px
    return np.pad(pixels, ((0, below), (0, right), (0, 0)), mode="edge").astype(float)
