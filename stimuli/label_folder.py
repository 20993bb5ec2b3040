"""A folder of photographs and a folder of label PNGs of the same names, to scenes.

Each pixel of a label PNG holds the number of its object; 0 is unlabelled. What the objects are may be
told in a table beside them (`objects.csv`, the schema of a benchmark's); without it every object is a
thing of one category, "object". A benchmark folder is such a source, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.images import load_image, load_mask
from stimuli.mask_fit import DrawnOn, fit_mask
from stimuli.scenes import Scene, SceneObject
from stimuli.table_io import name_some, read_table
from stimuli.tables import Objects

IMAGE_SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp"}
MASK_SUFFIXES = {".png", ".tif", ".tiff", ".bmp"}
UNKNOWN_CATEGORY = "object"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFolder:
    """Photographs and label images by scene id, the file name without its extension.

    Attributes
    ----------
    images, masks
        Files by scene id; a scene may lack one of them, which `read` reports.
    objects
        What is known of the objects, by scene id and number.
    drawn_on
        Whether masks were drawn on upright or on stored photographs, where the size doesn't tell.
    """

    images: Mapping[str, Path]
    masks: Mapping[str, Path]
    objects: Mapping[tuple[str, int], SceneObject]
    drawn_on: DrawnOn = "unknown"

    @property
    def scene_ids(self) -> tuple[str, ...]:
        """All names, in alphabetical order."""
        return tuple(sorted({*self.images, *self.masks}))

    def read(self, scene_id: str, faults: FaultLog) -> Scene | None:
        """Return a scene; None if a fault, noted in `faults`, makes it useless.

        Raises
        ------
        InputError
            `faults` refuses, or a file can't be read.
        """
        image_path, mask_path = self.images.get(scene_id), self.masks.get(scene_id)
        if image_path is None or mask_path is None:
            lack = "image" if image_path is None else "mask"
            faults.report(f"{lack} missing", where=scene_id, detail="no file of that name")
            return None
        image = load_image(image_path)
        labels = load_mask(mask_path)
        if labels.min() < 0:
            faults.report(
                "negative object number", where=str(mask_path), detail=str(int(labels.min()))
            )
            return None
        fitted = fit_mask(labels, image, path=mask_path, faults=faults, drawn_on=self.drawn_on)
        if fitted is None:
            return None
        numbers = sorted(set(np.unique(fitted).tolist()) - {0})
        return Scene(
            scene_id=scene_id,
            pixels=image.pixels,
            labels=fitted,
            objects=tuple(self._describe(scene_id, number, faults) for number in numbers),
            source=image_path.name,
            image_path=image_path,
        )

    def _describe(self, scene_id: str, number: int, faults: FaultLog) -> SceneObject:
        known = self.objects.get((scene_id, number))
        if known is None and self.objects:
            faults.report(
                "object not in the table of objects", where=scene_id, detail=f"number {number}"
            )
        return known or SceneObject(
            object_id=number,
            category=UNKNOWN_CATEGORY,
            is_thing=True,
            is_crowd=False,
            source_id=None,
        )


def open_label_folder(
    *, images_folder: Path, masks_folder: Path, objects_file: Path | None = None
) -> LabelFolder:
    """Return the scenes of two folders whose files have the same names.

    Raises
    ------
    InputError
        A folder is missing, two files of a folder have one name, or there is nothing in them.
    TableError
        The table of objects breaks its schema.
    """
    found = LabelFolder(
        images=_list_files(images_folder, IMAGE_SUFFIXES),
        masks=_list_files(masks_folder, MASK_SUFFIXES),
        objects=_read_objects(objects_file),
    )
    if not set(found.images) & set(found.masks):
        raise InputError(
            f"{images_folder} holds {len(found.images)} images and {masks_folder} {len(found.masks)} "
            "masks, but none has the name of another; name mask and image alike"
        )
    return found


def _list_files(folder: Path, suffixes: set[str]) -> dict[str, Path]:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in suffixes)
    stems = pd.Series([path.stem for path in files], dtype="str")
    if stems.duplicated().any():
        twice = name_some(stems[stems.duplicated()].unique())
        raise InputError(f"{folder}: two files are called {twice}; keep one of each name")
    return {path.stem: path for path in files}


def _read_objects(path: Path | None) -> dict[tuple[str, int], SceneObject]:
    if path is None:
        return {}
    return {
        (str(row["scene_id"]), int(row["object_id"])): SceneObject(
            object_id=int(row["object_id"]),
            category=str(row["category"]),
            is_thing=bool(row["is_thing"]),
            is_crowd=bool(row["is_crowd"]),
            source_id=None if pd.isna(row["source_id"]) else str(row["source_id"]),
        )
        for row in read_table(path, Objects).to_dict("records")
    }
