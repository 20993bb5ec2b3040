"""The best layer, chosen on some scenes and scored on the others.

The best of 24 layers of pure noise correlates with anything. So the layer is chosen by the headline
metric on a random half of the scenes and scored on the other half, both ways, for many random halves;
the mean is the cross-fitted score. Beside it stands the naive one, chosen and scored on the same
scenes, and their difference, the optimism.
"""

from dataclasses import dataclass

import numpy as np

from analysis.metrics import HEADLINE_METRIC, SUBSETS, Subset, correlate_subset
from analysis.rows import Rows, aim_at
from stimuli.errors import InputError

MIN_SCENES = 4
HEADLINE_SUBSET: Subset = next(one for one in SUBSETS if HEADLINE_METRIC in one.metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestLayer:
    """A best layer and its score, honestly and naively.

    Attributes
    ----------
    cross_fitted_r
        Mean over random halves of the scenes: chosen on one half, scored on the other.
    cross_fitted_sd
        Spread over random halves (not a standard error over people and scenes).
    naive_layer, naive_r
        The best on all scenes, scored on the same.
    chosen_share
        By layer: how often the halves chose it.
    """

    cross_fitted_r: float
    cross_fitted_sd: float
    naive_layer: str
    naive_r: float
    chosen_share: dict[str, float]
    n_layers: int
    n_scenes: int

    @property
    def optimism(self) -> float:
        """What choosing on the scored scenes adds."""
        return self.naive_r - self.cross_fitted_r


def find_best_layer(
    difficulty: dict[str, np.ndarray], rows: Rows, *, rng: np.random.Generator, n_halves: int = 50
) -> BestLayer:
    """Return the best layer's cross-fitted and naive score under the headline metric.

    Parameters
    ----------
    difficulty : dict of float arrays, shape (n_trials,)
        Predicted difficulty by layer, on the trials of `rows`.
    rows
        Trials and people.
    rng
        Deals scenes into halves.
    n_halves
        How often.

    Raises
    ------
    InputError
        No layer, fewer than four scenes, or no layer with a headline value.
    """
    if not difficulty:
        raise InputError("no layer to choose from; evaluate with --layers all")
    if rows.n_scenes < MIN_SCENES:
        raise InputError(f"too few scenes: {rows.n_scenes}, choosing needs at least {MIN_SCENES}")
    names = list(difficulty)
    scene_halves = rng.permuted(np.tile(np.arange(rows.n_scenes), (n_halves, 1)), axis=1)
    first = (scene_halves < rows.n_scenes // 2)[:, rows.scenes].astype(float)
    weights = np.concatenate([np.ones((1, len(rows.scenes))), first, 1 - first])
    target = aim_at(rows, rows.mean_rt_s, weights)
    r = np.array(
        [
            correlate_subset(HEADLINE_SUBSET, values, target)[HEADLINE_METRIC]
            for values in difficulty.values()
        ]
    )
    if not np.isfinite(r[:, 0]).any():
        raise InputError("no layer has a headline value: all are constant, or condition alone")
    chosen_on, scored_on = r[:, 1:], np.roll(r[:, 1:], n_halves, axis=1)
    choice = np.argmax(np.where(np.isfinite(chosen_on), chosen_on, -np.inf), axis=0)
    scored = scored_on[choice, np.arange(len(choice))]
    by_half = np.nanmean(scored.reshape(2, n_halves), axis=0)
    best = int(np.nanargmax(r[:, 0]))
    return BestLayer(
        cross_fitted_r=float(np.nanmean(by_half)),
        cross_fitted_sd=float(np.nanstd(by_half)),
        naive_layer=names[best],
        naive_r=float(r[best, 0]),
        chosen_share={name: float(np.mean(choice == k)) for k, name in enumerate(names)},
        n_layers=len(names),
        n_scenes=rows.n_scenes,
    )
