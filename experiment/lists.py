"""Which displays a person sees: the lists that a table names, or the Latin square made here."""

import pandas as pd

from stimuli.errors import TableError
from stimuli.lists import deal_square, number_cells


def find_lists(trials: pd.DataFrame) -> pd.Series:
    """Return the list of each display, as a whole number from 0.

    A table that names its lists itself (`list_id`, other than practice) is believed: its names are
    numbered in sorted order. Otherwise the Latin square of four lists is made here, scenes counted in the
    table's order (`stimuli.lists`).

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
        numbers = deal_square(scene_number, number_cells(trials))
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
