"""Who sees which display: Latin-square lists, practice and blocks.

Each person sees each scene in one of its four conditions, counterbalanced over groups of four people;
32 practice trials come from scenes not used otherwise; four blocks with breaks (methods 1.1 [paper]).
The display in cell c of the s-th scene belongs to list (s + c) mod 4: every list holds every scene
once and each cell equally often. Where a benchmark is made, the order of the scenes is a shuffle of its
own, so that scenes that are neighbours in a folder don't share a list's condition.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from stimuli.errors import InputError
from stimuli.tables import CELL_NAMES, name_cells

PRACTICE_LIST = "practice"
N_LISTS = len(CELL_NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDesign:
    """How displays are dealt to people.

    Attributes
    ----------
    n_practice_scenes
        Scenes set aside for practice, one display each; the published study had 32.
    n_blocks
        Blocks with breaks between them; the published study had 4.
    """

    n_practice_scenes: int = 0
    n_blocks: int = 4


def is_practice_trial(trials: pd.DataFrame) -> pd.Series:
    """Return True for the displays whose list is `practice`."""
    return trials["list_id"].eq(PRACTICE_LIST).fillna(value=False).astype(bool)


def number_cells(trials: pd.DataFrame) -> pd.Series:
    """Return the condition of each display as its place among `CELL_NAMES`, from 0."""
    return name_cells(trials).map({name: k for k, name in enumerate(CELL_NAMES)}).astype(int)


def deal_square(scene: pd.Series, cell: pd.Series) -> pd.Series:
    """Return the list of each display in the Latin square, from 0.

    Parameters
    ----------
    scene, cell
        Whole numbers from 0: which scene, and which of its conditions (`number_cells`).
    """
    return (scene + cell) % N_LISTS


def assign_lists(
    trials: pd.DataFrame, design: ListDesign, *, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the trials with `list_id` and `block`; of a practice scene, one display is left.

    Parameters
    ----------
    trials
        The four displays of each scene.
    design
        How many practice scenes and blocks.
    rng
        Orders the scenes.

    Returns
    -------
    DataFrame
        In the order given. `list_id` is "1" to "4", or "practice"; `block` counts from 1 and is
        missing for practice. In every list each cell, and in every block of it each cell, occurs
        equally often up to one.

    Raises
    ------
    InputError
        No scene is left after practice, or fewer than one per block.
    """
    scenes = np.sort(trials["scene_id"].unique().astype(str))
    n_used = len(scenes) - design.n_practice_scenes
    if design.n_blocks < 1 or n_used < design.n_blocks:
        raise InputError(
            f"{len(scenes)} scenes, {design.n_practice_scenes} of them for practice, in "
            f"{design.n_blocks} blocks; expected at least one block and one scene per block: "
            "lower --practice or --blocks, or add scenes"
        )
    order = pd.Series(rng.permutation(len(scenes)), index=scenes)
    place = trials["scene_id"].map(order)
    cell = number_cells(trials)
    is_practice = place >= n_used
    # Scenes s, s + 1, s + 2, s + 3 show the four cells in a list: deal them to one block together.
    block = (place // N_LISTS) % design.n_blocks + 1
    dealt = trials.assign(
        list_id=np.where(is_practice, PRACTICE_LIST, (deal_square(place, cell) + 1).astype(str)),
        block=block.astype("Int64").mask(is_practice),
    )
    return dealt[~is_practice | (place % N_LISTS == cell)].reset_index(drop=True)
