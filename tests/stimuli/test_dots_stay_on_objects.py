"""Every dot lies on the object that the table says, at the distance that it says.

Random scenes are written in every format, read back, and their dots placed; the truth is the map that
was written, whatever the reader made of it.
"""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pycocotools import mask as coco_mask

from stimuli.ade20k import open_ade20k
from stimuli.coco import open_instances, open_panoptic
from stimuli.design import Design
from stimuli.faults import FaultLog
from stimuli.geometry import find_patch, pad_to_grid, share_of_patches
from stimuli.images import turn_upright
from stimuli.label_folder import open_label_folder
from stimuli.placement import place_trials

DESIGN = Design(
    close_px=16,
    far_px=32,
    distance_tolerance_px=3,
    first_dot_within_px=20,
    dot_radius_px=2,
    min_object_area_px=60,
    search_step_px=3,
    second_object="any",
)
FEW = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def object_maps(draw):
    """A map of 2 to 5 objects: the cells around random points, a rim of them unlabelled."""
    height, width = draw(st.integers(60, 90)), draw(st.integers(70, 110))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(2, 5))
    points = rng.random((n, 2)) * [height, width]
    y, x = np.mgrid[:height, :width]
    distance = np.hypot(y[..., None] - points[:, 0], x[..., None] - points[:, 1])
    labels = distance.argmin(axis=2) + 1
    labels[distance.min(axis=2) > draw(st.integers(25, 60))] = 0
    return labels.astype(np.int32)


def write_picture(path, shape, *, orientation=1):
    """A picture of an upright shape, stored as its EXIF orientation says."""
    stored = shape[::-1] if orientation >= 5 else shape
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", stored[::-1]).save(path, exif=exif)


def stored_form(labels, orientation):
    undo = {1: 1, 6: 8, 8: 6}[orientation]
    return turn_upright(labels, undo)


def numbers_of(labels):
    return [int(number) for number in np.unique(labels) if number]


def write_coco(folder, labels, *, segmentation, orientation):
    write_picture(folder / "a.png", labels.shape, orientation=orientation)
    drawn = stored_form(labels, orientation)
    annotations = [
        {"id": 100 + number, "image_id": 1, "category_id": 1, "iscrowd": 0,
         "segmentation": segmentation(drawn == number)}
        for number in numbers_of(labels)
    ]  # fmt: skip
    content = {
        "images": [{"id": 1, "file_name": "a.png", "height": drawn.shape[0],
                    "width": drawn.shape[1]}],
        "annotations": annotations,
        "categories": [{"id": 1, "name": "thing"}],
    }  # fmt: skip
    path = folder / "instances.json"
    path.write_text(json.dumps(content))
    return open_instances(path, images_folder=folder)


def as_counts(is_inside):
    flat = is_inside.T.ravel()
    changes = np.flatnonzero(np.diff(flat.astype(int))) + 1
    runs = np.diff([0, *changes, flat.size]).tolist()
    return {"size": list(is_inside.shape), "counts": ([0] if flat[0] else []) + runs}


def as_text(is_inside):
    runs = coco_mask.encode(np.asfortranarray(is_inside.astype(np.uint8)))
    return {"size": list(is_inside.shape), "counts": runs["counts"].decode()}


def write_panoptic(folder, labels, *, orientation):
    write_picture(folder / "a.png", labels.shape, orientation=orientation)
    drawn = stored_form(labels, orientation)
    (folder / "pan").mkdir()
    ids = np.where(drawn, drawn * 70001, 0)
    rgb = np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=2).astype(np.uint8)
    Image.fromarray(rgb).save(folder / "pan" / "a.png")
    segments = [{"id": 70001 * number, "category_id": 1} for number in numbers_of(labels)]
    content = {
        "images": [{"id": 1, "file_name": "a.png"}],
        "annotations": [{"image_id": 1, "file_name": "a.png", "segments_info": segments}],
        "categories": [{"id": 1, "name": "thing", "isthing": 1}],
    }
    (folder / "pan.json").write_text(json.dumps(content))
    return open_panoptic(folder / "pan.json", images_folder=folder)


def write_label_png(folder, labels, *, convert, orientation):
    for name in ("images", "masks"):
        (folder / name).mkdir()
    write_picture(folder / "images" / "a.png", labels.shape, orientation=orientation)
    convert(stored_form(labels, orientation)).save(folder / "masks" / "a.png")
    return open_label_folder(images_folder=folder / "images", masks_folder=folder / "masks")


def as_palette(labels):
    picture = Image.fromarray(labels.astype(np.uint8)).convert("P")
    picture.putpalette([channel for k in range(256) for channel in (k, 255 - k, 7)])
    return picture


