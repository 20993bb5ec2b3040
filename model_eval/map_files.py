"""Affinity maps of example trials, in one file per model: what a figure of maps is drawn from.

How alike every patch is to the patch under the first dot (cosine; of attention, how much the dot's patch
attends to it). One map serves all trials of an image that share the first dot. Light: numpy only, so that
`analysis` reads it.

::

    maps/<model>.npz
        index   one text, a JSON object: format, model, geometry, and a list "maps" of objects
                layer, representation, trial_ids, scene_id, image, image_sha256, dot_x_px, dot_y_px,
                and grid: width_px, height_px (the image), scale_x, scale_y (input pixels per image
                pixel), stride_px (input pixels per patch), n_columns, n_rows
        map_0, map_1, ...   float32 array, shape (n_rows, n_columns), in the order of that list
"""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from model_eval.card import Feature
from stimuli.errors import InputError
from stimuli.geometry import PatchGrid
from stimuli.table_io import name_some, replacing

FORMAT = "objecthood-maps-1"
ALL, EXAMPLES = "all", "examples"
N_EXAMPLE_SCENES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class AffinityMap:
    """How alike each patch of an image is to the patch under a trial's first dot.

    Attributes
    ----------
    feature
        Of which layer and representation.
    trial_ids
        The trials with this image and first dot.
    scene_id, image, image_sha256
        The photograph.
    dot_x_px, dot_y_px
        The first dot, image pixels.
    grid
        The patch grid; padding to the right and below included.
    affinity : float32 array, shape (n_rows, n_columns)
        Affinities as they are: cosines from -1 to 1, or attention from 0 to 1.
    """

    feature: Feature
    trial_ids: tuple[str, ...]
    scene_id: str
    image: str
    image_sha256: str
    dot_x_px: float
    dot_y_px: float
    grid: PatchGrid
    affinity: np.ndarray

    @property
    def extent_px(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the map in image pixels, as matplotlib's `imshow` takes it.

        Beyond the image's own width and height lies padding.
        """
        right = self.grid.input_width_px / self.grid.scale_x
        bottom = self.grid.input_height_px / self.grid.scale_y
        return (0.0, right, bottom, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFile:
    """The affinity maps of one model, and the geometry that they were read with."""

    model: str
    geometry: str
    maps: tuple[AffinityMap, ...]


def choose_map_trials(words: Sequence[str], trials: pd.DataFrame) -> frozenset[str]:
    """Return the trials whose maps are kept.

    Parameters
    ----------
    words
        Trial ids; ``examples`` for all trials of six scenes spread over the trial table, the same for
        every model; ``all``; nothing for none.
    trials
        The trial table; trials without an image have no map.

    Raises
    ------
    InputError
        A trial isn't in the table, or has no image.
    """
    with_image = trials[trials["image"].notna()]
    if tuple(words) == (ALL,):
        return frozenset(with_image["trial_id"])
    if tuple(words) == (EXAMPLES,):
        scenes = with_image["scene_id"].unique()
        places = np.linspace(0, len(scenes) - 1, min(N_EXAMPLE_SCENES, len(scenes))).round()
        chosen = scenes[places.astype(int)]
        return frozenset(with_image.loc[with_image["scene_id"].isin(chosen), "trial_id"])
    unknown = [word for word in words if word not in set(with_image["trial_id"])]
    if unknown:
        raise InputError(
            f"--keep-maps: no trial {name_some(unknown)} with an image in the trial table; expected "
            f"'{EXAMPLES}', '{ALL}' or trial ids with commas"
        )
    return frozenset(words)


def write_maps(maps: Sequence[AffinityMap], path: Path, *, model: str, geometry: str) -> None:
    """Write a model's maps, complete or not at all; the format is this module's."""
    index = {
        "format": FORMAT,
        "model": model,
        "geometry": geometry,
        "maps": [describe_map(item) for item in maps],
    }
    arrays = {f"map_{k}": item.affinity for k, item in enumerate(maps)}
    with replacing(path) as temporary:
        np.savez_compressed(temporary, index=np.array(json.dumps(index)), **arrays)  # type: ignore[arg-type]


def read_maps(path: Path) -> MapFile:
    """Return a model's maps.

    Raises
    ------
    InputError
        No such file, or another kind of file.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; 'objecthood evaluate --keep-maps' writes it")
    try:
        with np.load(path, allow_pickle=False) as opened:
            index = json.loads(str(opened["index"]))
            if index["format"] != FORMAT:
                raise InputError(f"{path}: format {index['format']!r}, expected {FORMAT!r}")
            maps = [
                parse_map(item, affinity=opened[f"map_{k}"]) for k, item in enumerate(index["maps"])
            ]
            return MapFile(model=index["model"], geometry=index["geometry"], maps=tuple(maps))
    except (ValueError, KeyError, TypeError, OSError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: not a file of affinity maps ({error}); write it anew with 'objecthood evaluate "
            "--keep-maps'"
        ) from None


def describe_map(item: AffinityMap) -> dict[str, Any]:
    """Return all of a map but its affinities, for JSON."""
    return {
        "layer": item.feature.layer,
        "representation": item.feature.representation,
        "trial_ids": list(item.trial_ids),
        "scene_id": item.scene_id,
        "image": item.image,
        "image_sha256": item.image_sha256,
        "dot_x_px": item.dot_x_px,
        "dot_y_px": item.dot_y_px,
        "grid": asdict(item.grid),
    }


def parse_map(content: dict[str, Any], *, affinity: np.ndarray) -> AffinityMap:
    """Return the map that `describe_map` described.

    Raises
    ------
    ValueError
        The affinities aren't of the grid's shape.
    """
    rest = dict(content)
    feature = Feature(layer=rest.pop("layer"), representation=rest.pop("representation"))
    grid = PatchGrid(**rest.pop("grid"))
    if affinity.shape != (grid.n_rows, grid.n_columns):
        raise ValueError(
            f"a map of shape {affinity.shape} on {grid.n_rows} x {grid.n_columns} patches"
        )
    return AffinityMap(
        feature=feature,
        grid=grid,
        affinity=affinity,
        trial_ids=tuple(rest.pop("trial_ids")),
        **rest,
    )
