"""Who stands in front."""

import numpy as np

from stimuli.occlusion import compare_dents, count_in_hull, find_occluders
from stimuli.procedural import DEMO_SCENES, generate_scenes
from stimuli.regions import count_contacts


def disc_on_ground():
    y, x = np.mgrid[:80, :100]
    return np.where(np.hypot(x - 50, y - 40) < 22, 2, 1)


def test_a_disc_stands_in_front_of_what_surrounds_it():
    labels = disc_on_ground()
    pairs = np.zeros((3, 3), dtype=bool)
    pairs[1, 2] = pairs[2, 1] = True
    found = find_occluders(labels, [None, None, None], pairs)
    assert found[1, 2]
    assert not found[2, 1]


def test_known_depth_beats_the_shape_of_the_border():
    pairs = np.zeros((3, 3), dtype=bool)
    pairs[1, 2] = pairs[2, 1] = True
    found = find_occluders(disc_on_ground(), [None, 5, 3], pairs)
    assert found[2, 1]
    assert not found[1, 2]


def test_a_dent_is_counted_by_the_pixels_that_fill_it():
    labels = np.ones((10, 10), dtype=int)
    labels[3:6, 4:8] = 2
    assert count_in_hull(labels, hull_of=1, count=2) == 12
    assert count_in_hull(labels, hull_of=2, count=1) == 0
    assert compare_dents(labels, first=1, second=2) == 12
    assert compare_dents(labels, first=2, second=1) == -12


def test_an_object_on_one_line_has_no_hull():
    labels = np.ones((6, 6), dtype=int)
    labels[2] = 2
    assert count_in_hull(labels, hull_of=2, count=1) == 0
    labels[:] = 1
    labels[2, 2] = 2
    assert count_in_hull(labels, hull_of=2, count=1) == 0


def test_the_cue_agrees_with_made_scenes_more_often_than_not():
    n_right = n_judged = 0
    made = generate_scenes(DEMO_SCENES, prefix="m", seed=2)
    for _ in range(6):
        scene = next(made)
        pairs = np.triu(count_contacts(scene.labels, gap_px=0) > 20)
        depths = [None, *range(1, len(pairs))]
        unknown = [None] * len(pairs)
        truth = find_occluders(scene.labels, depths, pairs)
        guess = find_occluders(scene.labels, unknown, pairs)
        n_right += int((truth == guess)[pairs].sum())
        n_judged += int(pairs.sum())
    assert n_judged > 80
    assert n_right / n_judged > 0.85
