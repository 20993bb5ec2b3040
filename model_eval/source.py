"""A source of features: anything that turns images into one vector per patch and layer.

A source hands features out while it reads (`emit`), so that they are reduced to readouts at once
and nothing piles up with the number of images or layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from model_eval.card import Feature, ModelCard
from stimuli.geometry import PatchGrid

# A numpy array, or a torch tensor on any device; readouts use only what both can do.
Array = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceImage:
    """An image as a source gets it.

    Attributes
    ----------
    name
        File name below the benchmark's images.
    sha256
        Hash of the file.
    pixels : uint8 array, shape (height, width, 3)
        Upright RGB.
    grid
        The patch grid at the model's coarsest stride.
    """

    name: str
    sha256: str
    pixels: np.ndarray
    grid: PatchGrid


class Emit(Protocol):
    """Takes one feature of a batch, shape (n_images, n_patches, n_dims), patches row by row.

    Of the representation ``attention``: a list of `model_eval.view.AttentionInput`, one per image.
    """

    def __call__(self, feature: Feature, tokens: Array) -> None:
        """Take it; the array may be reused after the call."""


class FeatureSource(Protocol):
    """A loaded model, as the engine sees it."""

    @property
    def card(self) -> ModelCard:
        """The model's facts."""
        ...

    def read(self, images: Sequence[SourceImage], wanted: Sequence[Feature], emit: Emit) -> None:
        """Read images of equal input size in one forward pass, emitting each wanted feature once.

        Raises
        ------
        InputError
            The model can't read such an input, or gives another grid than its stride promises.
        """
        ...
