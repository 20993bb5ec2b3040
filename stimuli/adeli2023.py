"""The published dot pairs (Adeli et al. 2023, arXiv 2306.00294) as our trial table.

The source is the authors' `test_data_grouping.xls`: one row per display with the COCO image, the
cell of the 2x2 design, whole-pixel dots (x right, y down), the index of the annotation under the
first dot and, in different trials, under the second dot (indices into the image's list of COCO
annotations), the distance and the image's shape. Whole pixels become pixel centres (+0.5).
"""

import ast
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from stimuli.coco import CocoSet, open_instances, open_panoptic
from stimuli.errors import InputError, TableError
from stimuli.faults import FaultLog
from stimuli.geometry import centre_of_pixel
from stimuli.images import load_image, write_mask
from stimuli.scenes import Scene, tabulate_objects
from stimuli.table_io import check_table, name_some
from stimuli.tables import Trials

TRIALS_FILE = "test_data_grouping.xls"
TRIALS_VERSION = "adeli2023-1"
LICENCE = (
    "COCO photographs: per-image Flickr licences; trial table and human data: no licence stated by "
    "the authors (arXiv 2306.00294)"
)
SOURCE = "Adeli et al. 2023, arXiv 2306.00294; repository Hosseinadeli/affinity_attention"

_TRIAL_COLUMNS = (
    "image_id",
    "img_id",
    "same_diff",
    "close_far",
    "first_dot_xy",
    "second_dot_xy",
    "same_object_anns_ind",
    "diff_object_anns_ind",
    "distance",
    "img_shape",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSources:
    """Where photographs and masks may lie; whatever is missing is simply not used.

    Attributes
    ----------
    image_folders
        Folders with `IMAGEID_COCOID.png` or COCO's own `000000COCOID.jpg`.
    instances_json
        COCO `instances_val2017.json`; the trial table's indices refer to it.
    panoptic_json
        COCO panoptic annotations, each with its PNGs in the folder of its name beside it; used for
        scenes that `instances_json` lacks.
    """

    image_folders: tuple[Path, ...]
    instances_json: Path | None = None
    panoptic_json: tuple[Path, ...] = ()


def find_sources(
    source: Path, *, image_folders: Iterable[Path] = (), panoptic: Iterable[Path] = ()
) -> ImageSources:
    """Return the photographs' and annotations' places in `source` and in what is named beside it.

    Parameters
    ----------
    source
        A folder as `objecthood data fetch adeli2023` lays it (or the authors' own).
    image_folders
        More folders of photographs.
    panoptic
        COCO panoptic JSONs; the PNGs of each lie in the folder of the same name beside it.

    Raises
    ------
    InputError
        A named folder or file isn't there.
    """
    named = tuple(image_folders)
    for folder in named:
        if not folder.is_dir():
            raise InputError(f"--images {folder}: no such folder")
    jsons = tuple(panoptic)
    for path in jsons:
        if not (path.is_file() and path.with_suffix("").is_dir()):
            raise InputError(
                f"--panoptic {path}: expected a COCO panoptic JSON with the folder of its PNGs, "
                f"{path.with_suffix('')}, beside it"
            )
    instances = source / "annotations" / "instances_val2017.json"
    own = tuple(f for f in (source / "images", source / "val2017") if f.is_dir())
    return ImageSources(
        image_folders=own + named,
        instances_json=instances if instances.is_file() else None,
        panoptic_json=jsons,
    )


def read_published_table(path: Path) -> pd.DataFrame:
    """Return a published table (one row per display), its columns checked.

    Raises
    ------
    InputError
        The file isn't there, or isn't a spreadsheet.
    TableError
        A column is missing.
    """
    if not path.is_file():
        raise InputError(
            f"{path}: no such file. Expected the authors' table; get it with "
            "'objecthood data fetch adeli2023 --out SRC'"
        )
    from python_calamine import CalamineError

    try:
        table = pd.read_excel(path, engine="calamine")
    except CalamineError as error:
        raise InputError(f"{path}: not a readable spreadsheet ({error}); fetch it anew") from None
    missing = [name for name in _TRIAL_COLUMNS if name not in table.columns]
    if missing:
        raise TableError(f"{path}: column {name_some(missing)} is missing; fetch the file anew")
    return table


def name_scenes(table: pd.DataFrame) -> pd.Series:
    """Return `IMAGEID_COCOID` for each row of a published table."""
    return table["image_id"].astype(str) + "_" + table["img_id"].astype(str)


def name_trials(table: pd.DataFrame) -> pd.Series:
    """Return e.g. `16_289393_same_close` for each row of a published table."""
    kind = table["same_diff"].map({"same": "same", "diff": "different"}).astype(str)
    return name_scenes(table) + "_" + kind + "_" + table["close_far"].astype(str)


def tabulate_trials(table: pd.DataFrame, *, source: str) -> pd.DataFrame:
    """Return the published displays as a trial table, with neither images nor objects yet.

    Parameters
    ----------
    table
        As `read_published_table` returns it.
    source
        What messages call it.

    Returns
    -------
    DataFrame
        Valid under `Trials`, in the source's order, with the annotation indices kept as
        `source_object1_index` and `source_object2_index`.

    Raises
    ------
    TableError
        A dot or shape can't be read, a dot lies outside its image, or a display occurs twice.
    """
    dot1 = _parse_numbers(table["first_dot_xy"], source=source)
    dot2 = _parse_numbers(table["second_dot_xy"], source=source)
    shape = _parse_numbers(table["img_shape"], source=source)
    is_same = table["same_diff"].eq("same")
    trials = pd.DataFrame(
        {
            "trial_id": name_trials(table),
            "scene_id": name_scenes(table),
            "image": pd.Series(pd.NA, index=table.index, dtype="str"),
            "image_sha256": pd.Series(pd.NA, index=table.index, dtype="str"),
            "width_px": shape[:, 1].astype(int),
            "height_px": shape[:, 0].astype(int),
            "dot1_x_px": centre_of_pixel(dot1[:, 0]),
            "dot1_y_px": centre_of_pixel(dot1[:, 1]),
            "dot2_x_px": centre_of_pixel(dot2[:, 0]),
            "dot2_y_px": centre_of_pixel(dot2[:, 1]),
            "same_object": is_same,
            "distance_condition": table["close_far"].astype(str),
            "distance_px": table["distance"].astype(float),
            "object1_id": pd.array([pd.NA] * len(table), dtype="Int64"),
            "object2_id": pd.array([pd.NA] * len(table), dtype="Int64"),
            "list_id": pd.Series(pd.NA, index=table.index, dtype="str"),
            "trials_version": TRIALS_VERSION,
            "source_object1_index": table["same_object_anns_ind"],
            "source_object2_index": table["same_object_anns_ind"].where(
                is_same, table["diff_object_anns_ind"]
            ),
        }
    )
    return check_table(trials, Trials, source=source)


def attach_images(
    trials: pd.DataFrame,
    sources: ImageSources,
    *,
    folder: Path,
    on_scene: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Copy the photographs that are to be had into `folder`; return the trials that name them.

    Parameters
    ----------
    trials
        As from `tabulate_trials`.
    sources
        Where photographs may lie.
    folder
        The benchmark's `images` folder.
    on_scene
        Called after each scene, for a progress bar.

    Raises
    ------
    InputError
        A photograph's size contradicts the trial table.
    """
    trials = trials.copy()
    for scene_id, rows in trials.groupby("scene_id", sort=False):
        found = _find_image(str(scene_id), sources.image_folders)
        if found is not None:
            row = rows.iloc[0]
            image = load_image(found)
            if (image.width_px, image.height_px) != (row["width_px"], row["height_px"]):
                raise InputError(
                    f"{found}: {image.width_px}x{image.height_px} px, but trial "
                    f"{row['trial_id']!r} says {row['width_px']}x{row['height_px']}; "
                    "use COCO's original photograph"
                )
            name = f"{scene_id}{found.suffix.lower()}"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, folder / name)
            trials.loc[rows.index, ["image", "image_sha256"]] = [name, image.sha256]
        on_scene()
    return trials


def attach_objects(
    trials: pd.DataFrame, sources: ImageSources, *, images: Path, folder: Path
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Write the masks that are to be had; return trials with object numbers, objects, and misfits.

    The object under a dot is the annotation that the trial table names, where COCO's instances are
    present, and otherwise the panoptic segment at the dot's pixel. A trial whose objects contradict
    its design (same, but two segments; or a dot on no segment) keeps no object numbers and is named.

    Parameters
    ----------
    trials
        With images attached; only scenes with an image get a mask.
    sources
        Where annotations may lie.
    images, folder
        The benchmark's `images` and `masks` folders.

    Returns
    -------
    trials, objects : DataFrame
        `objects` is valid under `stimuli.tables.Objects`.
    misfits
        A line for each trial left without objects although its scene has a mask.
    """
    trials = trials.copy()
    tables: list[pd.DataFrame] = []
    misfits: list[str] = []
    with_image = trials[trials["image"].notna()]
    for scene, rows, uses_index in _read_scenes(with_image, sources, images):
        write_mask(scene.labels, folder / f"{scene.scene_id}.png")
        tables.append(tabulate_objects(scene))
        for index, row in rows.iterrows():
            pair = _find_objects(scene, row, uses_index=uses_index)
            problem = _describe_misfit(pair, is_same=bool(row["same_object"]))
            if problem:
                misfits.append(f"{row['trial_id']}: {problem}")
            else:
                trials.loc[index, ["object1_id", "object2_id"]] = pair
    objects = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    return trials, objects, misfits


def _parse_numbers(column: pd.Series, *, source: str) -> np.ndarray:
    """Return the lists or tuples that a text column spells, shape (n_rows, n_numbers)."""
    rows = []
    for k, text in enumerate(column):
        try:
            rows.append([float(number) for number in ast.literal_eval(str(text))])
        except (ValueError, SyntaxError, TypeError):
            raise TableError(
                f"{source}, row {k + 1}: column {column.name!r} holds {text!r}, "
                "expected numbers such as [316, 251]"
            ) from None
    return np.array(rows)


def _find_image(scene_id: str, folders: Iterable[Path]) -> Path | None:
    coco_name = f"{int(scene_id.split('_')[1]):012d}"
    for folder in folders:
        for name in (f"{scene_id}.png", f"{scene_id}.jpg", f"{coco_name}.jpg", f"{coco_name}.png"):
            if (folder / name).is_file():
                return folder / name
    return None


def _read_scenes(
    trials: pd.DataFrame, sources: ImageSources, folder: Path
) -> Iterator[tuple[Scene, pd.DataFrame, bool]]:
    """Yield each scene with a mask, its trials, and whether annotation indices apply to it."""
    opened = [(coco, coco.masks_folder is None) for coco in _open_annotations(sources)]
    for scene_id, rows in trials.groupby("scene_id", sort=False):
        coco_id = f"{int(str(scene_id).split('_')[1]):012d}"
        for coco, uses_index in opened:
            if coco_id in coco.scene_ids:
                image_path = folder / str(rows["image"].iloc[0])
                # A scene is an image that its annotations fit, or the import stops with the reason.
                scene = coco.read(coco_id, FaultLog(policy="refuse"), image_path=image_path)
                if scene is not None:
                    yield replace(scene, scene_id=str(scene_id)), rows, uses_index
                break


def _open_annotations(sources: ImageSources) -> list[CocoSet]:
    """Instances first: the trial table's indices refer to them."""
    nowhere = Path()
    opened = [open_panoptic(path, images_folder=nowhere) for path in sources.panoptic_json]
    if sources.instances_json is not None:
        opened.insert(0, open_instances(sources.instances_json, images_folder=nowhere))
    return opened


def _find_objects(scene: Scene, row: pd.Series, *, uses_index: bool) -> tuple[int, int]:
    """Return the objects under both dots; 0 for none."""
    if uses_index:
        numbers = {item.object_id for item in scene.objects}
        # Objects are numbered by their place in the image's list of annotations, from 1.
        pair = (int(row[f"source_object{k}_index"]) + 1 for k in (1, 2))
        first, second = (number if number in numbers else 0 for number in pair)
        return first, second
    first, second = (
        int(scene.labels[int(row[f"dot{k}_y_px"]), int(row[f"dot{k}_x_px"])]) for k in (1, 2)
    )
    return first, second


def _describe_misfit(pair: tuple[int, int], *, is_same: bool) -> str | None:
    if 0 in pair:
        return f"dot {pair.index(0) + 1} lies on no labelled object"
    if is_same != (pair[0] == pair[1]):
        kind = "same" if is_same else "different"
        return f"a {kind} trial whose dots lie on objects {pair[0]} and {pair[1]} of the mask"
    return None
