"""Steps that an object's activity needs to spread from the first dot to the second (methods 1.4).

The published form (Adeli 2023 code): affinities are the cosines of all pairs of patches, padding
included, min-max scaled over the whole matrix. The mask starts as the 4-connected component, around
the first dot's patch, of patches with an affinity above tau = 0.8 to it. Each step averages the
affinity over all patches of the mask, thresholds at tau, and adds the component that holds the start;
tau falls by 0.02 as long as it is above 0. The value is the first step, counted from 0, whose mask
covers the second dot's patch, checked before that step's growth, at most 19; 21 is never. The
published readouts used keys; use ``--dots published_rounding`` for their patches.
"""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import label

from model_eval.readouts.registry import readout
from model_eval.view import LayerView

TAU, TAU_STEP, MAX_STEPS = 0.8, 0.02, 21


@readout("spread_steps", kind="difficulty", is_costly=True)
def read_spread_steps(view: LayerView) -> np.ndarray:
    """Return the steps from the first dot to the second, shape (n_trials,)."""
    patches = view.patches
    affinity = view.remember("scaled affinity", lambda: scale_affinity(view.affinity))
    steps = np.empty(patches.n_trials)
    for start in np.unique(patches.dot_patches[:, 0]):
        is_here = patches.dot_patches[:, 0] == start
        ends = patches.dot_patches[is_here, 1]
        shape = (patches.grid.n_rows, patches.grid.n_columns)
        steps[is_here] = count_spread_steps(affinity, int(start), ends=ends, shape=shape)
    return steps


def scale_affinity(affinity: np.ndarray) -> np.ndarray:
    """Return affinities min-max scaled to 0..1 over the whole matrix."""
    scaled = affinity - affinity.min()
    return scaled / scaled.max()


def count_spread_steps(
    affinity: np.ndarray, start: int, *, ends: Sequence[int] | np.ndarray, shape: tuple[int, int]
) -> np.ndarray:
    """Return the steps from one patch to each of several others; one spread serves all.

    Parameters
    ----------
    affinity : float array, shape (n_patches, n_patches)
        Scaled to 0..1; symmetric.
    start
        Row-major patch of the first dot.
    ends
        Patches of the second dots.
    shape
        Rows and columns of the grid.

    Returns
    -------
    int array, shape (n_ends,)
        0 to 19, or 21 for never.
    """
    tau = TAU
    steps = np.full(len(ends), MAX_STEPS)
    grown = _component(affinity[:, start] > tau, start, shape)
    mask = np.zeros(len(affinity), bool)
    total = np.zeros(len(affinity), np.float64)
    for step in range(MAX_STEPS - 1):
        added = grown & ~mask
        total += affinity[:, added].sum(axis=1, dtype=np.float64)
        mask |= grown
        steps[mask[np.asarray(ends)] & (steps == MAX_STEPS)] = step
        if (steps < MAX_STEPS).all():
            break
        grown = _component(total / mask.sum() > tau, start, shape)
        if tau > 0:
            tau -= TAU_STEP
    return steps


def _component(is_above: np.ndarray, start: int, shape: tuple[int, int]) -> np.ndarray:
    """Return the 4-connected component of the start; nothing when the start itself isn't above."""
    labels = np.asarray(label(is_above.reshape(shape))[0]).ravel()  # type: ignore[index]  (a pair)
    return is_above & (labels == labels[start])
