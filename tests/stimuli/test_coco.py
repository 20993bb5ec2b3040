"""COCO's formats, by hand and on the real files."""

import json

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco_mask

from stimuli.coco import open_instances, open_panoptic
from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.scenes import check_scene
from stimuli.segmentation import decode_segmentation

WIDTH, HEIGHT = 12, 8
CATEGORIES = [
    {"id": 1, "name": "cat", "isthing": 1},
    {"id": 7, "name": "grass", "isthing": 0},
]
SQUARE = [[2, 1, 6, 1, 6, 5, 2, 5]]


def square_mask():
    is_inside = np.zeros((HEIGHT, WIDTH), dtype=bool)
    is_inside[1:5, 2:6] = True
    return is_inside


def uncompressed(is_inside):
    """Count runs down the columns, zeros first, by a plain loop."""
    counts, last, run = [], False, 0
    for value in is_inside.T.ravel():
        if value != last:
            counts.append(run)
            last, run = value, 0
        run += 1
    return {"size": list(is_inside.shape), "counts": [*counts, run]}


def compressed(is_inside, *, as_text):
    runs = coco_mask.encode(np.asfortranarray(is_inside.astype(np.uint8)))
    return {**runs, "counts": runs["counts"].decode() if as_text else runs["counts"]}


def write_set(folder, annotations, *, size=(WIDTH, HEIGHT)):
    Image.new("RGB", size).save(folder / "a.png")
    content = {
        "images": [
            {"id": 5, "file_name": "a.png", "width": WIDTH, "height": HEIGHT, "license": 4,
             "flickr_url": "somewhere"}
        ],
        "licenses": [{"id": 4, "name": "Attribution License", "url": "by/2.0"}],
        "categories": CATEGORIES,
        "annotations": annotations,
    }  # fmt: skip
    path = folder / "set.json"
    path.write_text(json.dumps(content))
    return path


def annotation(segmentation, **more):
    return {
        "id": 31,
        "image_id": 5,
        "category_id": 1,
        "segmentation": segmentation,
        "iscrowd": 0,
    } | more


def read_instances(folder, annotations, *, policy="refuse", overlap="smaller", **more):
    path = write_set(folder, annotations, **more)
    coco = open_instances(path, images_folder=folder, overlap=overlap)
    log = FaultLog(policy=policy)
    return coco.read("a", log), log


@pytest.mark.parametrize(
    "segmentation",
    [
        SQUARE,
        uncompressed(square_mask()),
        compressed(square_mask(), as_text=True),
        compressed(square_mask(), as_text=False),
    ],
    ids=["polygon", "uncompressed", "text", "bytes"],
)
def test_a_square_is_the_same_in_every_encoding(segmentation):
    found, problems = decode_segmentation(segmentation, width_px=WIDTH, height_px=HEIGHT)
    assert np.array_equal(found, square_mask())
    assert problems == ()


@pytest.mark.parametrize(
    ("segmentation", "message"),
    [
        ([[1, 1, 5, 5]], "fewer than 3 points"),
        ([[1, 1, 5, 5, 2]], "fewer than 3 points"),
        ([[1, 1, 5, float("nan"), 2, 2]], "fewer than 3 points"),
        ([], "no polygon"),
        (None, "type NoneType"),
        ("polygons", "type str"),
        ({"size": [WIDTH, HEIGHT], "counts": [96]}, "contradicts the image"),
        ({"size": [HEIGHT, WIDTH], "counts": [5, 5]}, "sum to 10"),
        ({"size": [HEIGHT, WIDTH]}, "type NoneType"),
    ],
)
def test_a_segmentation_that_cannot_be_used_says_why(segmentation, message):
    found, (problem,) = decode_segmentation(segmentation, width_px=WIDTH, height_px=HEIGHT)
    assert not found.any()
    assert message in problem


def test_a_degenerate_ring_beside_a_good_one_is_reported_and_the_good_one_kept():
    found, (problem,) = decode_segmentation([*SQUARE, [0, 0]], width_px=WIDTH, height_px=HEIGHT)
    assert np.array_equal(found, square_mask())
    assert problem.startswith("1 polygon")


def test_objects_are_numbered_by_annotation_index_whatever_is_skipped(tmp_path):
    annotations = [
        annotation([[1, 1, 2]], id=30),
        annotation(SQUARE, id=31),
        annotation(uncompressed(~square_mask()), id=32, iscrowd=1),
    ]
    scene, log = read_instances(tmp_path, annotations, policy="skip")
    assert [(o.object_id, o.source_id, o.is_crowd) for o in scene.objects] == [
        (2, "31", False),
        (3, "32", True),
    ]
    assert np.array_equal(scene.labels == 2, square_mask())
    assert log.n_by_kind == {"bad segmentation": 1}
    assert (scene.licence, scene.source) == ("Attribution License by/2.0", "somewhere")
    check_scene(scene)


def test_a_fault_is_refused_unless_skipping_was_asked_for(tmp_path):
    with pytest.raises(InputError, match=r"annotation 30: bad segmentation .*fewer than 3 points"):
        read_instances(tmp_path, [annotation([[1, 1, 2]], id=30)])


