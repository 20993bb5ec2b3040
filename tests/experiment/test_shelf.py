"""Photographs are looked at before the first trial."""

import numpy as np
import pytest

from experiment.launch import Request, make_shelf, prepare
from experiment.preview import _choose
from experiment.screen import read_display
from stimuli.benchmark import open_benchmark
from stimuli.errors import InputError
from stimuli.images import write_image
from stimuli.table_io import write_table
from tests.experiment.apparatus import FAST


@pytest.fixture
def display():
    return read_display("virtual")


def make(bench, display):
    prepared = prepare(
        Request(benchmark=bench, participant="7", session="1", config=FAST, display=display)
    )
    return prepared.plan, make_shelf(prepared, display)


def test_every_image_of_the_plan_is_looked_at(bench, display):
    plan, shelf = make(bench, display)
    looked = []
    shelf.check_all(plan, on_image=lambda: looked.append(1))
    assert len(looked) == len(plan.trials) == 10


def test_displays_without_an_image_are_named_before_the_session(bench, display):
    trials = open_benchmark(bench).trials
    trials.loc[trials["scene_id"] == "s003", ["image", "image_sha256"]] = None
    write_table(trials, bench / "trials.csv")
    plan, shelf = make(bench, display)
    with pytest.raises(InputError, match=r"1 of 10 displays have no image \('s003_"):
        shelf.check_all(plan)


def test_an_image_that_was_changed_is_found_before_the_session(bench, display):
    plan, shelf = make(bench, display)
    path = bench / "images" / "s003.png"
    write_image(np.zeros((240, 320, 3), dtype=np.uint8), path)
    with pytest.raises(InputError, match=r"s003\.png: its bytes"):
        shelf.check_all(plan)


def test_gaze_stays_around_the_first_dot_within_the_limit_in_degrees(bench, display):
    plan, shelf = make(bench, display)
    limit = shelf.find_fixation(plan.trials[0])
    assert (limit.x_px, limit.y_px) == (512, 384)
    assert limit.radius_px == pytest.approx(display.px_per_degree)


def test_the_preview_takes_a_display_with_an_image(bench, display):
    plan, _ = make(bench, display)
    first_test = next(trial for trial in plan.trials if not trial.is_practice)
    assert _choose(list(plan.trials), None) == first_test
    assert _choose(list(plan.trials), plan.trials[3].trial_id) == plan.trials[3]
    with pytest.raises(InputError, match="trial 'x' isn't among those"):
        _choose(list(plan.trials), "x")
    with pytest.raises(InputError, match="fetch the photographs first"):
        _choose([], None)
