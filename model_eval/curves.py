"""The object-centric metric as published: curves averaged over trials, then the area of the mean.

``object_auc_2026_dot1``: the central dot's map; at each threshold the true positive rate is the share
of the object's patches above it, the false positive rate that of the other patches [paper]. Thresholds
aren't stated: 201 from 1 down to -1 here; the dot's own patch and padding take no part (ours).
``object_auc_2023_dot2``: the published code's curve at pixel level and 21 thresholds of each map's own
range (`model_eval.readouts.object_auc`), averaged.

The table of readouts holds the other order, the area of each trial's curve.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from model_eval.displays import DotObject
from model_eval.readouts.object_auc import compute_published_curve
from model_eval.view import View

PAPER_THRESHOLDS = np.linspace(1, -1, 201)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A published curve: of which dot's map, and how one trial's is computed, shape (2, n)."""

    dot: int
    compute: Callable[[View, np.ndarray, DotObject], np.ndarray]


def compute_paper_curve(_view: View, values: np.ndarray, target: DotObject) -> np.ndarray:
    """Return true and false positive rates above 201 thresholds, shape (2, 201)."""
    is_above = values[None, :] > PAPER_THRESHOLDS[:, None]
    return np.stack(
        [is_above[:, part].mean(axis=1) for part in (target.is_object, target.is_other)]
    )


CURVES = {
    "object_auc_2026_dot1": Curve(dot=0, compute=compute_paper_curve),
    "object_auc_2023_dot2": Curve(dot=1, compute=compute_published_curve),
}
