"""Positional control: the same statistics after removing what patch distance explains (ours).

Near patches are alike, in an untrained network too, and near patches tend to share an object. For each
image and layer the mean cosine of patches r apart (r rounded to whole patches) is taken off every
cosine. The means come from all pairs of at most 256 anchor patches, on an even lattice, with all
others; padding takes no part.
"""

import math

import numpy as np

from model_eval.displays import PatchDisplay
from model_eval.readouts.object_auc import apply_to_objects, auc_of_object
from model_eval.readouts.registry import readout
from model_eval.view import LayerView, as_numpy

MAX_ANCHORS = 256


@readout("cosine_beyond_distance", kind="evidence_same")
def read_cosine_beyond_distance(view: LayerView) -> np.ndarray:
    """Return the dots' cosine minus that of patches as far apart, shape (n_trials,)."""
    first, second = view.patches.seed_of_dot.T
    return residual_maps(view)[first, view.patches.seed_patches[second]].astype(float)


@readout("object_auc_beyond_distance_dot1", kind="ease", needs="object1")
def read_auc_of_dot1(view: LayerView) -> np.ndarray:
    """Return the exact AUC of the first dot's map without distance, shape (n_trials,)."""
    return apply_to_objects(view, residual_maps(view), dot=0, compute=auc_of_object)


@readout("object_auc_beyond_distance_dot2", kind="ease", needs="object2")
def read_auc_of_dot2(view: LayerView) -> np.ndarray:
    """Return the exact AUC of the second dot's map without distance, shape (n_trials,)."""
    return apply_to_objects(view, residual_maps(view), dot=1, compute=auc_of_object)


def residual_maps(view: LayerView) -> np.ndarray:
    """Return the seeds' maps minus what distance explains, shape (n_seeds, n_patches)."""

    def compute() -> np.ndarray:
        distances = measure_distances(view.patches, view.patches.seed_patches)
        return view.maps - explain_by_distance(view)[distances]

    return view.remember("residual maps", compute)


def explain_by_distance(view: LayerView) -> np.ndarray:
    """Return the mean cosine of patches 0, 1, 2 ... patches apart, shape (max_distance + 1,)."""

    def compute() -> np.ndarray:
        patches = view.patches
        anchors = choose_anchors(patches)
        cosines = as_numpy(view.unit_tokens[anchors] @ view.unit_tokens.T)
        distances = patches.remember(
            "anchor distances", lambda: measure_distances(patches, anchors)
        )
        inside = np.broadcast_to(patches.has_image, cosines.shape)
        longest = patches.grid.n_rows + patches.grid.n_columns
        counts = np.bincount(distances[inside], minlength=longest)
        sums = np.bincount(distances[inside], weights=cosines[inside], minlength=longest)
        # A distance that no anchor has is explained like the farthest one that is known.
        known = np.flatnonzero(counts)
        means = np.interp(np.arange(longest), known, sums[known] / counts[known])
        return view.check(means.astype(np.float32), "cosine similarities")

    return view.remember("explained by distance", compute)


def measure_distances(patches: PatchDisplay, origins: np.ndarray) -> np.ndarray:
    """Return whole-patch distances from some patches to all, shape (n_origins, n_patches)."""
    rows, columns = np.divmod(np.arange(patches.grid.n_patches), patches.grid.n_columns)
    down = rows[None, :] - rows[origins][:, None]
    right = columns[None, :] - columns[origins][:, None]
    return np.round(np.hypot(down, right)).astype(int)


def choose_anchors(patches: PatchDisplay) -> np.ndarray:
    """Return at most 256 patches that hold image, on an even lattice."""
    n_image = int(patches.has_image.sum())
    step = math.ceil(math.sqrt(n_image / MAX_ANCHORS))
    grid = patches.grid
    lattice = np.zeros((grid.n_rows, grid.n_columns), bool)
    lattice[step // 2 :: step, step // 2 :: step] = True
    found = np.flatnonzero(lattice.ravel() & patches.has_image)
    return found if len(found) else np.flatnonzero(patches.has_image)[:1]
