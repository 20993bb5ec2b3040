"""ADE20K's full release (2021_17_01) to scenes.

Zhou et al. 2019, Int. J. Computer Vision 127. Beside each ``NAME.jpg`` lies ``NAME.json``, which lists
objects and their parts, and a folder ``NAME/`` with a PNG per object and part: 255 where it shows, 128
where something hides it (copies that hold only 0 and 255 are amodal). ``NAME_seg.png`` holds all
objects at once: class number = R // 10 * 256 + G, and B differs between objects;
``NAME_parts_1.png`` the same for parts. The instance PNGs are read where they are, painted from far to
near by the release's depth rank (1 is nearest); otherwise the ``_seg`` and ``_parts`` images.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.images import load_image, load_mask, open_picture
from stimuli.mask_fit import DrawnOn, fit_mask
from stimuli.scenes import Scene, SceneObject
from stimuli.table_io import read_json

Json = Mapping[str, Any]
VISIBLE = 255
UNRANKED = 10**6
LICENCE = "ADE20K terms of use: non-commercial research and education"

# The release doesn't tell things from stuff. These are the 50 stuff classes of the panoptic task on
# ADE20K-150 by their first name there; every other category counts as a thing.
STUFF = frozenset(
    [
        "wall",
        "building",
        "sky",
        "floor",
        "tree",
        "ceiling",
        "road",
        "grass",
        "sidewalk",
        "earth",
        "mountain",
        "plant",
        "water",
        "house",
        "sea",
        "rug",
        "field",
        "rock",
        "base",
        "counter",
        "sand",
        "skyscraper",
        "grandstand",
        "path",
        "runway",
        "stairway",
        "river",
        "bridge",
        "blind",
        "hill",
        "bar",
        "hovel",
        "tower",
        "booth",
        "dirt track",
        "land",
        "buffet",
        "stage",
        "conveyer belt",
        "canopy",
        "tent",
        "waterfall",
        "cradle",
        "tank",
        "lake",
        "blanket",
        "pier",
        "crt screen",
        "shower",
        "swimming pool",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdeSet:
    """ADE20K images by scene id.

    Attributes
    ----------
    images
        Photographs by scene id (their names without extension).
    level
        0: whole objects; 1: their parts; 2: parts of parts.
    drawn_on
        Whether masks were drawn on upright or on stored photographs, where the size doesn't tell.
    """

    images: Mapping[str, Path]
    level: int = 0
    drawn_on: DrawnOn = "unknown"

    @property
    def scene_ids(self) -> tuple[str, ...]:
        """All names, in alphabetical order."""
        return tuple(sorted(self.images))

    def read(self, scene_id: str, faults: FaultLog) -> Scene | None:
        """Return a scene; None if a fault, noted in `faults`, makes it useless.

        Objects are numbered by their place in the JSON's list, from 1, if the instance PNGs are
        there; otherwise in the order of the blue channel of the ``_seg`` or ``_parts`` image.

        Raises
        ------
        InputError
            No such scene, `faults` refuses, or a file can't be read.
        """
        if scene_id not in self.images:
            raise InputError(f"no ADE20K image {scene_id!r}")
        path = self.images[scene_id]
        annotation = _read_annotation(path.with_suffix(".json"))
        items = [
            (number, item)
            for number, item in enumerate(annotation.get("object", ()), start=1)
            if int(item.get("parts", {}).get("part_level", 0)) == self.level
        ]
        if path.with_suffix("").is_dir():
            mapped = _map_instances(path, items, faults)
        else:
            mapped = _map_channels(path, items, level=self.level, faults=faults)
        if mapped is None:
            return None
        labels, objects = mapped
        image = load_image(path)
        fitted = fit_mask(labels, image, path=path, faults=faults, drawn_on=self.drawn_on)
        if fitted is None:
            return None
        origin = annotation.get("source", {})
        return Scene(
            scene_id=scene_id,
            pixels=image.pixels,
            labels=fitted,
            objects=objects,
            source="/".join(origin[key] for key in ("folder", "filename") if key in origin) or None,
            licence=f"{LICENCE}; {origin['origin']}" if origin.get("origin") else LICENCE,
            image_path=path,
        )


def open_ade20k(folder: Path, *, level: int = 0) -> AdeSet:
    """Return the scenes below a folder of the full release.

    Parameters
    ----------
    folder
        Any folder of the release, e.g. ``ADE20K_2021_17_01/images/ADE/validation``.
    level
        0: whole objects; 1: parts; 2: parts of parts.

    Raises
    ------
    InputError
        No image of that release below the folder, or two of one name.
    """
    paths = sorted(path for path in folder.rglob("*.jpg") if path.with_suffix(".json").is_file())
    if not paths:
        raise InputError(
            f"{folder}: no ADE20K image (a .jpg with a .json beside it) below this folder; point to "
            "the full release's images/ADE"
        )
    images = {path.stem: path for path in paths}
    if len(images) < len(paths):
        raise InputError(f"{folder}: two images of one name; read training and validation alone")
    return AdeSet(images=images, level=level)


_Mapped = tuple[np.ndarray, tuple[SceneObject, ...]]


def _read_annotation(path: Path) -> Json:
    annotation = read_json(path).get("annotation")
    if not isinstance(annotation, dict):
        raise InputError(f"{path}: not an ADE20K annotation: no object 'annotation'")
    return annotation


def _map_instances(
    path: Path, items: Sequence[tuple[int, Json]], faults: FaultLog
) -> _Mapped | None:
    """Paint the instance PNGs from far to near."""
    masks: list[np.ndarray] = []
    objects: list[SceneObject] = []
    for number, item in sorted(items, key=lambda pair: (-_rank(pair[1]), pair[0])):
        is_visible = _read_instance(path, item, faults)
        if is_visible is None:
            continue
        if masks and is_visible.shape != masks[0].shape:
            where = f"{path}, object {item.get('id')}"
            faults.report("masks of one image differ in size", where=where, detail=path.name)
            continue
        masks.append(is_visible)
        objects.append(_describe(number, item))
    if not masks:
        faults.report("nothing annotated", where=str(path), detail="no usable mask at this level")
        return None
    labels = np.zeros(masks[0].shape, dtype=np.int32)
    for is_visible, item in zip(masks, objects, strict=True):
        labels[is_visible] = item.object_id
    areas = np.bincount(labels.ravel(), minlength=max(item.object_id for item in objects) + 1)
    shown = [item for item in objects if areas[item.object_id]]
    return labels, tuple(sorted(shown, key=lambda item: item.object_id))


def _read_instance(path: Path, item: Json, faults: FaultLog) -> np.ndarray | None:
    """Return where an object shows; None for a mask that isn't there or shows nothing."""
    mask_path = path.parent / str(item.get("instance_mask"))
    if not mask_path.is_file():
        faults.report("mask missing", where=str(mask_path), detail=f"listed for {path.name}")
        return None
    is_visible = load_mask(mask_path) == VISIBLE
    if is_visible.any():
        return is_visible
    faults.report("annotation without area", where=str(mask_path), detail="no pixel shows it")
    return None


