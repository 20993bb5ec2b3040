"""Keep features: one safetensors file per image, for those who want more than readouts.

A folder of such files is also a model (`model_eval.sources.stored`): features can be computed once,
or where the weights may not leave, and read out anywhere.

::

    features.json        model, geometry, stride per layer
    <image>.safetensors  an array "layer/representation" each, float32, shape (rows, columns, dims)
"""

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from model_eval.card import Feature, ModelCard
from model_eval.source import Array, SourceImage
from model_eval.view import as_float32, as_numpy
from stimuli.table_io import replacing, write_json

FORMAT = "objecthood-features-1"
MANIFEST = "features.json"


class FeatureKeeper:
    """Writes the features of images as they come.

    Parameters
    ----------
    folder
        Where they go.
    card
        The model.
    geometry
        How images become its input.
    """

    def __init__(self, folder: Path, card: ModelCard, *, geometry: str) -> None:
        self._folder = folder
        self._card = card
        content = {
            "format": FORMAT,
            "model": card.name,
            "geometry": geometry,
            "own_size_px": card.needs.own_size_px,
            "is_fixed": card.needs.is_fixed,
            "strides_px": {layer.name: layer.stride_px for layer in card.layers},
        }
        write_json(content, folder / MANIFEST)
        self._arrays: dict[str, dict[str, np.ndarray]] = {}

    def take(self, image: SourceImage, feature: Feature, tokens: Array) -> None:
        """Take one feature of an image, shape (n_patches, n_dims); attention isn't kept."""
        if feature.representation == "attention":
            return
        grid = image.grid.at_stride(self._card.layer(feature.layer).stride_px)
        plain = as_numpy(as_float32(tokens)).reshape(grid.n_rows, grid.n_columns, -1)
        name = f"{feature.layer}/{feature.representation}"
        self._arrays.setdefault(image.name, {})[name] = np.ascontiguousarray(plain)

    def finish(self, image: SourceImage) -> None:
        """Write the file of an image whose features have all come."""
        with replacing(self._folder / f"{image.name}.safetensors") as temporary:
            save_file(self._arrays.pop(image.name), temporary)
