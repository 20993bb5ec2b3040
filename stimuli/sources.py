"""Scenes from whatever a user points to: one name or path, one stream of scenes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from stimuli.ade20k import open_ade20k
from stimuli.coco import Overlap, open_instances, open_panoptic
from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.label_folder import open_label_folder
from stimuli.mask_fit import DrawnOn
from stimuli.scenes import Scene
from stimuli.table_io import name_some

Kind = Literal["coco-panoptic", "coco-instances", "ade20k", "labels"]
# Only panoptic files hold this word.
PANOPTIC_MARK = b'"segments_info"'


class SceneSet(Protocol):
    """What all readers give: names, and a scene by name."""

    @property
    def scene_ids(self) -> tuple[str, ...]:
        """Names of the scenes, in the order in which they are read."""
        ...

    def read(self, scene_id: str, faults: FaultLog) -> Scene | None:
        """Return a scene; None if a fault, noted in `faults`, makes it useless."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What a path alone doesn't tell.

    Attributes
    ----------
    kind
        The format; None: found out.
    images_folder, masks_folder
        Where photographs and masks lie, if not where the format has them.
    overlap
        Who gets pixels that several COCO instances claim.
    level
        ADE20K: 0 objects, 1 parts, 2 parts of parts.
    drawn_on
        Whether masks were drawn on upright or on stored photographs, where the size doesn't tell.
    """

    kind: Kind | None = None
    images_folder: Path | None = None
    masks_folder: Path | None = None
    overlap: Overlap = "smaller"
    level: int = 0
    drawn_on: DrawnOn = "unknown"


def open_source(path: Path, options: SourceOptions) -> list[SceneSet]:
    """Return the sets of scenes below a path.

    Parameters
    ----------
    path
        A COCO JSON; a folder that holds some (``panoptic_*.json`` are preferred to
        ``instances_*.json``); a folder of the ADE20K release; or a folder with ``images`` and
        ``masks``, such as a benchmark.
    options
        What the path doesn't tell.

    Raises
    ------
    InputError
        Nothing there that can be read, or not what was said to be there.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; name a source of scenes")
    kind = options.kind or _guess_kind(path)
    openers: dict[Kind, Callable[[Path, SourceOptions], Sequence[SceneSet]]] = {
        "coco-panoptic": _open_coco,
        "coco-instances": _open_coco,
        "ade20k": lambda path, options: [
            replace(open_ade20k(path, level=options.level), drawn_on=options.drawn_on)
        ],
        "labels": _open_labels,
    }
    return list(openers[kind](path, replace(options, kind=kind)))


def read_scenes(sets: Sequence[SceneSet], faults: FaultLog) -> Iterator[Scene]:
    """Yield the scenes of several sets, one at a time; those with a fault are left out and noted."""
    for scene_set in sets:
        for scene_id in scene_set.scene_ids:
            scene = scene_set.read(scene_id, faults)
            if scene is not None:
                yield scene


def _guess_kind(path: Path) -> Kind:
    if path.is_file():
        if path.suffix != ".json":
            raise InputError(f"{path}: expected a folder or a COCO .json file")
        return "coco-panoptic" if PANOPTIC_MARK in path.read_bytes() else "coco-instances"
    for kind in ("coco-panoptic", "coco-instances"):
        if _find_jsons(path, kind):
            return kind
    if (path / "images").is_dir() and (path / "masks").is_dir():
        return "labels"
    if next(path.rglob("*_seg.png"), None):
        return "ade20k"
    raise InputError(
        f"{path}: found neither COCO annotations (panoptic_*.json, instances_*.json), nor folders "
        "'images' and 'masks', nor the ADE20K release (*_seg.png); say what it is with --format, "
        "--images and --masks"
    )


def _find_jsons(path: Path, kind: Kind) -> list[Path]:
    if path.is_file():
        return [path]
    prefix = kind.removeprefix("coco-")
    return sorted(path.rglob(f"{prefix}_*.json"))


def _open_coco(path: Path, options: SourceOptions) -> list[SceneSet]:
    kind = options.kind or "coco-panoptic"
    jsons = _find_jsons(path, kind)
    if not jsons:
        raise InputError(f"{path}: no {kind.removeprefix('coco-')}_*.json in this folder")
    sets: list[SceneSet] = []
    for annotation in jsons:
        images_folder = options.images_folder or _find_images(annotation)
        if kind == "coco-panoptic":
            opened = open_panoptic(
                annotation, images_folder=images_folder, masks_folder=options.masks_folder
            )
        else:
            opened = open_instances(
                annotation, images_folder=images_folder, overlap=options.overlap
            )
        sets.append(replace(opened, drawn_on=options.drawn_on))
    return sets


def _find_images(annotation: Path) -> Path:
    """Return the folder of a COCO file's photographs: that of its split's name, near the file."""
    split = annotation.stem.rsplit("_", maxsplit=1)[-1]
    near = list(annotation.resolve().parents)[:3]
    tried = [folder / name for folder in near for name in (f"images/{split}", split, "images")]
    for folder in tried:
        if folder.is_dir():
            return folder
    raise InputError(
        f"{annotation}: its photographs are in none of {name_some(tried, limit=9)}; say where with "
        "--images"
    )


def _open_labels(path: Path, options: SourceOptions) -> list[SceneSet]:
    objects = path / "objects.csv"
    opened = open_label_folder(
        images_folder=options.images_folder or path / "images",
        masks_folder=options.masks_folder or path / "masks",
        objects_file=objects if objects.is_file() else None,
    )
    return [replace(opened, drawn_on=options.drawn_on)]
