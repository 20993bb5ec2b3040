"""The Latin square."""

import pytest

from experiment.lists import find_lists
from stimuli.errors import TableError
from stimuli.lists import is_practice_trial
from stimuli.tables import CELLS
from tests.experiment.displays import make_trials


def test_each_list_holds_each_scene_once_and_each_cell_equally_often():
    trials = make_trials(16)
    trials["list"] = find_lists(trials)
    assert set(trials["list"]) == {0, 1, 2, 3}
    assert (trials.groupby(["list", "scene_id"]).size() == 1).all()
    assert (trials.groupby(["list", "same_object", "distance_condition"]).size() == 4).all()


def test_lists_named_by_the_table_are_believed():
    trials = make_trials(2)
    trials["list_id"] = ["b", "a", "d", "c"] * 2
    assert find_lists(trials).tolist() == [1, 0, 3, 2] * 2


def test_a_scene_with_fewer_displays_is_missing_from_a_list():
    trials = make_trials(4, cells=CELLS[:2])
    trials["list"] = find_lists(trials)
    assert (trials.groupby(["list", "scene_id"]).size() == 1).all()


def test_half_named_lists_are_refused():
    trials = make_trials(2)
    trials.loc[0, "list_id"] = "a"
    with pytest.raises(TableError, match="7 of 8 displays have no list_id"):
        find_lists(trials)


def test_a_list_that_shows_a_scene_twice_is_refused():
    trials = make_trials(2)
    trials["list_id"] = "a"
    with pytest.raises(TableError, match="see scene 's000' twice"):
        find_lists(trials)


def test_practice_displays_are_told_by_their_list():
    trials = make_trials(1, n_practice=1)
    assert is_practice_trial(trials).tolist() == [False] * 4 + [True] * 4
