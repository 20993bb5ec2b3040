"""How alike two sets of distances are, or two sets of directions."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import gaussian_kde

N_GRID = 512
N_SECTORS = 8
N_PERMUTATIONS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class AngleComparison:
    """How much the directions of same and different displays overlap.

    Attributes
    ----------
    overlap
        Sum over eight sectors of the smaller share, 0 to 1.
    expected_overlap
        The same, if same and different were swapped by chance within scenes.
    p
        Share of such swaps that overlap as little.
    n_pairs
        Pairs of a same and a different display of one scene and condition.
    """

    overlap: float
    expected_overlap: float
    p: float
    n_pairs: int


def compute_overlap(first: np.ndarray, second: np.ndarray) -> float:
    """Return the area under the smaller of two densities: 1 for equal ones, 0 for ones apart.

    Densities are Gaussian kernel estimates with one bandwidth for both, Scott's rule on the pooled
    values: twice as many values of one sort change nothing.

    Parameters
    ----------
    first, second : float arrays, shapes (n,), (m,)
    """
    pooled = np.concatenate([first, second])
    spread = pooled.std(ddof=1)
    if spread == 0:
        return 1.0
    bandwidth = spread * len(pooled) ** (-1 / 5)
    grid = np.linspace(pooled.min() - 4 * bandwidth, pooled.max() + 4 * bandwidth, N_GRID)
    densities = [_estimate_density(values, grid, bandwidth=bandwidth) for values in (first, second)]
    return float(np.trapezoid(np.minimum(*densities), grid))


def compare_angles(trials: pd.DataFrame, *, rng: np.random.Generator) -> AngleComparison | None:
    """Return how alike the directions to the second dots are; None without a complete pair.

    Same and different are exchangeable within a scene if the design gives nothing away, so the two
    are swapped at random to see what chance does; close and far together, since one object's two dots
    lie in one direction more often than not.

    Parameters
    ----------
    trials
        Valid under `Trials`.
    rng
        Swaps.
    """
    angle = np.arctan2(
        trials["dot2_y_px"] - trials["dot1_y_px"], trials["dot2_x_px"] - trials["dot1_x_px"]
    )
    sector = ((angle + np.pi) / (2 * np.pi) * N_SECTORS).astype(int) % N_SECTORS
    paired = (
        trials.assign(sector=sector)
        .pivot_table(
            index=["scene_id", "distance_condition"],
            columns="same_object",
            values="sector",
            aggfunc="first",
        )
        .dropna()
    )
    if not len(paired) or paired.shape[1] < 2:
        return None
    pairs = paired.to_numpy(dtype=int)
    observed = _overlap_of_sectors(pairs[None])[0]
    scenes, scene_of_pair = np.unique(paired.index.get_level_values(0), return_inverse=True)
    swaps = (rng.random((N_PERMUTATIONS, len(scenes))) < 0.5)[:, scene_of_pair]
    shuffled = np.where(swaps[..., None], pairs[:, ::-1], pairs)
    by_chance = _overlap_of_sectors(shuffled)
    return AngleComparison(
        overlap=float(observed),
        expected_overlap=float(by_chance.mean()),
        p=float((1 + (by_chance <= observed).sum()) / (N_PERMUTATIONS + 1)),
        n_pairs=len(pairs),
    )


def _estimate_density(values: np.ndarray, grid: np.ndarray, *, bandwidth: float) -> np.ndarray:
    spread = values.std(ddof=1)
    if spread == 0:
        z = (grid - values[0]) / bandwidth
        return np.exp(-(z**2) / 2) / (bandwidth * np.sqrt(2 * np.pi))
    return gaussian_kde(values, bw_method=bandwidth / spread)(grid)


def _overlap_of_sectors(pairs: np.ndarray) -> np.ndarray:
    """Overlap per set of pairs, shape (n_sets, n_pairs, 2)."""
    shares = np.stack([(pairs == sector).mean(axis=1) for sector in range(N_SECTORS)], axis=-1)
    return shares.min(axis=1).sum(axis=-1)
