"""Spread without parameters: the best path of like patches from one dot to the other (ours).

From a dot's affinity map: the largest t for which both dots' patches are joined by 4-neighbour
patches that all have an affinity of at least t to that dot. High where an unbroken region like the dot
leads to the other dot, however far it is; a far patch that is alike but cut off doesn't count. Padding
takes no part.
"""

import numpy as np
from scipy.ndimage import label

from model_eval.readouts.registry import readout
from model_eval.view import View

# 4-neighbours within a map, none between maps.
_NEIGHBOURS = np.zeros((3, 3, 3), int)
_NEIGHBOURS[1] = [[0, 1, 0], [1, 1, 1], [0, 1, 0]]


@readout("widest_path_dot1", kind="evidence_same", reads="maps")
def read_widest_path_from_dot1(view: View) -> np.ndarray:
    """Return the widest path in the first dot's map, shape (n_trials,)."""
    return _both_ways(view)[0]


@readout("widest_path_dot2", kind="evidence_same", reads="maps")
def read_widest_path_from_dot2(view: View) -> np.ndarray:
    """Return the widest path in the second dot's map, shape (n_trials,)."""
    return _both_ways(view)[1]


@readout("widest_path", kind="evidence_same", reads="maps")
def read_widest_path(view: View) -> np.ndarray:
    """Return the wider of both: joined from either dot; shape (n_trials,)."""
    return _both_ways(view).max(axis=0)


def find_widest_paths(maps: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return of each map the largest t that joins its start and end.

    All maps are searched at once by bisection over their sorted values, so the answer is exact.

    Parameters
    ----------
    maps : float array, shape (n_maps, n_rows, n_columns)
        Affinities; minus infinity where no path may go.
    starts, ends : int arrays, shape (n_maps,)
        Row-major patches.

    Returns
    -------
    float array, shape (n_maps,)
        Minus infinity where no path joins them.

    Examples
    --------
    >>> maps = np.array([[[1.0, 0.2, 0.9], [0.5, 0.6, 0.7]]])
    >>> find_widest_paths(maps, np.array([0]), np.array([2]))
    array([0.5])
    """
    flat = maps.reshape(len(maps), -1)
    order = np.sort(flat, axis=1)
    each = np.arange(len(maps))
    # order[:, low] always joins (or is the minimum); order[:, high] never does.
    low = np.zeros(len(maps), int)
    high = np.full(len(maps), flat.shape[1])
    while (high - low > 1).any():
        middle = (low + high) // 2
        is_open = maps >= order[each, middle][:, None, None]
        labels = np.empty(maps.shape, np.int32)
        label(is_open, _NEIGHBOURS, output=labels)
        flat_labels = labels.reshape(len(maps), -1)
        first, last = flat_labels[each, starts], flat_labels[each, ends]
        joined = (first == last) & (first > 0)
        is_active = high - low > 1
        low = np.where(is_active & joined, middle, low)
        high = np.where(is_active & ~joined, middle, high)
    return order[each, low]


def _both_ways(view: View) -> np.ndarray:
    """Widest paths from the first and from the second dot, shape (2, n_trials)."""

    def compute() -> np.ndarray:
        patches = view.patches
        seeds = patches.seed_of_dot.T.ravel()
        ends = patches.dot_patches[:, ::-1].T.ravel()
        pairs, index = np.unique(np.stack([seeds, ends]), axis=1, return_inverse=True)
        maps = np.where(patches.has_image, view.maps, -np.inf)[pairs[0]]
        grid = (len(maps), patches.grid.n_rows, patches.grid.n_columns)
        found = find_widest_paths(maps.reshape(grid), patches.seed_patches[pairs[0]], pairs[1])
        return found[index.ravel()].reshape(2, -1).astype(float)

    return view.remember("widest paths", compute)
