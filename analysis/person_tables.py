"""What single people do: their accuracy and speed, the shape of their reaction times.

Tables for people to look at before they believe a mean: a person who guesses, one who never hurries, a
distribution with a second hump. Nothing here is a score.
"""

import numpy as np
import pandas as pd

from analysis.human import ReactionTimes
from stimuli.tables import CELL_NAMES, name_cells

QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
BIN_S = 0.05


def summarise_persons(
    times: ReactionTimes, answered: pd.DataFrame, *, errors_recorded: bool
) -> pd.DataFrame:
    """Return one row per person: how many RTs, how fast, how often right.

    Parameters
    ----------
    times
        The analysed RTs.
    answered
        The responses that count for accuracy (`analysis.exclusions.Exclusion.answered`).
    errors_recorded
        False leaves accuracy empty.

    Returns
    -------
    DataFrame
        participant_id, n_rts, mean_rt_s, median_rt_s, sd_rt_s (empty for one RT), n_answered,
        accuracy; a person without RTs has n_rts 0 and no times.
    """
    rts = pd.DataFrame(times.rt_s.T, columns=list(times.participant_ids))
    table = pd.DataFrame(
        {
            "participant_id": times.participant_ids,
            "n_rts": rts.count().to_numpy(),
            "mean_rt_s": rts.mean().to_numpy(),
            "median_rt_s": rts.median().to_numpy(),
            "sd_rt_s": rts.std().to_numpy(),
        }
    )
    if not errors_recorded:
        empty = pd.array([pd.NA] * len(table), dtype="Int64")
        return table.assign(n_answered=empty, accuracy=np.nan)
    is_correct = (answered["outcome"] == "correct").groupby(answered["participant_id"])
    person = table["participant_id"]
    return table.assign(
        n_answered=person.map(is_correct.size()).fillna(0).astype("Int64"),
        accuracy=person.map(is_correct.mean()),
    )


def tabulate_quantiles(
    times: ReactionTimes, trials: pd.DataFrame, *, quantiles: tuple[float, ...] = QUANTILES
) -> pd.DataFrame:
    """Return quantiles of each person's RTs on same and on different trials.

    Returns
    -------
    DataFrame
        participant_id, kind (same or different), quantile (0 to 1), rt_s (linear interpolation),
        n_rts; nothing for a person without such RTs.

    Examples
    --------
    >>> times = ReactionTimes(
    ...     rt_s=np.array([[1.0, 2.0, 3.0]]), participant_ids=("a",), trial_ids=("x", "y", "z")
    ... )
    >>> trials = pd.DataFrame({"same_object": [True] * 3})
    >>> tabulate_quantiles(times, trials, quantiles=(0.25,))["rt_s"].tolist()
    [1.5]
    """
    is_same = trials["same_object"].to_numpy(bool)
    rows = []
    for person, own in zip(times.participant_ids, times.rt_s, strict=True):
        for kind, wanted in (("same", is_same), ("different", ~is_same)):
            there = own[wanted & np.isfinite(own)]
            if not len(there):
                continue
            for quantile, value in zip(quantiles, np.quantile(there, quantiles), strict=True):
                rows.append((person, kind, quantile, float(value), len(there)))
    return pd.DataFrame(rows, columns=["participant_id", "kind", "quantile", "rt_s", "n_rts"])


def bin_reaction_times(
    times: ReactionTimes, trials: pd.DataFrame, *, width_s: float = BIN_S
) -> pd.DataFrame:
    """Return how many RTs of all people fall into each bin, by cell of the design.

    Returns
    -------
    DataFrame
        condition, low_s (bins are closed below), n, share (of the condition's RTs); bins from 0 to
        the slowest RT.
    """
    cells = name_cells(trials).to_numpy()
    _, column = np.nonzero(np.isfinite(times.rt_s))
    values = times.rt_s[np.isfinite(times.rt_s)]
    n_bins = int(np.floor(values.max() / width_s)) + 1 if len(values) else 0
    place = np.floor(values / width_s).astype(int)
    parts = []
    for name in CELL_NAMES:
        own = place[cells[column] == name]
        if len(own):
            n = np.bincount(own, minlength=n_bins)
            low_s = np.arange(n_bins) * width_s
            parts.append(
                pd.DataFrame({"condition": name, "low_s": low_s, "n": n, "share": n / len(own)})
            )
    columns = ["condition", "low_s", "n", "share"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