def as_grey_with_alpha(labels):
    grey = Image.fromarray(labels.astype(np.uint8))
    return Image.merge("LA", [grey, Image.new("L", grey.size, 128)])


def write_ade(folder, labels, *, orientation):
    write_picture(folder / "a.jpg", labels.shape, orientation=orientation)
    drawn = stored_form(labels, orientation)
    (folder / "a").mkdir()
    objects = []
    for number in numbers_of(labels):
        name = f"a/instance_{number:03d}_a.png"
        Image.fromarray(np.where(drawn == number, 255, 0).astype(np.uint8)).save(folder / name)
        objects.append({"id": number, "name": "thing", "instance_mask": name,
                        "depth_ordering_rank": number, "parts": {"part_level": 0}})  # fmt: skip
    (folder / "a.json").write_text(json.dumps({"annotation": {"object": objects}}))
    return open_ade20k(folder)


WRITERS = {
    "panoptic": write_panoptic,
    "instances, counts": lambda f, m, **k: write_coco(f, m, segmentation=as_counts, **k),
    "instances, text": lambda f, m, **k: write_coco(f, m, segmentation=as_text, **k),
    "labels, 16 bit": lambda f, m, **k: write_label_png(
        f, m, convert=lambda x: Image.fromarray(x.astype(np.uint16)), **k
    ),
    "labels, palette": lambda f, m, **k: write_label_png(f, m, convert=as_palette, **k),
    "labels, LA": lambda f, m, **k: write_label_png(f, m, convert=as_grey_with_alpha, **k),
    "ade20k": write_ade,
}


@pytest.mark.parametrize("orientation", [1, 6, 8])
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@FEW
@given(labels=object_maps(), seed=st.integers(0, 99))
def test_dots_lie_where_the_truth_has_the_object(
    tmp_path_factory, write, orientation, labels, seed
):
    if labels.shape[0] == labels.shape[1] or not labels.any():
        return
    scene_set = write(tmp_path_factory.mktemp("s"), labels, orientation=orientation)
    scene = scene_set.read("a", FaultLog())
    assert scene.labels.shape == scene.pixels.shape[:2] == labels.shape
    assert np.array_equal(scene.labels > 0, labels > 0)
    displays = place_trials(scene, DESIGN, np.random.default_rng(seed)).displays
    for display in displays:
        true1, true2 = (
            labels[int(y), int(x)]
            for x, y in (
                (display.dot1_x_px, display.dot1_y_px),
                (display.dot2_x_px, display.dot2_y_px),
            )
        )
        assert true1 > 0
        assert true2 > 0
        assert (true1 == true2) == display.same_object
        # The whole object of the truth, and nothing else, has the number in the table.
        assert np.array_equal(scene.labels == display.object2_id, labels == true2)
        away = np.hypot(
            display.dot2_x_px - display.dot1_x_px, display.dot2_y_px - display.dot1_y_px
        )
        assert display.distance_px == pytest.approx(away)
        middle = DESIGN.close_px if display.distance_condition == "close" else DESIGN.far_px
        assert abs(away - middle) <= DESIGN.distance_tolerance_px


def test_the_random_scenes_do_have_displays():
    """The property above is empty if nothing is ever placed."""
    from stimuli.scenes import Scene, SceneObject

    rng = np.random.default_rng(0)
    n_placed = 0
    for seed in range(30):
        labels = _example(seed)
        objects = tuple(
            SceneObject(object_id=n, category="t", is_thing=True, is_crowd=False, source_id=None)
            for n in numbers_of(labels)
        )
        pixels = np.zeros((*labels.shape, 3), dtype=np.uint8)
        scene = Scene(scene_id="s", pixels=pixels, labels=labels, objects=objects)
        n_placed += bool(place_trials(scene, DESIGN, rng).displays)
    assert n_placed >= 12


def _example(seed):
    rng = np.random.default_rng(seed)
    points = rng.random((3, 2)) * [80, 100]
    y, x = np.mgrid[:80, :100]
    distance = np.hypot(y[..., None] - points[:, 0], x[..., None] - points[:, 1])
    return (distance.argmin(axis=2) + 1).astype(np.int32)


@FEW
@given(labels=object_maps(), stride=st.sampled_from([7, 8, 14, 16]), seed=st.integers(0, 99))
def test_a_dots_patch_holds_some_of_its_object(labels, stride, seed):
    height, width = labels.shape
    grid = pad_to_grid(width_px=width, height_px=height, stride_px=stride)
    rng = np.random.default_rng(seed)
    y, x = rng.integers(height), rng.integers(width)
    (patch,) = find_patch(grid, x_px=np.array([x + 0.5]), y_px=np.array([y + 0.5]))
    share, _ = share_of_patches(grid, labels == labels[y, x])
    assert share[patch] > 0
