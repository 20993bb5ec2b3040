"""COCO's two annotation formats to scenes: panoptic (PNG + JSON) and instances (JSON).

Format: Lin et al. 2014 and cocodataset.org/#format-data. A panoptic PNG holds each pixel's segment id
as R + 256 G + 65536 B; 0 is void. An instances file holds per object a list of polygons, or a mask
run-length encoded down the columns, uncompressed (a list of counts) or compressed (text).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.images import load_image, open_picture
from stimuli.mask_fit import DrawnOn, fit_mask
from stimuli.scenes import Scene, SceneObject
from stimuli.segmentation import decode_segmentation
from stimuli.table_io import name_some, read_json

Json = Mapping[str, Any]
Overlap = Literal["smaller", "unlabelled"]
N_SEGMENT_IDS = 1 << 24
MAX_OBJECTS = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True, kw_only=True)
class CocoSet:
    """A COCO annotation file with its images: scenes by id.

    Attributes
    ----------
    path
        The JSON file, for messages.
    images_folder, masks_folder
        Where photographs and panoptic PNGs lie; no masks folder: an instances file.
    scene_ids
        The file names of the annotated images without their extension, in the file's order.
    images, categories, licences
        The file's records, by scene id or by number.
    annotations
        By scene id: the image's annotations in the file's order; the panoptic record holds one.
    overlap
        Which object gets the pixels that several annotations claim: the smaller one, as a plate lies
        on a table, or none.
    drawn_on
        Whether masks were drawn on upright or on stored photographs, for those with an EXIF
        orientation whose size doesn't tell.
    """

    path: Path
    images_folder: Path
    masks_folder: Path | None
    scene_ids: tuple[str, ...]
    images: Mapping[str, Json]
    categories: Mapping[int, Json]
    licences: Mapping[int, Json]
    annotations: Mapping[str, Sequence[Json]]
    overlap: Overlap = "smaller"
    drawn_on: DrawnOn = "unknown"

    def read(
        self, scene_id: str, faults: FaultLog, *, image_path: Path | None = None
    ) -> Scene | None:
        """Return a scene; None if a fault, noted in `faults`, makes it useless.

        Objects are numbered by their place in the image's annotation list, from 1: the annotation
        index of the file plus one, whatever was skipped. `source_id` is the annotation's id.
        `image_path` names the photograph where it isn't in `images_folder` under COCO's name.

        Raises
        ------
        InputError
            No such scene, or a fault that `faults` refuses.
        """
        record = self.images.get(scene_id)
        if record is None:
            raise InputError(f"{self.path}: no annotated image {scene_id!r}")
        path = image_path or self.images_folder / record["file_name"]
        if not path.is_file():
            faults.report("image missing", where=str(path), detail=f"listed in {self.path.name}")
            return None
        image = load_image(path)
        if self.masks_folder:
            mapped = _map_panoptic(self, self.masks_folder, scene_id=scene_id, faults=faults)
        else:
            mapped = _map_instances(self, scene_id, faults)
        if mapped is None:
            return None
        labels = fit_mask(mapped.labels, image, path=path, faults=faults, drawn_on=self.drawn_on)
        if labels is None:
            return None
        licence = self.licences.get(record.get("license", -1), {})
        return Scene(
            scene_id=scene_id,
            pixels=image.pixels,
            labels=labels,
            objects=mapped.objects,
            source=record.get("flickr_url") or record.get("coco_url"),
            licence=" ".join(str(licence[key]) for key in ("name", "url") if key in licence)
            or None,
            image_path=path,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mapped:
    labels: np.ndarray
    objects: tuple[SceneObject, ...]


def open_panoptic(path: Path, *, images_folder: Path, masks_folder: Path | None = None) -> CocoSet:
    """Return the scenes of a COCO panoptic file.

    Parameters
    ----------
    path
        The JSON file.
    images_folder
        Where its photographs lie.
    masks_folder
        Where its PNGs lie; by default the folder beside the file, of its name without ``.json``.

    Raises
    ------
    InputError
        A file or folder is missing, or the file isn't COCO panoptic.
    """
    content = _read(path, needs=("images", "annotations", "categories"))
    if content["annotations"] and "segments_info" not in content["annotations"][0]:
        raise InputError(f"{path}: not COCO panoptic: its annotations have no 'segments_info'")
    return _index(
        content,
        path=path,
        images_folder=images_folder,
        masks_folder=_check_folder(masks_folder or path.with_suffix("")),
    )


def open_instances(path: Path, *, images_folder: Path, overlap: Overlap = "smaller") -> CocoSet:
    """Return the scenes of a COCO instances file.

    Parameters
    ----------
    path
        The JSON file.
    images_folder
        Where its photographs lie.
    overlap
        Who gets pixels that several annotations claim; crowds never win any.

    Raises
    ------
    InputError
        A file or folder is missing, or the file isn't COCO instances.
    """
    content = _read(path, needs=("images", "annotations", "categories"))
    if content["annotations"] and "segmentation" not in content["annotations"][0]:
        raise InputError(f"{path}: not COCO instances: its annotations have no 'segmentation'")
    return _index(
        content, path=path, images_folder=images_folder, masks_folder=None, overlap=overlap
    )


def _map_instances(coco: CocoSet, scene_id: str, faults: FaultLog) -> _Mapped:
    """Map an instances image: crowds beneath, then larger before smaller objects."""
    record = coco.images[scene_id]
    shape = (int(record["height"]), int(record["width"]))
    masks: dict[int, np.ndarray] = {}
    objects: dict[int, SceneObject] = {}
    for number, annotation in enumerate(coco.annotations[scene_id], start=1):
        where = f"{coco.path}, image {scene_id}, annotation {annotation.get('id')}"
        is_inside, problems = decode_segmentation(
            annotation.get("segmentation"), width_px=shape[1], height_px=shape[0]
        )
        for problem in problems:
            faults.report("bad segmentation", where=where, detail=problem)
        if not is_inside.any():
            if not problems:
                faults.report("annotation without area", where=where, detail="no pixel in its mask")
            continue
        category = _find_category(coco, annotation, where=where, faults=faults)
        if category is not None:
            masks[number] = is_inside
            objects[number] = _describe(number, annotation, category)
    labels = _stack(masks, objects, shape=shape, overlap=coco.overlap)
    return _Mapped(labels=labels, objects=_keep_shown(labels, objects))


def _stack(
    masks: Mapping[int, np.ndarray],
    objects: Mapping[int, SceneObject],
    *,
    shape: tuple[int, int],
    overlap: Overlap,
) -> np.ndarray:
    labels = np.zeros(shape, dtype=np.int32)
    claims = np.zeros(shape, dtype=np.int32)
    order = sorted(masks, key=lambda k: (not objects[k].is_crowd, -int(masks[k].sum()), k))
    for number in order:
        labels[masks[number]] = number
        claims += masks[number] & (not objects[number].is_crowd)
    if overlap == "unlabelled":
        labels[claims > 1] = 0
    return labels


def _map_panoptic(
    coco: CocoSet, masks_folder: Path, *, scene_id: str, faults: FaultLog
) -> _Mapped | None:
    """Map a panoptic image."""
    (annotation,) = coco.annotations[scene_id]
    path = masks_folder / annotation["file_name"]
    if not path.is_file():
        faults.report("mask missing", where=str(path), detail=f"listed in {coco.path.name}")
        return None
    ids = _read_segment_ids(path)
    segments: Sequence[Json] = annotation["segments_info"]
    # 32 MB that are only touched where ids occur: faster than a search per pixel.
    numbers = np.zeros(N_SEGMENT_IDS, dtype=np.uint16)
    objects: dict[int, SceneObject] = {}
    for number, segment in enumerate(segments, start=1):
        where = f"{coco.path}, image {scene_id}, segment {segment.get('id')}"
        category = _find_category(coco, segment, where=where, faults=faults)
        if category is not None:
            numbers[int(segment["id"])] = number
            objects[number] = _describe(number, segment, category)
    labels = numbers[ids].astype(np.int32)
    _report_unlisted(ids, labels, segments, path=path, faults=faults)
    shown = np.bincount(labels.ravel(), minlength=len(segments) + 1)
    for number in [number for number in objects if not shown[number]]:
        where = f"{path}, segment {segments[number - 1]['id']}"
        faults.report("annotation without area", where=where, detail="no pixel in the mask")
    return _Mapped(labels=labels, objects=_keep_shown(labels, objects))


def _read_segment_ids(path: Path) -> np.ndarray:
    picture = open_picture(path)
    if picture.mode != "RGB":
        raise InputError(f"{path}: a panoptic mask of mode {picture.mode!r}; expected RGB")
    rgb = np.asarray(picture).astype(np.uint32)
    return rgb[..., 0] | rgb[..., 1] << 8 | rgb[..., 2] << 16


def _report_unlisted(
    ids: np.ndarray,
    labels: np.ndarray,
    segments: Sequence[Json],
    *,
    path: Path,
    faults: FaultLog,
) -> None:
    listed = {int(segment["id"]) for segment in segments}
    unlisted = sorted(set(np.unique(ids[(labels == 0) & (ids != 0)]).tolist()) - listed)
    if unlisted:
        faults.report(
            "id not in the annotation file",
            where=str(path),
            detail=f"{name_some(unlisted)}; its pixels stay unlabelled",
        )


def _find_category(coco: CocoSet, item: Json, *, where: str, faults: FaultLog) -> Json | None:
    category = coco.categories.get(item.get("category_id", -1))
    if category is None:
        faults.report(
            "category not in the annotation file",
            where=where,
            detail=f"category_id {item.get('category_id')}",
        )
    return category


def _describe(number: int, item: Json, category: Json) -> SceneObject:
    return SceneObject(
        object_id=number,
        category=str(category["name"]),
        is_thing=bool(category.get("isthing", 1)),
        is_crowd=bool(item.get("iscrowd", 0)),
        source_id=str(item["id"]),
    )


def _keep_shown(labels: np.ndarray, objects: Mapping[int, SceneObject]) -> tuple[SceneObject, ...]:
    areas = np.bincount(labels.ravel(), minlength=max(objects, default=0) + 1)
    return tuple(item for number, item in objects.items() if areas[number])


def _read(path: Path, *, needs: tuple[str, ...]) -> dict[str, Any]:
    content = read_json(path)
    missing = [key for key in needs if not isinstance(content.get(key), list)]
    if missing:
        raise InputError(f"{path}: not a COCO annotation file: no list {name_some(missing)}")
    return content


def _check_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; it should hold the PNGs of the panoptic set")
    return folder


def _index(
    content: dict[str, Any],
    *,
    path: Path,
    images_folder: Path,
    masks_folder: Path | None,
    overlap: Overlap = "smaller",
) -> CocoSet:
    names = {record["id"]: Path(record["file_name"]).stem for record in content["images"]}
    annotations: dict[str, list[Json]] = {}
    for annotation in content["annotations"]:
        name = names.get(annotation["image_id"])
        if name is None:
            raise InputError(
                f"{path}: annotation {annotation.get('id', annotation.get('file_name'))} is of image "
                f"{annotation['image_id']}, which the file doesn't list"
            )
        annotations.setdefault(name, []).append(annotation)
    images = {names[record["id"]]: record for record in content["images"]}
    return CocoSet(
        path=path,
        images_folder=images_folder,
        masks_folder=masks_folder,
        scene_ids=tuple(name for name in images if name in annotations),
        images=images,
        categories={item["id"]: item for item in content["categories"]},
        licences={item["id"]: item for item in content.get("licenses", ())},
        annotations=annotations,
        overlap=overlap,
    )
