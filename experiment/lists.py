"""Which displays a person sees: the Latin square over scenes and conditions.

Each person sees each scene in one of its four conditions, counterbalanced over groups of four people
(methods 1.1 [paper]). With scenes counted in the table's order and conditions in the order of
`CELLS`, the display in cell c of scene s belongs to list (s + c) mod 4: every list holds every scene
once, and each condition equally often.
"""

import pandas as pd

from stimuli.errors import TableError
from stimuli.tables import CELL_NAMES, name_cells

PRACTICE_LIST = "practice"
N_LISTS = len(CELL_NAMES)


def is_practice_trial(trials: pd.DataFrame) -> pd.Series:
    """Return True for the displays whose list is `practice`."""
    return trials["list_id"].eq(PRACTICE_LIST).fillna(value=False).astype(bool)


def assign_lists(trials: pd.DataFrame) -> pd.Series:
    """Return the list of each display, as a whole number from 0.

    A table that names its lists itself (`list_id`, other than practice) is believed: its names are
    numbered in sorted order. Otherwise the Latin square of four lists is made here.

    Parameters
    ----------
    trials
        Test displays, valid under `Trials`; practice displays are left out by the caller.

    Returns
    -------
    int Series, index of `trials`

    Raises
    ------
    TableError
        Only some rows name a list, or a list would show a scene twice.
    """
    is_named = trials["list_id"].notna()
    if is_named.any() and not is_named.all():
        row = trials[~is_named].iloc[0]
        raise TableError(
            f"trials.csv: {int((~is_named).sum())} of {len(trials)} displays have no list_id "
            f"(the first is {row['trial_id']!r}); name the list of every display, or of none"
        )
    if is_named.all() and len(trials):
        numbers = trials["list_id"].rank(method="dense").astype(int) - 1
    else:
        scene_number = pd.Series(pd.factorize(trials["scene_id"])[0], index=trials.index)
        cell_number = name_cells(trials).map({name: k for k, name in enumerate(CELL_NAMES)})
        numbers = ((scene_number + cell_number) % N_LISTS).astype(int)
    _check_scene_once(trials, numbers)
    return numbers


def _check_scene_once(trials: pd.DataFrame, numbers: pd.Series) -> None:
    twice = pd.DataFrame({"scene": trials["scene_id"], "list": numbers}).duplicated()
    if twice.any():
        row = trials[twice].iloc[0]
        raise TableError(
            f"trials.csv: a person would see scene {row['scene_id']!r} twice (trial "
            f"{row['trial_id']!r} is the second of its list); give each scene at most one display "
            "per condition, or name lists that show it once"
        )
