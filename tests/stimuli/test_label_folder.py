"""A folder of photographs with label PNGs of the same names."""

import numpy as np
import pytest
from PIL import Image

from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.label_folder import open_label_folder
from stimuli.scenes import check_scene

LABELS = np.array([[0, 1, 1], [300, 300, 1]], dtype=np.uint16)
OBJECTS = """scene_id,object_id,category,is_thing,is_crowd,source_id,area_px
007,1,cat,True,False,a1,3
007,300,grass,False,True,,2
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("images", "masks"):
        (tmp_path / name).mkdir()
    Image.new("RGB", (3, 2)).save(tmp_path / "images" / "007.jpg")
    Image.fromarray(LABELS).save(tmp_path / "masks" / "007.png")
    return tmp_path


def open_folder(folder, **more):
    return open_label_folder(images_folder=folder / "images", masks_folder=folder / "masks", **more)


def test_names_are_ids_and_stay_text(folder):
    labels = open_folder(folder)
    scene = labels.read("007", FaultLog())
    check_scene(scene)
    assert labels.scene_ids == ("007",)
    assert np.array_equal(scene.labels, LABELS)
    assert [(o.object_id, o.category, o.is_thing) for o in scene.objects] == [
        (1, "object", True),
        (300, "object", True),
    ]


def test_a_table_tells_what_the_objects_are(folder):
    (folder / "objects.csv").write_text(OBJECTS)
    scene = open_folder(folder, objects_file=folder / "objects.csv").read("007", FaultLog())
    assert [(o.category, o.is_thing, o.is_crowd, o.source_id) for o in scene.objects] == [
        ("cat", True, False, "a1"),
        ("grass", False, True, None),
    ]


def test_an_object_that_the_table_lacks_is_named(folder):
    (folder / "objects.csv").write_text(OBJECTS.replace("007,300", "007,301"))
    labels = open_folder(folder, objects_file=folder / "objects.csv")
    with pytest.raises(InputError, match=r"not in the table of objects .*number 300"):
        labels.read("007", FaultLog())


@pytest.mark.parametrize(("lacking", "other"), [("image", "masks"), ("mask", "images")])
def test_a_file_without_its_partner_is_counted(folder, lacking, other):
    Image.new("L", (3, 2)).save(folder / other / "008.png")
    labels, log = open_folder(folder), FaultLog(policy="skip")
    assert [labels.read(name, log) is None for name in labels.scene_ids] == [False, True]
    assert log.n_by_kind == {f"{lacking} missing": 1}


def test_a_mask_of_another_size_is_named_and_never_resized(folder):
    Image.fromarray(LABELS[:, :2]).save(folder / "masks" / "007.png")
    with pytest.raises(InputError, match=r"mask 2x2 px, upright image 3x2 px"):
        open_folder(folder).read("007", FaultLog())


def test_two_images_of_one_name_are_refused(folder):
    Image.new("RGB", (3, 2)).save(folder / "images" / "007.png")
    with pytest.raises(InputError, match="two files are called '007'"):
        open_folder(folder)


def test_folders_without_a_common_name_are_refused(folder):
    (folder / "masks" / "007.png").rename(folder / "masks" / "7.png")
    with pytest.raises(InputError, match="none has the name of another"):
        open_folder(folder)


def test_a_missing_folder_is_named(folder):
    with pytest.raises(InputError, match="no such folder"):
        open_label_folder(images_folder=folder / "nowhere", masks_folder=folder / "masks")


def test_a_negative_number_is_a_fault(folder):
    Image.fromarray(np.array([[-1, 1, 1], [1, 1, 1]], dtype=np.int32)).save(
        folder / "masks" / "007.tif"
    )
    (folder / "masks" / "007.png").unlink()
    with pytest.raises(InputError, match="negative object number"):
        open_folder(folder).read("007", FaultLog())