def test_an_annotation_without_area_is_named(tmp_path):
    nothing = uncompressed(np.zeros((HEIGHT, WIDTH), dtype=bool))
    with pytest.raises(InputError, match="annotation 31: annotation without area"):
        read_instances(tmp_path, [annotation(nothing)])


def test_where_annotations_overlap_the_smaller_wins_or_nobody_and_crowds_never(tmp_path):
    everywhere = uncompressed(np.ones((HEIGHT, WIDTH), dtype=bool))
    small = np.zeros((HEIGHT, WIDTH), dtype=bool)
    small[2, 3] = True
    annotations = [
        annotation(uncompressed(small), id=1, iscrowd=1),
        annotation(SQUARE, id=2),
        annotation(everywhere, id=3),
    ]
    scene, _ = read_instances(tmp_path, annotations)
    assert np.array_equal(scene.labels, np.where(square_mask(), 2, 3))
    scene, _ = read_instances(tmp_path, annotations, overlap="unlabelled")
    assert np.array_equal(scene.labels, np.where(square_mask(), 0, 3))


def test_a_category_that_is_not_in_the_file_is_named(tmp_path):
    with pytest.raises(InputError, match="category_id 99"):
        read_instances(tmp_path, [annotation(SQUARE, category_id=99)])


def test_a_mask_whose_size_contradicts_the_image_is_named(tmp_path):
    with pytest.raises(InputError, match=r"mask 12x8 px, upright image 8x12 px"):
        read_instances(tmp_path, [annotation(SQUARE)], size=(HEIGHT, WIDTH))


def test_an_annotation_of_an_unlisted_image_is_refused(tmp_path):
    path = write_set(tmp_path, [annotation(SQUARE, image_id=6)])
    with pytest.raises(InputError, match="annotation 31 is of image 6"):
        open_instances(path, images_folder=tmp_path)


def test_a_scene_that_is_not_there_is_named(tmp_path):
    coco = open_instances(write_set(tmp_path, []), images_folder=tmp_path)
    with pytest.raises(InputError, match="no annotated image 'b'"):
        coco.read("b", FaultLog())


def panoptic(folder, ids, segments, *, policy="refuse"):
    path = write_set(folder, [{"image_id": 5, "file_name": "a.png", "segments_info": segments}])
    (folder / "set").mkdir()
    rgb = np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=2).astype(np.uint8)
    Image.fromarray(rgb).save(folder / "set" / "a.png")
    log = FaultLog(policy=policy)
    return open_panoptic(path, images_folder=folder).read("a", log), log


def segment(number, **more):
    return {"id": number, "category_id": 1, "iscrowd": 0} | more


def test_a_panoptic_id_is_red_plus_256_green_plus_65536_blue(tmp_path):
    big = 3 + 256 * 5 + 65536 * 200
    ids = np.where(square_mask(), big, 9)
    ids[0, 0] = 0
    scene, _ = panoptic(tmp_path, ids, [segment(9, category_id=7), segment(big, iscrowd=1)])
    expected = np.where(square_mask(), 2, 1)
    expected[0, 0] = 0
    assert np.array_equal(scene.labels, expected)
    assert [(o.category, o.is_thing, o.is_crowd) for o in scene.objects] == [
        ("grass", False, False),
        ("cat", True, True),
    ]


@pytest.mark.parametrize(
    ("segments", "kind"),
    [
        ([segment(9)], "id not in the annotation file"),
        ([segment(9), segment(8), segment(7)], "annotation without area"),
        ([segment(9), segment(8, category_id=99)], "category not in the annotation file"),
    ],
)
def test_a_panoptic_fault_is_refused_or_skipped_and_counted(tmp_path, segments, kind):
    ids = np.where(square_mask(), 8, 9)
    scene, log = panoptic(tmp_path, ids, segments, policy="skip")
    assert log.n_by_kind == {kind: 1}
    check_scene(scene)
    (tmp_path / "again").mkdir()
    with pytest.raises(InputError, match=kind):
        panoptic(tmp_path / "again", ids, segments)


@pytest.mark.parametrize("opener", [open_panoptic, open_instances])
def test_a_file_of_the_other_format_is_refused(tmp_path, opener):
    is_panoptic = opener is open_panoptic
    other = annotation(SQUARE) if is_panoptic else {"image_id": 5, "segments_info": []}
    with pytest.raises(InputError, match="not COCO"):
        opener(write_set(tmp_path, [other]), images_folder=tmp_path)


@pytest.mark.shared
def test_the_real_panoptic_set_reads_without_a_fault(shared):
    root = shared / "coco128"
    coco = open_panoptic(
        root / "panoptic_segmentation/annotations/panoptic_val2017.json",
        images_folder=root / "images/val2017",
    )
    assert len(coco.scene_ids) == 100
    scene = coco.read("000000000139", FaultLog())
    check_scene(scene)
    assert scene.objects[0].source_id == "3226956"
    assert (scene.labels == 1).sum() == 2840  # the area that the file states
    assert scene.licence.startswith("Attribution")
