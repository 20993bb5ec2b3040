"""The controlled set: what is said to be shared is, and nothing else tells same from different."""

import numpy as np
import pandas as pd
import pytest

from stimuli.benchmark import Manifest, load_scene_mask, load_trial_image, read_objects
from stimuli.build import build_controlled
from stimuli.cheats import describe_geometry, score_cheat
from stimuli.design import DEMO_DESIGN, PUBLISHED
from stimuli.geometric import KINDS, describe_display, generate_controlled
from stimuli.margins import measure_margins
from stimuli.scenes import check_scene

EXPECTED = {
    # kind: (same: texture, class), (different: texture, class)
    "touching": ((True, True), (False, False)),
    "one texture": ((True, True), (True, False)),
    "one class": ((True, True), (False, True)),
    "identical": ((True, True), (True, True)),
    "two textures": ((False, True), (True, False)),
    "split": ((True, True), (True, True)),
}


def make(kind, *, seed=0, design=DEMO_DESIGN):
    rng = np.random.default_rng(seed)
    return generate_controlled(kind, design, scene_id="s", rng=rng)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return build_controlled(
        tmp_path_factory.mktemp("controlled") / "b",
        n_scenes=24,
        design=DEMO_DESIGN,
        seed=1,
        manifest=Manifest(name="c", version="1", source="t", licence="n"),
    ).benchmark


@pytest.mark.parametrize("kind", KINDS)
def test_what_each_kind_shares_is_as_the_table_of_the_module_says(kind):
    for same_object, (texture, class_) in zip((True, False), EXPECTED[kind], strict=True):
        found = describe_display(kind, same_object=same_object)
        assert (found["same_texture"], found["same_class"]) == (texture, class_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_dots_lie_on_their_objects_at_one_distance(kind, seed):
    made = make(kind, seed=seed)
    check_scene(made.scene)
    distances = [display.distance_px for display in made.placement.displays]
    assert distances[0] == pytest.approx(distances[2])
    assert distances[1] == pytest.approx(distances[3])
    for display in made.placement.displays:
        for k in (1, 2):
            x, y = getattr(display, f"dot{k}_x_px"), getattr(display, f"dot{k}_y_px")
            assert made.scene.labels[int(y), int(x)] == getattr(display, f"object{k}_id")


def test_dots_keep_their_radius_from_every_border(bench):
    margins = measure_margins(bench.trials, lambda row: load_scene_mask(bench, row))
    assert margins["object"].min() >= DEMO_DESIGN.dot_radius_px
    assert margins["image"].min() >= DEMO_DESIGN.dot_radius_px


def colour_at(bench, row, k):
    pixels = load_trial_image(bench, row).pixels.astype(float)
    y, x = int(row[f"dot{k}_y_px"]), int(row[f"dot{k}_x_px"])
    return pixels[y - 4 : y + 5, x - 4 : x + 5].mean(axis=(0, 1))


def test_the_picture_shows_the_textures_that_the_table_says(bench):
    differences = {True: [], False: []}
    for _, row in bench.trials.iterrows():
        colour = colour_at(bench, row, 1) - colour_at(bench, row, 2)
        # Chromaticity: shading changes lightness on any one object.
        differences[bool(row["same_texture"])].append(np.ptp(colour))
    assert np.median(differences[True]) < 15
    assert np.median(differences[False]) > 40
    separated = np.mean(np.array(differences[False])[:, None] > np.array(differences[True]))
    assert separated > 0.95


def test_the_classes_are_in_the_table_of_objects(bench):
    objects = read_objects(bench).set_index(["scene_id", "object_id"])["category"]
    for _, row in bench.trials.iterrows():
        first, second = (objects[row["scene_id"], row[f"object{k}_id"]] for k in (1, 2))
        assert (first == second) == row["same_class"]


@pytest.mark.parametrize("kind", ["two textures", "split"])
def test_same_dots_lie_beyond_the_change_or_the_bar(bench, kind):
    rows = bench.trials[(bench.trials["controlled_kind"] == kind) & bench.trials["same_object"]]
    row = rows.iloc[0]
    labels = load_scene_mask(bench, row)
    share = np.linspace(0, 1, 200)
    x = row["dot1_x_px"] + share * (row["dot2_x_px"] - row["dot1_x_px"])
    y = row["dot1_y_px"] + share * (row["dot2_y_px"] - row["dot1_y_px"])
    on_the_way = set(labels[y.astype(int), x.astype(int)].tolist())
    assert on_the_way == ({2} if kind == "two textures" else {2, 5})
    assert bool(row["same_texture"]) == (kind == "split")


def test_every_kind_comes_equally_often_and_texture_alone_tells_little(bench):
    assert bench.trials["controlled_kind"].value_counts().tolist() == [16] * 6
    by_texture = pd.crosstab(bench.trials["same_object"], bench.trials["same_texture"])
    assert by_texture.loc[False, True] > by_texture.loc[False, False]


@pytest.mark.parametrize("cheat", ["distance", "position", "eccentricity", "angle"])
def test_the_rows_direction_gives_nothing_away(bench, cheat):
    features = describe_geometry(bench.trials)[cheat]
    score = score_cheat(cheat, features, bench.trials, rng=np.random.default_rng(0))
    assert score.auc < 0.6


def test_the_published_distances_fit_too():
    made = make("split", design=PUBLISHED)
    assert made.placement.displays[1].distance_px == pytest.approx(204.5, abs=7.5)


def test_a_controlled_scene_is_reproducible_by_seed():
    one, two, other = make("split", seed=3), make("split", seed=3), make("split", seed=4)
    assert np.array_equal(one.scene.pixels, two.scene.pixels)
    assert not np.array_equal(one.scene.labels, other.scene.labels)
