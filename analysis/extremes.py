"""The easiest and hardest displays, for people and for a model.

People: mean RT. A model: predicted difficulty (`analysis.metrics.signed_difficulty`). Same trials are
faster than different ones, so both are compared within one type of trial; and of each photograph only
its most extreme display is taken, since the four displays of a photograph share it.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.metrics import signed_difficulty


def find_extremes(difficulty: pd.Series, trials: pd.DataFrame, *, n: int) -> pd.DataFrame:
    """Return the easiest and the hardest displays.

    Parameters
    ----------
    difficulty
        Index trial_id; larger is harder. Missing values are left out.
    trials
        The displays to choose from (trial_id, scene_id).
    n
        How many of each, at most; never more than half of the photographs, so that none is both.

    Returns
    -------
    DataFrame
        end ("easiest" or "hardest"), place (1 is the most extreme), trial_id, scene_id, difficulty.
        Ties go by trial_id.
    """
    table = trials[["trial_id", "scene_id"]].copy()
    table["difficulty"] = table["trial_id"].map(difficulty)
    table = table.dropna(subset="difficulty")
    n = min(n, table["scene_id"].nunique() // 2)
    taken: set[str] = set()
    parts = []
    for end, is_rising in (("easiest", True), ("hardest", False)):
        order = table[~table["scene_id"].isin(taken)].sort_values(
            ["difficulty", "trial_id"], ascending=[is_rising, True]
        )
        part = order.drop_duplicates("scene_id").head(n)
        taken |= set(part["scene_id"])
        parts.append(part.assign(end=end, place=np.arange(1, len(part) + 1)))
    columns = ["end", "place", "trial_id", "scene_id", "difficulty"]
    return pd.concat(parts, ignore_index=True)[columns]


def predict_difficulty(readout: pd.DataFrame, trials: pd.DataFrame) -> pd.Series:
    """Return a readout as predicted difficulty, index trial_id.

    Parameters
    ----------
    readout
        One readout of one layer of one model: trial_id, kind, value.
    trials
        The trial table.
    """
    is_same = trials.set_index("trial_id")["same_object"].reindex(readout["trial_id"])
    values = signed_difficulty(
        readout["value"].to_numpy(float),
        kind=str(readout["kind"].iloc[0]),
        is_same=is_same.to_numpy(bool),
    )
    return pd.Series(values, index=pd.Index(readout["trial_id"], name="trial_id"))


def choose_readout(readouts: pd.DataFrame, wanted: Sequence[str]) -> pd.DataFrame:
    """Return the last layer of the first of the wanted readouts that a model has; empty if none.

    Parameters
    ----------
    readouts
        One model's readouts, layers in the order in which they were written.
    wanted
        Names, best first.
    """
    for name in wanted:
        rows = readouts[readouts["readout"] == name]
        if len(rows):
            last = rows.iloc[-1]
            alike = rows["layer"].eq(last["layer"]) | (
                rows["layer"].isna() & pd.isna(last["layer"])
            )
            kind = rows["representation"].eq(last["representation"]) | (
                rows["representation"].isna() & pd.isna(last["representation"])
            )
            return rows[alike & kind]
    return readouts.iloc[:0]
