"""Which trials a learned readout is trained on, stopped by, and tested on.

The four trials of a scene share the photograph and the first dot's token, so folds over trials let a
flexible readout learn scenes (methods 1.7). Folds by scene are the default; folds over trials are the
published form. Both are nested: of what isn't tested, a tenth stops the training early.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from stimuli.errors import InputError

FoldUnit = Literal["scenes", "trials"]
N_FOLDS = 10
# Share of the training part that stops the training [paper: 90/10].
STOPPING_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Indices of the trials of each part; int arrays."""

    train: np.ndarray
    stop: np.ndarray
    test: np.ndarray


def make_folds(
    scene_ids: np.ndarray, *, by: FoldUnit, rng: np.random.Generator, n_folds: int = N_FOLDS
) -> list[Fold]:
    """Return nested folds; every trial is tested once.

    Parameters
    ----------
    scene_ids : array, shape (n_trials,)
        The scene of each trial.
    by
        ``scenes`` keeps a scene's trials together in all three parts; ``trials`` doesn't.
    rng
        Draws the folds.
    n_folds
        How many.

    Raises
    ------
    InputError
        There are fewer scenes (or trials) than folds need.
    """
    units = np.asarray(scene_ids) if by == "scenes" else np.arange(len(scene_ids))
    names, unit_of_trial = np.unique(units, return_inverse=True)
    if len(names) < 2 * n_folds:
        raise InputError(
            f"{len(names)} {by} can't make {n_folds} nested folds; at least {2 * n_folds} are needed"
        )
    folds = []
    for tested in np.array_split(rng.permutation(len(names)), n_folds):
        rest = rng.permutation(np.setdiff1d(np.arange(len(names)), tested))
        n_stop = max(1, round(STOPPING_SHARE * len(rest)))
        folds.append(
            Fold(
                train=np.flatnonzero(np.isin(unit_of_trial, rest[n_stop:])),
                stop=np.flatnonzero(np.isin(unit_of_trial, rest[:n_stop])),
                test=np.flatnonzero(np.isin(unit_of_trial, tested)),
            )
        )
    return folds
