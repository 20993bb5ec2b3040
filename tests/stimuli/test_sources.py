"""One path, whatever the format."""

import json

import numpy as np
import pytest
from PIL import Image

from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.sources import SourceOptions, open_source, read_scenes

LABELS = np.repeat(np.array([[1, 2]], dtype=np.uint8), 4, axis=0).repeat(4, axis=1)
CATEGORIES = [{"id": 1, "name": "cat"}]


def write_images(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        Image.new("RGB", (8, 4)).save(folder / name)


def write_coco(root, *, kind, split, names):
    annotations = root / "annotations"
    annotations.mkdir(exist_ok=True)
    write_images(root / "images" / split, *names)
    images = [{"id": k, "file_name": name, "width": 8, "height": 4} for k, name in enumerate(names)]
    if kind == "panoptic":
        masks = annotations / f"panoptic_{split}"
        masks.mkdir()
        rgb = np.stack([LABELS, LABELS * 0, LABELS * 0], axis=2)
        for name in names:
            Image.fromarray(rgb).save(masks / name.replace(".jpg", ".png"))
        info = [{"id": 1, "category_id": 1}, {"id": 2, "category_id": 1}]
        items = [
            {"image_id": k, "file_name": name.replace(".jpg", ".png"), "segments_info": info}
            for k, name in enumerate(names)
        ]
    else:
        square = [[0, 0, 4, 0, 4, 4, 0, 4]]
        items = [
            {"id": k, "image_id": k, "category_id": 1, "segmentation": square}
            for k in range(len(names))
        ]
    path = annotations / f"{kind}_{split}.json"
    path.write_text(json.dumps({"images": images, "annotations": items, "categories": CATEGORIES}))
    return path


def names_in(path, **options):
    sets = open_source(path, SourceOptions(**options))
    return [scene.scene_id for scene in read_scenes(sets, FaultLog())]


@pytest.mark.parametrize("kind", ["panoptic", "instances"])
def test_a_coco_file_and_its_folder_give_the_same_scenes(tmp_path, kind):
    path = write_coco(tmp_path, kind=kind, split="val2017", names=["a.jpg", "b.jpg"])
    assert names_in(path) == names_in(tmp_path) == ["a", "b"]


def test_a_folder_with_two_splits_gives_both_and_panoptic_comes_first(tmp_path):
    write_coco(tmp_path, kind="panoptic", split="train2017", names=["a.jpg"])
    write_coco(tmp_path, kind="panoptic", split="val2017", names=["b.jpg"])
    write_coco(tmp_path, kind="instances", split="test2017", names=["c.jpg"])
    assert names_in(tmp_path) == ["a", "b"]
    assert names_in(tmp_path, kind="coco-instances") == ["c"]


def test_images_may_lie_elsewhere(tmp_path):
    path = write_coco(tmp_path, kind="panoptic", split="val2017", names=["a.jpg"])
    (tmp_path / "images").rename(tmp_path / "pictures")
    with pytest.raises(InputError, match="say where with --images"):
        names_in(path)
    assert names_in(path, images_folder=tmp_path / "pictures" / "val2017") == ["a"]


def test_images_and_masks_folders_are_recognised(tmp_path):
    write_images(tmp_path / "images", "x.png")
    (tmp_path / "masks").mkdir()
    Image.fromarray(LABELS).save(tmp_path / "masks" / "x.png")
    assert names_in(tmp_path) == ["x"]
    (tmp_path / "masks").rename(tmp_path / "labels")
    with pytest.raises(InputError, match="found neither COCO"):
        names_in(tmp_path)
    assert names_in(tmp_path, kind="labels", masks_folder=tmp_path / "labels") == ["x"]


@pytest.mark.parametrize(
    ("name", "message"), [("nothing", "no such file"), ("a.txt", "expected a folder or a COCO")]
)
def test_what_cannot_be_read_is_refused(tmp_path, name, message):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(InputError, match=message):
        names_in(tmp_path / name)


def test_a_format_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="no instances_"):
        names_in(tmp_path, kind="coco-instances")
    with pytest.raises(InputError, match="no ADE20K image"):
        names_in(tmp_path, kind="ade20k")
