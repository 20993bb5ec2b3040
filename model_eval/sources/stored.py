"""Features that somebody computed elsewhere, for models that can't be shared: files, no network.

A folder with ``features.json`` and one file per image of the benchmark, as `--keep-features` writes it
(`model_eval.keep`), or as anybody can::

    features.json            {"model": "mine", "patch_px": 16}
    <image>.npz              one array, or "layer/representation" each, shape (rows, columns, dims)

The JSON may also state family, objective, training_data, year and licence. The grid is declared by the arrays' shapes and must be that of the geometry: by default the image at its
native size, padded right and below to whole patches.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from model_eval.card import Feature, Layer, ModelCard, parse_about
from model_eval.keep import MANIFEST
from model_eval.source import Emit, SourceImage
from stimuli.errors import InputError
from stimuli.geometry import InputNeeds, fit_image, parse_geometry
from stimuli.table_io import name_some, read_json

_SUFFIXES = (".safetensors", ".npz")
# The name of a feature in files that hold one array without saying which.
_PLAIN = "0/map"


class StoredFeatures:
    """A folder of features as a source.

    Parameters
    ----------
    folder
        With ``features.json``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        content = read_json(folder / MANIFEST)
        files = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
        if not files or "model" not in content:
            raise InputError(
                f'{folder}: expected {MANIFEST} with "model" and "patch_px", and a .npz or '
                ".safetensors file per image"
            )
        self._geometry = str(content.get("geometry", "pad"))
        strides: dict[str, int] = content.get("strides_px") or {}
        names = list(read_arrays(files[0]))
        layers = dict.fromkeys(name.partition("/")[0] for name in names)
        patch_px = int(content.get("patch_px", 0)) or max(strides.values(), default=0)
        if not patch_px:
            raise InputError(f'{folder / MANIFEST}: say "patch_px", the input pixels of a patch')
        self._card = ModelCard(
            name=str(content["model"]),
            source="features",
            needs=InputNeeds(
                stride_px=patch_px,
                own_size_px=int(content.get("own_size_px", 224)),
                is_fixed=bool(content.get("is_fixed", False)),
            ),
            layers=tuple(
                Layer(
                    name=layer,
                    stride_px=int(strides.get(layer, patch_px)),
                    representations=tuple(
                        name.partition("/")[2] for name in names if name.partition("/")[0] == layer
                    ),
                )
                for layer in layers
            ),
            weights_sha256=_hash_folder([folder / MANIFEST, *files]),
            notes=("features computed elsewhere",),
            about=parse_about(content, where=str(folder / MANIFEST)),
        )

    @property
    def card(self) -> ModelCard:
        """What the folder says of the model."""
        return self._card

    def read(self, images: Sequence[SourceImage], wanted: Sequence[Feature], emit: Emit) -> None:
        """Read one batch; see `model_eval.source.FeatureSource`."""
        for image in images:
            self._check_geometry(image)
        stored = [read_arrays(self._find(image)) for image in images]
        for feature in wanted:
            name = f"{feature.layer}/{feature.representation}"
            stride = self._card.layer(feature.layer).stride_px
            emit(
                feature,
                np.stack(
                    [
                        self._check(arrays, name, image=image, stride_px=stride)
                        for arrays, image in zip(stored, images, strict=True)
                    ]
                ),
            )

    def _check_geometry(self, image: SourceImage) -> None:
        grid = fit_image(
            parse_geometry(self._geometry),
            width_px=image.grid.width_px,
            height_px=image.grid.height_px,
            needs=self._card.needs,
        )
        if grid != image.grid:
            raise InputError(
                f"{self._card.name}: these features were computed with --geometry {self._geometry}; "
                "evaluate them with it"
            )

    def _find(self, image: SourceImage) -> Path:
        stem = Path(image.name).stem
        for path in (f"{name}{suffix}" for name in (image.name, stem) for suffix in _SUFFIXES):
            if (self._folder / path).is_file():
                return self._folder / path
        raise InputError(
            f"{self._card.name}: no features of image {image.name!r} in {self._folder}; expected "
            f"{stem}.npz or {stem}.safetensors"
        )

    def _check(
        self, arrays: dict[str, np.ndarray], name: str, *, image: SourceImage, stride_px: int
    ) -> np.ndarray:
        where = f"{self._card.name}, image {image.name!r}"
        if name not in arrays:
            raise InputError(f"{where}: no array {name!r}; found {name_some(arrays)}")
        array, grid = arrays[name], image.grid.at_stride(stride_px)
        if array.ndim != 3 or array.shape[:2] != (grid.n_rows, grid.n_columns):
            raise InputError(
                f"{where}, {name}: shape {array.shape}, expected ({grid.n_rows} rows, "
                f"{grid.n_columns} columns, dims) for {grid.width_px}x{grid.height_px} px; check "
                f"patch_px and geometry in {MANIFEST}"
            )
        return array.reshape(grid.n_patches, -1)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file by ``layer/representation``.

    Raises
    ------
    InputError
        It can't be read, or holds something else.
    """
    try:
        if path.suffix == ".safetensors":
            arrays = load_file(path)
        else:
            with np.load(path, allow_pickle=False) as opened:
                arrays = dict(opened)
    except (SafetensorError, ValueError, OSError) as error:
        raise InputError(f"{path}: not a readable file of arrays ({error})") from None
    if len(arrays) == 1 and "/" not in next(iter(arrays)):
        return {_PLAIN: next(iter(arrays.values()))}
    wrong = [name for name in arrays if name.count("/") != 1]
    if wrong:
        raise InputError(f"{path}: array {name_some(wrong)}; expected names such as 11/tokens")
    return arrays


def _hash_folder(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
