"""Dots lie where the table says, at the distances of the design, or the scene says why not."""

from dataclasses import replace

import numpy as np
import pytest

from stimuli.design import DEMO_DESIGN, Design
from stimuli.placement import place_trials
from stimuli.procedural import DEMO_SCENES, generate_scene
from stimuli.scenes import Scene, SceneObject
from stimuli.tables import CELLS

SMALL = Design(
    close_px=30,
    far_px=60,
    distance_tolerance_px=4,
    first_dot_within_px=10,
    dot_radius_px=4,
    min_object_area_px=100,
)


def thing(object_id, *, category="thing", is_thing=True, is_crowd=False, depth=None):
    return SceneObject(
        object_id=object_id,
        category=category,
        is_thing=is_thing,
        is_crowd=is_crowd,
        source_id=None,
        depth=depth,
    )


def scene_of(labels, *objects):
    labels = np.asarray(labels, dtype=np.int32)
    pixels = np.zeros((*labels.shape, 3), dtype=np.uint8)
    return Scene(scene_id="s", pixels=pixels, labels=labels, objects=objects)


def two_halves(height=160, width=200):
    """Object 7 left, object 9 right of the middle and a little beyond it."""
    labels = np.full((height, width), 7)
    labels[:, width // 2 + 12 :] = 9
    return labels


def test_all_four_cells_come_in_order_with_the_objects_of_the_map(rng):
    scene = scene_of(two_halves(), thing(7), thing(9))
    placement = place_trials(scene, SMALL, rng)
    assert placement.reason is None
    assert [(d.same_object, d.distance_condition) for d in placement.displays] == list(CELLS)
    for display in placement.displays:
        assert display.object1_id == 7
        assert display.object2_id == (7 if display.same_object else 9)
        assert scene.labels[int(display.dot1_y_px), int(display.dot1_x_px)] == 7
        assert scene.labels[int(display.dot2_y_px), int(display.dot2_x_px)] == display.object2_id
        middle = 30 if display.distance_condition == "close" else 60
        assert abs(display.distance_px - middle) <= 4


def test_the_first_dot_is_the_same_in_all_four_displays(rng):
    placement = place_trials(scene_of(two_halves(), thing(7), thing(9)), SMALL, rng)
    assert len({(d.dot1_x_px, d.dot1_y_px) for d in placement.displays}) == 1


def test_distances_of_same_and_different_are_matched_within_the_tolerance(rng):
    for k in range(8):
        scene = generate_scene(DEMO_SCENES, scene_id=str(k), rng=rng)
        displays = place_trials(scene, DEMO_DESIGN, rng).displays
        for same, different in zip(displays[:2], displays[2:], strict=False):
            assert abs(same.distance_px - different.distance_px) < DEMO_DESIGN.match_px


@pytest.mark.parametrize(
    ("objects", "change", "reason"),
    [
        ((thing(7, is_crowd=True), thing(9)), {}, "nothing usable at the centre"),
        ((thing(7, is_thing=False), thing(9)), {}, "nothing usable at the centre"),
        ((thing(7), thing(9, is_crowd=True)), {}, "no second object"),
        ((thing(7), thing(9, is_thing=False)), {}, "no second object"),
        ((thing(7, category="a"), thing(9, category="b")), {"second_category": "same"},
         "no second object"),
        ((thing(7), thing(9)), {"second_category": "different"}, "no second object"),
        ((thing(7), thing(9)), {"far_px": 190.0}, "image too small for the far dots"),
        ((thing(7), thing(9)), {"min_object_area_px": 10**6}, "nothing usable at the centre"),
    ],
)  # fmt: skip
def test_a_scene_without_displays_says_why(rng, objects, change, reason):
    placement = place_trials(scene_of(two_halves(), *objects), replace(SMALL, **change), rng)
    assert (placement.displays, placement.reason) == ((), reason)


def test_stuff_may_be_the_second_object_if_the_design_says_so(rng):
    scene = scene_of(two_halves(), thing(7), thing(9, is_thing=False))
    assert place_trials(scene, replace(SMALL, second_object="any"), rng).displays


def test_a_strip_thinner_than_the_dot_has_no_room(rng):
    labels = np.zeros((160, 200))
    labels[78:83] = 1
    labels[83:] = 2
    scene = scene_of(labels, thing(1), thing(2, is_thing=False))
    assert place_trials(scene, SMALL, rng).reason == "no room for the first dot"


def test_objects_apart_are_partners_only_without_the_touching_rule(rng):
    labels = two_halves()
    labels[:, 112:118] = 0
    scene = scene_of(labels, thing(7), thing(9))
    assert place_trials(scene, SMALL, rng).reason == "no second object"
    assert place_trials(scene, replace(SMALL, relation="any"), rng).displays
    assert place_trials(scene, replace(SMALL, touch_gap_px=6), rng).displays


@pytest.mark.parametrize(
    ("rows", "columns", "reason"),
    [
        (slice(66, 94), slice(112, 140), "no place for different far"),
        (slice(66, 94), slice(150, 178), "no place for different close"),
    ],
)
def test_a_cell_without_a_place_is_named(rng, rows, columns, reason):
    labels = np.full((160, 200), 1)
    labels[rows, columns] = 2
    assert place_trials(scene_of(labels, thing(1), thing(2)), SMALL, rng).reason == reason


@pytest.mark.parametrize(
    ("columns", "reason"),
    [(slice(0, 0), "no place for same far"), (slice(150, 178), "no place for same close")],
)
def test_a_first_object_without_a_place_for_a_second_dot_is_named(rng, columns, reason):
    """A small object at the centre, perhaps with another piece where only far dots reach it."""
    labels = np.full((160, 200), 2)
    labels[68:92, 88:112] = 1
    labels[66:94, columns] = 1
    assert place_trials(scene_of(labels, thing(1), thing(2)), SMALL, rng).reason == reason
