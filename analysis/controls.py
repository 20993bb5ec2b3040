"""Controls that need no image: what every model should beat (methods 1.7).

``control:condition`` predicts each trial by the mean RT of its condition (same or different, close
or far); ``control:distance`` by the distance between the dots; ``control:leak`` by condition and the
mean RT of the scene's other trials, which a learned readout must not come near for that reason.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.baselines import predict_condition, predict_leak
from analysis.human import ReactionTimes
from analysis.rows import select_rows
from model_eval.tables import Readouts
from stimuli.table_io import check_table


def compute_control(name: str, trials: pd.DataFrame, times: ReactionTimes) -> pd.DataFrame:
    """Return the readouts of a control, as of any model.

    Parameters
    ----------
    name
        One of `TABLE_CONTROLS`.
    trials
        The benchmark's trial table.
    times
        People's RTs, columns in the order of `trials`.

    Returns
    -------
    DataFrame
        Valid under `model_eval.tables.Readouts`; kind *difficulty*.
    """
    readout, compute = TABLE_CONTROLS[name]
    values = compute(trials, times)
    table = pd.DataFrame(
        {
            "model": name,
            "layer": None,
            "representation": None,
            "readout": readout,
            "kind": "difficulty",
            "trial_id": values.index,
            "value": values.to_numpy(float),
        }
    )
    return check_table(table, Readouts, source=name)


def _condition_means(trials: pd.DataFrame, times: ReactionTimes) -> pd.Series:
    rows = select_rows(times, trials)
    return pd.Series(predict_condition(rows), index=np.asarray(rows.trial_ids, dtype=object))


def _leak(trials: pd.DataFrame, times: ReactionTimes) -> pd.Series:
    rows = select_rows(times, trials)
    return pd.Series(predict_leak(rows), index=np.asarray(rows.trial_ids, dtype=object))


def _distance(trials: pd.DataFrame, _times: ReactionTimes) -> pd.Series:
    return trials.set_index("trial_id")["distance_px"]


TABLE_CONTROLS: dict[str, tuple[str, Callable[[pd.DataFrame, ReactionTimes], pd.Series]]] = {
    "control:condition": ("condition mean", _condition_means),
    "control:distance": ("distance", _distance),
    "control:leak": ("condition and other trials", _leak),
}
