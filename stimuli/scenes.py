"""A scene: an image and which object each of its pixels belongs to, whatever the source."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from stimuli.errors import InputError
from stimuli.table_io import name_some


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneObject:
    """One labelled object of a scene.

    `depth` orders the objects where the source knows it: an object covers those of smaller depth.
    """

    object_id: int
    category: str
    is_thing: bool
    is_crowd: bool
    source_id: str | None
    depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An image with its object map.

    Attributes
    ----------
    scene_id
        Name of the scene; becomes `scene_id` in the tables and the mask's file name.
    pixels : uint8 array, shape (height, width, 3)
        RGB, upright.
    labels : int32 array, shape (height, width)
        Number of the object that each pixel shows; 0 is unlabelled.
    objects
        The objects, numbered as in `labels`.
    source, licence
        Where the image comes from and under what licence, where the set says.
    image_path
        The file that `pixels` were loaded from, if any: a benchmark then keeps its bytes.
    """

    scene_id: str
    pixels: np.ndarray
    labels: np.ndarray
    objects: tuple[SceneObject, ...]
    source: str | None = None
    licence: str | None = None
    image_path: Path | None = None


def tabulate_objects(scene: Scene) -> pd.DataFrame:
    """Return the rows of objects.csv for one scene: its objects and their visible areas."""
    areas = np.bincount(scene.labels.ravel(), minlength=1)
    return pd.DataFrame(
        [
            {
                "scene_id": scene.scene_id,
                "object_id": item.object_id,
                "category": item.category,
                "is_thing": item.is_thing,
                "is_crowd": item.is_crowd,
                "source_id": item.source_id,
                "area_px": int(areas[item.object_id]),
            }
            for item in scene.objects
        ]
    )


def check_scene(scene: Scene) -> None:
    """Raise unless image, map and list of objects fit each other.

    Raises
    ------
    InputError
        The sizes differ, an id is listed twice or not at all, or a listed object has no pixel.
    """
    where = f"scene {scene.scene_id!r}"
    if not scene.scene_id or "/" in scene.scene_id or "\\" in scene.scene_id:
        raise InputError(f"{where}: the id becomes a file name; it can't be empty or hold slashes")
    if scene.labels.shape != scene.pixels.shape[:2]:
        raise InputError(
            f"{where}: the object map is {scene.labels.shape[1]}x{scene.labels.shape[0]} px, the "
            f"image {scene.pixels.shape[1]}x{scene.pixels.shape[0]} px; they must be alike"
        )
    listed = [item.object_id for item in scene.objects]
    if len(set(listed)) < len(listed) or min(listed, default=1) < 1:
        raise InputError(f"{where}: object ids {name_some(listed)}; expected each once, from 1")
    areas = np.bincount(scene.labels.ravel(), minlength=max(listed, default=0) + 1)
    unlisted = sorted(set(np.flatnonzero(areas).tolist()) - {0, *listed})
    if unlisted:
        raise InputError(f"{where}: id {name_some(unlisted)} in the map but not among its objects")
    empty = [item for item in listed if not areas[item]]
    if empty:
        raise InputError(f"{where}: object {name_some(empty)} has no pixel in the map")
