"""The demo's benchmark: complete, reproducible, and said to be simulated."""

import pandas as pd
import pytest

from analysis.people import load_times
from experiment.demo import make_demo_benchmark
from stimuli.benchmark import load_scene_mask, load_trial_image
from stimuli.errors import InputError


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return make_demo_benchmark(
        tmp_path_factory.mktemp("demo") / "b", seed=4, n_scenes=5, n_people=8
    )


def test_every_scene_has_its_four_displays_with_image_and_mask(demo):
    assert len(demo.trials) == 20
    cells = demo.trials.groupby("scene_id")[["same_object", "distance_condition"]].nunique()
    assert (cells == 2).all(axis=None)
    for _, row in demo.trials.iterrows():
        labels = load_scene_mask(demo, row)
        for k in (1, 2):
            at = labels[int(row[f"dot{k}_y_px"]), int(row[f"dot{k}_x_px"])]
            assert at == row[f"object{k}_id"]
        assert (row["object1_id"] == row["object2_id"]) == row["same_object"]
        load_trial_image(demo, row)


def test_people_are_simulated_and_every_row_says_so(demo):
    assert demo.manifest.is_simulated
    responses = pd.read_csv(demo.responses_folder / "simulated.csv")
    assert responses["is_simulated"].all()
    assert len(load_times(demo).participant_ids) == 8


def test_the_same_seed_makes_the_same_benchmark_and_never_over_another(demo, tmp_path):
    again = make_demo_benchmark(tmp_path / "b", seed=4, n_scenes=5, n_people=8)
    assert again.trials_sha256 == demo.trials_sha256
    first, second = (b.responses_folder / "simulated.csv" for b in (demo, again))
    assert first.read_bytes() == second.read_bytes()
    with pytest.raises(InputError, match="is not empty"):
        make_demo_benchmark(tmp_path / "b", seed=4, n_scenes=5)
