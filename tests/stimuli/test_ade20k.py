"""ADE20K's full release, as a made miniature of its layout."""

import json

import numpy as np
import pytest
from PIL import Image

from stimuli.ade20k import STUFF, open_ade20k
from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.scenes import check_scene

SHAPE = (20, 30)
NAME = "ADE_train_00000001"


def entry(number, name, *, class_number, level=0, rank=1, whole=()):
    return {
        "id": number,
        "name": name,
        "name_ndx": class_number,
        "raw_name": name.split(",", maxsplit=1)[0],
        "depth_ordering_rank": rank,
        "occluded": "no",
        "crop": "0",
        "parts": {"hasparts": [], "ispartof": list(whole), "part_level": level},
        "instance_mask": f"{NAME}/instance_{number:03d}_{NAME}.png",
        "polygon": {"x": [], "y": []},
    }


def box(rows, columns):
    mask = np.zeros(SHAPE, dtype=bool)
    mask[rows, columns] = True
    return mask


CAR, PERSON, WALL = box(slice(8, 16), slice(2, 20)), box(slice(4, 18), slice(8, 14)), box(
    slice(0, 20), slice(0, 30)
)  # fmt: skip
WHEEL = box(slice(12, 16), slice(3, 7))
OBJECTS = [
    entry(0, "wall", class_number=2978, rank=9),
    entry(1, "car, auto", class_number=401, rank=3),
    entry(2, "wheel", class_number=3031, rank=2, level=1, whole=[1]),
    entry(3, "person, individual", class_number=1831, rank=1),
]
MASKS = {0: WALL, 1: CAR, 2: WHEEL, 3: PERSON}
EXPECTED = np.where(PERSON, 4, np.where(CAR, 2, 1))


def combined(painted):
    """The _seg image: class in red and green, object in blue."""
    image = np.zeros((*SHAPE, 3), dtype=np.uint8)
    for blue, (number, mask) in enumerate(painted, start=1):
        class_number = OBJECTS[number]["name_ndx"]
        image[mask] = (class_number // 256 * 10, class_number % 256, 20 * blue)
    return Image.fromarray(image)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "images/ADE/training/urban/street"
    (place / NAME).mkdir(parents=True)
    Image.new("RGB", SHAPE[::-1]).save(place / f"{NAME}.jpg")
    annotation = {
        "filename": f"{NAME}.jpg",
        "source": {"folder": "sun/street", "filename": "x.jpg", "origin": "from somewhere"},
        "object": OBJECTS,
    }
    (place / f"{NAME}.json").write_text(json.dumps({"annotation": annotation}))
    return place


def write_instances(folder, *, amodal):
    for number, mask in MASKS.items():
        values = np.where(mask, 255, 0).astype(np.uint8)
        if not amodal and number == 1:
            values[mask & PERSON] = 128
        if not amodal and number == 0:
            values[CAR | PERSON] = 128
        Image.fromarray(values).save(folder / OBJECTS[number]["instance_mask"])


@pytest.mark.parametrize("amodal", [True, False])
def test_near_objects_hide_far_ones_whichever_way_masks_are_stored(folder, amodal):
    write_instances(folder, amodal=amodal)
    scene = open_ade20k(folder.parents[2]).read(NAME, FaultLog())
    check_scene(scene)
    assert np.array_equal(scene.labels, EXPECTED)
    assert [(o.category, o.is_thing, o.source_id) for o in scene.objects] == [
        ("wall", False, "0"),
        ("car, auto", True, "1"),
        ("person, individual", True, "3"),
    ]
    depth = {o.object_id: o.depth for o in scene.objects}
    assert depth[4] > depth[2] > depth[1]
    assert scene.source == "sun/street/x.jpg"
    assert scene.licence.endswith("from somewhere")


def test_parts_are_a_level_of_their_own(folder):
    write_instances(folder, amodal=True)
    scene = open_ade20k(folder, level=1).read(NAME, FaultLog())
    assert np.array_equal(scene.labels, np.where(WHEEL, 3, 0))
    assert [o.category for o in scene.objects] == ["wheel"]


@pytest.mark.parametrize(
    ("level", "suffix", "painted"),
    [
        (0, "_seg.png", [(0, WALL), (1, CAR), (3, PERSON)]),
        (1, "_parts_1.png", [(2, WHEEL)]),
    ],
)
def test_without_instance_files_the_combined_images_are_read(folder, level, suffix, painted):
    (folder / NAME).rmdir()
    combined(painted).save(folder / f"{NAME}{suffix}")
    scene = open_ade20k(folder, level=level).read(NAME, FaultLog())
    check_scene(scene)
    expected = {0: np.where(PERSON, 3, np.where(CAR, 2, 1)), 1: np.where(WHEEL, 1, 0)}[level]
    assert np.array_equal(scene.labels, expected)
    assert scene.objects[0].category == {0: "wall", 1: "wheel"}[level]


def test_a_class_that_the_json_lacks_is_named(folder):
    (folder / NAME).rmdir()
    combined([(1, CAR), (3, PERSON)]).save(folder / f"{NAME}_seg.png")
    path = folder / f"{NAME}.json"
    path.write_text(path.read_text().replace('"name_ndx": 401', '"name_ndx": 402'))
    with pytest.raises(InputError, match="class number 401"):
        open_ade20k(folder).read(NAME, FaultLog())
    scene = open_ade20k(folder).read(NAME, FaultLog(policy="skip"))
    check_scene(scene)
    assert [o.category for o in scene.objects] == ["person, individual"]


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (lambda path: path.unlink(), "mask missing"),
        (lambda path: Image.new("L", SHAPE[::-1]).save(path), "annotation without area"),
        (lambda path: Image.new("L", (5, 5), 255).save(path), "masks of one image differ in size"),
    ],
)
def test_a_faulty_instance_is_counted_and_the_others_kept(folder, damage, kind):
    write_instances(folder, amodal=True)
    damage(folder / OBJECTS[1]["instance_mask"])
    log = FaultLog(policy="skip")
    scene = open_ade20k(folder).read(NAME, log)
    assert log.n_by_kind == {kind: 1}
    assert np.array_equal(scene.labels, np.where(PERSON, 4, 1))


def test_an_image_with_nothing_at_this_level_is_counted(folder):
    write_instances(folder, amodal=True)
    log = FaultLog(policy="skip")
    assert open_ade20k(folder, level=2).read(NAME, log) is None
    assert log.n_by_kind == {"nothing annotated": 1}


def test_a_folder_without_the_release_is_refused(tmp_path):
    with pytest.raises(InputError, match="no ADE20K image"):
        open_ade20k(tmp_path)


def test_there_are_fifty_stuff_classes():
    assert len(STUFF) == 50
