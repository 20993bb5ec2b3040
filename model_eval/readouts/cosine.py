"""How alike the two dots' patches are."""

import numpy as np

from model_eval.readouts.registry import readout
from model_eval.view import LayerView


@readout("cosine", kind="evidence_same")
def read_cosine(view: LayerView) -> np.ndarray:
    """Return the cosine of the two dots' tokens, shape (n_trials,); -1 to 1."""
    first, _ = view.patches.seed_of_dot.T
    return view.cosine_maps[first, view.patches.dot_patches[:, 1]].astype(float)
