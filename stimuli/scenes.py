"""A scene: an image and which object each of its pixels belongs to, whatever the source."""

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneObject:
    """One labelled object of a scene."""

    object_id: int
    category: str
    is_thing: bool
    is_crowd: bool
    source_id: str | None


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
    """

    scene_id: str
    pixels: np.ndarray
    labels: np.ndarray
    objects: tuple[SceneObject, ...]
    source: str | None = None
    licence: str | None = None


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