def _map_channels(
    path: Path, items: Sequence[tuple[int, Json]], *, level: int, faults: FaultLog
) -> _Mapped | None:
    """Read the combined image: classes from red and green, objects from blue."""
    suffix = "_seg.png" if level == 0 else f"_parts_{level}.png"
    mask_path = path.with_name(path.stem + suffix)
    if not mask_path.is_file():
        faults.report("mask missing", where=str(mask_path), detail=f"needed for {path.name}")
        return None
    picture = open_picture(mask_path)
    if picture.mode != "RGB":
        raise InputError(f"{mask_path}: mode {picture.mode!r}; an ADE20K mask is RGB")
    rgb = np.asarray(picture).astype(np.int32)
    classes = rgb[..., 0] // 10 * 256 + rgb[..., 1]
    # Blue is 0 where nothing is annotated; a class of 0 says the same.
    blue = np.where(classes > 0, rgb[..., 2], 0)
    values = np.unique(blue[blue > 0])
    labels = np.searchsorted(values, blue).astype(np.int32) + 1
    labels[blue == 0] = 0
    names = {int(item.get("name_ndx", -1)): item for _, item in items}
    objects = []
    for number in range(1, len(values) + 1):
        class_number = int(classes[labels == number][0])
        item = names.get(class_number)
        if item is None:
            faults.report(
                "class not in the annotation file",
                where=str(mask_path),
                detail=f"class number {class_number}",
            )
            labels[labels == number] = 0
        else:
            objects.append(_describe(number, item, is_known=False))
    return labels, tuple(objects)


def _rank(item: Json) -> int:
    """Return the depth rank, 1 nearest; objects without one lie behind the others."""
    rank = item.get("depth_ordering_rank")
    return int(rank) if isinstance(rank, int | str) and str(rank).isdigit() else UNRANKED


def _describe(number: int, item: Json, *, is_known: bool = True) -> SceneObject:
    """`is_known`: this entry of the list is the object itself, not just one of its class."""
    name = str(item.get("name") or item.get("raw_name"))
    is_ranked = is_known and _rank(item) != UNRANKED
    return SceneObject(
        object_id=number,
        category=name,
        is_thing=name.split(",", maxsplit=1)[0].strip() not in STUFF,
        is_crowd=False,
        source_id=str(item.get("id")) if is_known else None,
        depth=-_rank(item) if is_ranked else None,
    )
