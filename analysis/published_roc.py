"""The published ROC curves of the object-centric metric, averaged over trials (methods 1.5, 2023).

At each threshold TPR is the share of the object's pixels whose affinity lies above it, FPR that of all
others; the curves of trials are averaged threshold by threshold.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from stimuli.errors import TableError
from stimuli.tables import CELL_NAMES, name_cells

ROC_FILE = "published_roc.csv"
PREFIX = "dinov2_vitb14_test_14_"
REPRESENTATIONS = {"q": "queries", "k": "keys"}


def read_published_roc(
    source: Path, trials: pd.DataFrame, *, model: str, layer: str
) -> pd.DataFrame | None:
    """Return the mean published curves, over all trials and per cell; None where there are none.

    Parameters
    ----------
    source
        The folder with `published_readouts`.
    trials
        In the order of the published table, which is the order of the arrays.
    model, layer
        What the curves are of.

    Returns
    -------
    DataFrame
        model, layer, representation, condition ("all" or a cell), threshold, fpr, tpr, n_trials.

    Raises
    ------
    TableError
        An array's shape doesn't fit the trials.
    """
    parts = []
    for path in sorted((source / "published_readouts").glob(f"{PREFIX}[qk].npy")):
        curves = np.load(path, allow_pickle=False)
        if curves.ndim != 3 or curves.shape[1] != 2 or len(curves) < len(trials):
            raise TableError(
                f"{path}: array of shape {curves.shape}; expected ({len(trials)} or more trials, "
                "2, thresholds)"
            )
        table = average_curves(curves[: len(trials)], name_cells(trials).to_numpy())
        table.insert(0, "representation", REPRESENTATIONS[path.stem[-1]])
        parts.append(table)
    if not parts:
        return None
    whole = pd.concat(parts, ignore_index=True)
    whole.insert(0, "layer", layer)
    whole.insert(0, "model", model)
    return whole


def average_curves(curves: np.ndarray, cells: np.ndarray) -> pd.DataFrame:
    """Return the mean curve over all trials and over the trials of each cell.

    Parameters
    ----------
    curves : float array, shape (n_trials, 2, n_thresholds)
        TPR and FPR at thresholds that fall evenly from 1 to 0.
    cells : text array, shape (n_trials,)
        Cell of the design of each trial.
    """
    thresholds = np.linspace(1.0, 0.0, curves.shape[2])
    parts = []
    for name in ("all", *CELL_NAMES):
        chosen = curves if name == "all" else curves[cells == name]
        if len(chosen):
            tpr, fpr = chosen.mean(axis=0)
            columns = {"condition": name, "threshold": thresholds, "fpr": fpr, "tpr": tpr}
            parts.append(pd.DataFrame(columns | {"n_trials": len(chosen)}))
    return pd.concat(parts, ignore_index=True)


def integrate_roc(curves: np.ndarray) -> np.ndarray:
    """Return the area under each ROC curve by the trapezoid rule.

    Parameters
    ----------
    curves : float array, shape (n_trials, 2, n_thresholds)
        TPR and FPR at falling thresholds. The published curves stop at threshold 0, where FPR may
        still be a little below 1; the area ends there too, as published.

    Returns
    -------
    float array, shape (n_trials,)
    """
    start = np.zeros((len(curves), 1))
    tpr, fpr = (np.concatenate([start, curves[:, k]], axis=1) for k in (0, 1))
    return np.asarray(np.trapezoid(tpr, fpr, axis=1))


def measure_area(curve: pd.DataFrame) -> float:
    """Return the area under one curve of `average_curves`, as `integrate_roc` does.

    >>> measure_area(pd.DataFrame({"fpr": [0.0, 1.0], "tpr": [1.0, 1.0]}))
    1.0
    """
    return float(integrate_roc(curve[["tpr", "fpr"]].to_numpy(float).T[None])[0])
