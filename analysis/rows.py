"""The rows of a score: one mask of trials that feeds score, ceilings and controls alike."""

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.human import ReactionTimes, mean_over_people
from analysis.rank_correlation import Target, prepare_target
from stimuli.tables import CELL_NAMES, name_cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Trials that people and a readout both have, with what the design says of them.

    Attributes
    ----------
    trial_ids
        The trials, in the trial table's order.
    participant_ids
        Everybody with at least one RT among them.
    rt_s : float array, shape (n_people, n_trials)
        RTs in seconds, NaN where a person has none.
    scenes, cells : int arrays, shape (n_trials,)
        Scene and cell of the design (`CELL_NAMES`) of each trial, counted from 0.
    is_same : bool array, shape (n_trials,)
        Both dots on one object.
    distance_px : float array, shape (n_trials,)
        Between the dots.
    """

    trial_ids: tuple[str, ...]
    participant_ids: tuple[str, ...]
    rt_s: np.ndarray
    scenes: np.ndarray
    cells: np.ndarray
    is_same: np.ndarray
    distance_px: np.ndarray

    @property
    def mean_rt_s(self) -> np.ndarray:
        """Mean RT over people, seconds, shape (n_trials,)."""
        return mean_over_people(self.rt_s)

    @property
    def n_scenes(self) -> int:
        """Photographs."""
        return len(np.unique(self.scenes))

    @property
    def sha256(self) -> str:
        """Hash of the trial ids: two scores with one hash are of the same rows."""
        return hashlib.sha256("\n".join(self.trial_ids).encode()).hexdigest()


def select_rows(
    times: ReactionTimes, trials: pd.DataFrame, *, is_wanted: np.ndarray | None = None
) -> Rows:
    """Return the rows of a score: the wanted trials for which somebody has an RT.

    Parameters
    ----------
    times
        RTs of people, columns in the order of `trials`.
    trials
        The trial table.
    is_wanted : bool array, shape (n_trials,), optional
        Trials that the readout has; all when not given.
    """
    keep = np.asarray(np.isfinite(times.rt_s).any(axis=0))
    if is_wanted is not None:
        keep = keep & is_wanted
    rows = trials.loc[pd.Series(keep, index=trials.index)]
    has_any = np.isfinite(times.rt_s[:, keep]).any(axis=1)
    names = np.asarray(times.participant_ids)[has_any]
    return Rows(
        trial_ids=tuple(rows["trial_id"]),
        participant_ids=tuple(str(name) for name in names),
        rt_s=times.rt_s[has_any][:, keep],
        scenes=pd.factorize(rows["scene_id"])[0],
        cells=name_cells(rows).map(list(CELL_NAMES).index).to_numpy(int),
        is_same=rows["same_object"].to_numpy(bool),
        distance_px=rows["distance_px"].to_numpy(float),
    )


def take_trials(rows: Rows, keep: np.ndarray) -> Rows:
    """Return the rows of a subset of trials; people without an RT among them are left out."""
    has_any = np.isfinite(rows.rt_s[:, keep]).any(axis=1)
    return Rows(
        trial_ids=tuple(np.asarray(rows.trial_ids, dtype=object)[keep]),
        participant_ids=tuple(np.asarray(rows.participant_ids, dtype=object)[has_any]),
        rt_s=rows.rt_s[has_any][:, keep],
        scenes=pd.factorize(rows.scenes[keep])[0],
        cells=rows.cells[keep],
        is_same=rows.is_same[keep],
        distance_px=rows.distance_px[keep],
    )


def aim_at(rows: Rows, people: np.ndarray, weights: np.ndarray) -> Target:
    """Return the people's side of the correlations of `rows`: cell and distance are what is removed.

    Parameters
    ----------
    rows
        The trials.
    people : float array, shape (n_trials,) or (n_draws, n_trials)
        Mean RTs.
    weights : float array, shape (n_draws, n_trials)
        How often each trial was drawn.
    """
    return prepare_target(people, weights, covariate=rows.distance_px, cells=rows.cells)
