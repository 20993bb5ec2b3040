"""A built benchmark opens, holds what was placed, and doesn't depend on other scenes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from stimuli.benchmark import Manifest, load_scene_mask, load_trial_image, read_objects
from stimuli.build import build_benchmark
from stimuli.design import DEMO_DESIGN, read_design
from stimuli.errors import InputError
from stimuli.procedural import DEMO_SCENES, generate_scene, generate_scenes

MANIFEST = Manifest(name="made", version="1", source="test", licence="none")


def build(folder, scenes, *, seed=3, **more):
    return build_benchmark(scenes, folder, design=DEMO_DESIGN, seed=seed, manifest=MANIFEST, **more)


@pytest.fixture(scope="module")
def scenes():
    made = generate_scenes(DEMO_SCENES, prefix="made", seed=5)
    return [next(made) for _ in range(6)]


def test_a_built_benchmark_holds_the_four_cells_of_each_scene(tmp_path, scenes):
    built = build(tmp_path, scenes).benchmark
    assert (built.trials.groupby("scene_id").size() == 4).all()
    row = built.trials.iloc[0]
    assert row["trial_id"] == f"{row['scene_id']}_same_close"
    scene = next(scene for scene in scenes if scene.scene_id == row["scene_id"])
    assert np.array_equal(load_trial_image(built, row).pixels, scene.pixels)
    assert np.array_equal(load_scene_mask(built, row), scene.labels)
    objects = read_objects(built)
    for _, row in built.trials.iterrows():
        mine = objects[objects["scene_id"] == row["scene_id"]]["object_id"]
        assert {row["object1_id"], row["object2_id"]} <= set(mine)
    assert read_design(str(tmp_path / "design.json")) == DEMO_DESIGN


def test_other_scenes_in_the_folder_do_not_change_a_scenes_displays(tmp_path, scenes):
    alone = build(tmp_path / "a", [scenes[3]]).benchmark.trials
    among = build(tmp_path / "b", scenes[::-1]).benchmark.trials
    among = among[among["scene_id"] == scenes[3].scene_id].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, among)


def test_another_seed_gives_other_dots(tmp_path, scenes):
    first = build(tmp_path / "a", scenes).benchmark.trials
    second = build(tmp_path / "b", scenes, seed=4).benchmark.trials
    assert (first["dot2_x_px"] != second["dot2_x_px"]).any()


def test_building_stops_when_enough_scenes_have_displays(tmp_path):
    endless = generate_scenes(DEMO_SCENES, prefix="made", seed=5)
    built = build(tmp_path, endless, max_scenes=2)
    assert built.benchmark.trials["scene_id"].nunique() == 2
    assert built.placement["reason"].isna().sum() == 2


def test_a_scene_without_displays_is_counted_by_its_reason(tmp_path, scenes):
    empty = replace(scenes[0], scene_id="empty", labels=np.ones_like(scenes[0].labels))
    empty = replace(empty, objects=scenes[0].objects[:1])
    built = build(tmp_path, [*scenes, empty])
    assert built.n_by_reason["nothing usable at the centre"] == 1
    with pytest.raises(InputError, match=r"none of 1 scenes .*nothing usable at the centre: 1"):
        build(tmp_path / "none", [empty])


def test_a_scene_that_comes_twice_is_refused(tmp_path, scenes):
    with pytest.raises(InputError, match="'made0001' comes twice"):
        build(tmp_path, [scenes[0], scenes[0]])


def test_no_scenes_at_all_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no scenes were given"):
        build(tmp_path, [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: {"labels": s.labels[:-1]}, "the object map is 320x239 px"),
        (lambda s: {"objects": s.objects[1:]}, "id '1' in the map but not among"),
        (lambda s: {"objects": s.objects + s.objects[:1]}, "expected each once"),
        (lambda s: {"objects": (*s.objects, replace(s.objects[0], object_id=99))}, "no pixel"),
        (lambda s: {"scene_id": f"a/{s.scene_id}"}, "file name"),
    ],
)
def test_a_scene_that_contradicts_itself_is_refused(tmp_path, scenes, change, message):
    with pytest.raises(InputError, match=message):
        build(tmp_path, [replace(scenes[0], **change(scenes[0]))])


def test_a_made_scene_is_reproducible_by_seed():
    one = generate_scene(DEMO_SCENES, scene_id="a", rng=np.random.default_rng(1))
    two = generate_scene(DEMO_SCENES, scene_id="a", rng=np.random.default_rng(1))
    assert np.array_equal(one.pixels, two.pixels)
    assert np.array_equal(one.labels, two.labels)
