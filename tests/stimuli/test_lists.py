"""Everybody sees each scene once, and each condition equally often."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stimuli.errors import InputError
from stimuli.lists import ListDesign, assign_lists
from stimuli.tables import CELLS, name_cells


def trials_of(n_scenes):
    rows = [
        {"trial_id": f"{s}_{k}", "scene_id": f"{s:03d}", "same_object": same,
         "distance_condition": condition}
        for s, (k, (same, condition)) in itertools.product(range(n_scenes), enumerate(CELLS))
    ]  # fmt: skip
    return pd.DataFrame(rows)


@settings(max_examples=40, deadline=None)
@given(
    n_scenes=st.integers(1, 45),
    n_practice=st.integers(0, 12),
    n_blocks=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_lists_are_latin_and_balanced_whatever_the_numbers(n_scenes, n_practice, n_blocks, seed):
    design = ListDesign(n_practice_scenes=n_practice, n_blocks=n_blocks)
    rng = np.random.default_rng(seed)
    if n_scenes - n_practice < n_blocks:
        with pytest.raises(InputError, match="expected at least one block"):
            assign_lists(trials_of(n_scenes), design, rng=rng)
        return
    dealt = assign_lists(trials_of(n_scenes), design, rng=rng)
    practice = dealt[dealt["list_id"] == "practice"]
    test = dealt[dealt["list_id"] != "practice"]
    assert len(practice) == practice["scene_id"].nunique() == n_practice
    assert practice["block"].isna().all()
    assert not set(practice["scene_id"]) & set(test["scene_id"])
    assert set(test["list_id"]) == {"1", "2", "3", "4"}
    for _, one in test.groupby("list_id"):
        assert one["scene_id"].is_unique
        assert len(one) == n_scenes - n_practice
        counts = [int((name_cells(one) == name).sum()) for name in name_cells(test).unique()]
        assert max(counts) - min(counts) <= 1


def test_with_256_scenes_each_block_of_a_list_holds_each_cell_16_times():
    dealt = assign_lists(trials_of(256), ListDesign(), rng=np.random.default_rng(1))
    counts = dealt.groupby(["list_id", "block", name_cells(dealt)]).size()
    assert (counts == 16).all()
    assert len(counts) == 4 * 4 * 4


def test_the_published_numbers_give_32_practice_and_4_blocks_of_64():
    design = ListDesign(n_practice_scenes=32)
    dealt = assign_lists(trials_of(288), design, rng=np.random.default_rng(1))
    first = dealt[dealt["list_id"] == "1"]
    assert first.groupby("block").size().tolist() == [64, 64, 64, 64]
    assert (dealt["list_id"] == "practice").sum() == 32


def test_scenes_that_are_neighbours_in_the_folder_do_not_march_through_the_cells():
    dealt = assign_lists(trials_of(64), ListDesign(), rng=np.random.default_rng(1))
    first = dealt[dealt["list_id"] == "1"]
    steps = np.diff(name_cells(first).map({n: k for k, n in enumerate(name_cells(dealt).unique())}))
    assert len({int(step) % 4 for step in steps}) > 1


def test_the_order_of_rows_does_not_matter():
    trials = trials_of(9)
    one = assign_lists(trials, ListDesign(), rng=np.random.default_rng(3))
    two = assign_lists(trials[::-1], ListDesign(), rng=np.random.default_rng(3))
    pd.testing.assert_frame_equal(one, two[::-1].reset_index(drop=True))
