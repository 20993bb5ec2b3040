"""The object-centric metric: how well a dot's affinity map picks out the dot's object (methods 1.5).

Headline (ours): the exact rank AUC at patch level, ties counted half, of the dot's object's patches
against all other patches. The dot's own patch (always 1) and patches that are padding only take no
part; a patch is part of the object if at least half of its image area is.

``object_auc_2023_dot2`` is the form of the published code (Adeli 2023): the map of the second dot's
patch, brought to pixels by `scipy.ndimage.zoom` of order 0, min-max scaled over the whole map
(padding and own patch included), cut at the image, 21 thresholds 1.00, 0.95 … 0.00 (strictly above),
trapezoids between these 21 points and none added.

The published forms also average the curves over trials first and take the area of the mean curve
(`model_eval.curves`).
"""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import zoom
from scipy.stats import rankdata

from model_eval.displays import DotObject
from model_eval.readouts.registry import readout
from model_eval.view import View
from stimuli.geometry import PatchGrid

PUBLISHED_THRESHOLDS = 1 - np.arange(21) / 20


@readout("object_auc_dot1", kind="ease", needs="object1", reads="maps", is_default=True)
def read_auc_of_dot1(view: View) -> np.ndarray:
    """Return the exact AUC of the first dot's map, shape (n_trials,)."""
    return apply_to_objects(view, view.maps, dot=0, compute=auc_of_object)


@readout("object_auc_dot2", kind="ease", needs="object2", reads="maps", is_default=True)
def read_auc_of_dot2(view: View) -> np.ndarray:
    """Return the exact AUC of the second dot's map, shape (n_trials,)."""
    return apply_to_objects(view, view.maps, dot=1, compute=auc_of_object)


@readout("object_auc_2023_dot2", kind="ease", needs="object2", reads="maps")
def read_published_auc(view: View) -> np.ndarray:
    """Return the AUC of the published code (2023) of the second dot's map, shape (n_trials,)."""

    def compute(values: np.ndarray, target: DotObject) -> float:
        true_rate, false_rate = compute_published_curve(view, values, target)
        return float(np.trapezoid(true_rate, false_rate))

    return apply_to_objects(view, view.maps, dot=1, compute=compute)


def auc_of_object(values: np.ndarray, target: DotObject) -> float:
    """Return the exact AUC of an affinity map, shape (n_patches,), for an object."""
    return compute_auc(values, is_object=target.is_object, is_other=target.is_other)


def compute_auc(values: np.ndarray, *, is_object: np.ndarray, is_other: np.ndarray) -> float:
    """Return the probability that an object's patch exceeds another one, ties counted half.

    Parameters
    ----------
    values : float array, shape (n_patches,)
        The affinity map.
    is_object, is_other : bool arrays, shape (n_patches,)
        Disjoint, neither empty.

    Examples
    --------
    >>> values = np.array([0.9, 0.5, 0.5, 0.1])
    >>> compute_auc(values, is_object=values > 0.6, is_other=values < 0.6)
    1.0
    """
    n_object, n_other = int(is_object.sum()), int(is_other.sum())
    ranks = rankdata(np.concatenate([values[is_object], values[is_other]]))
    return float((ranks[:n_object].sum() - n_object * (n_object + 1) / 2) / (n_object * n_other))


def compute_published_curve(view: View, values: np.ndarray, target: DotObject) -> np.ndarray:
    """Return the published ROC of one map, shape (2, 21): true and false positive rates."""
    grid, labels = view.patches.grid, view.patches.display.labels

    def count() -> tuple[np.ndarray, np.ndarray]:
        return count_zoomed_pixels(grid, np.asarray(labels == target.object_id))

    counts = view.patches.remember(("zoomed", target.object_id), count)
    return compute_published_roc(values, *counts)


def compute_published_roc(
    values: np.ndarray, object_px: np.ndarray, other_px: np.ndarray
) -> np.ndarray:
    """Return true and false positive rates at the published thresholds, shape (2, 21).

    Parameters
    ----------
    values : float array, shape (n_patches,)
        The affinity map, padding included.
    object_px, other_px : float arrays, shape (n_patches,)
        How many pixels of the object, and of the rest, each patch fills.
    """
    scaled = values - values.min()
    scaled = scaled / scaled.max()
    is_above = scaled[None, :] > PUBLISHED_THRESHOLDS[:, None]
    return np.stack([is_above @ object_px / object_px.sum(), is_above @ other_px / other_px.sum()])


def count_zoomed_pixels(grid: PatchGrid, is_inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many pixels of a region, and of the rest, take each patch's value.

    `scipy.ndimage.zoom` of order 0 maps the first and last pixel to the first and last patch, so
    that patches at the border are half as wide as the others: the published maps are not quite
    aligned with the image. Kept as it is.
    """
    rows = _zoomed_index(grid.n_rows, grid.stride_px, scale=grid.scale_y, n_px=grid.height_px)
    columns = _zoomed_index(grid.n_columns, grid.stride_px, scale=grid.scale_x, n_px=grid.width_px)
    patch = rows[:, None] * grid.n_columns + columns[None, :]
    region = np.bincount(patch[is_inside], minlength=grid.n_patches).astype(float)
    return region, np.bincount(patch.ravel(), minlength=grid.n_patches) - region


def apply_to_objects(
    view: View,
    maps: np.ndarray,
    *,
    dot: int,
    compute: Callable[[np.ndarray, DotObject], float],
) -> np.ndarray:
    """Apply a statistic to each trial's map and object; NaN where the object isn't to be had.

    Trials that share dot and object (the first dot of an image's trials) are computed once.
    """
    patches = view.patches
    found = np.full(patches.n_trials, np.nan)
    known: dict[tuple[int, int], float] = {}
    for trial, pair in enumerate(patches.objects):
        target = pair[dot]
        if isinstance(target, DotObject):
            seed = int(patches.seed_of_dot[trial, dot])
            key = (seed, target.object_id)
            if key not in known:
                known[key] = compute(maps[seed], target)
            found[trial] = known[key]
    return found


def _zoomed_index(n_cells: int, stride_px: int, *, scale: float, n_px: int) -> np.ndarray:
    """Cell of each image pixel along one side, as the zoomed map has it."""
    cells = np.asarray(zoom(np.arange(n_cells), stride_px, order=0, mode="wrap"))
    return cells[np.floor((np.arange(n_px) + 0.5) * scale).astype(int)]
