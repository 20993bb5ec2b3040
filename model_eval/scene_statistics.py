"""Per scene: how much more alike patches of one object are than patches of two.

Over all labelled objects. With unit vectors x of the patches that lie at least half on a labelled object, over all pairs of two
different patches (ours):

mean_within, mean_between
    mean cosine of pairs on one object, and on two. From sums of vectors, in linear time:
    sum over pairs of x_i.x_j = (|sum x|^2 - sum |x|^2) / 2.
object_dprime
    (mean_within - mean_between) / sqrt((var_within + var_between) / 2). The variances need the sums
    of squared cosines, |sum x x^T|^2 (Frobenius), still linear in the number of patches.
object_auc
    probability that a pair on one object is more alike than a pair on two, ties counted half; needs
    all pairs.
..._beyond_distance
    the same after the mean cosine of patches as far apart is taken off (`readouts.beyond_distance`);
    need all pairs.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from model_eval.readouts.beyond_distance import explain_by_distance, measure_distances
from model_eval.view import LayerView, as_numpy

STATISTICS = ("mean_within", "mean_between", "object_dprime")
PAIR_STATISTICS = ("object_auc", "object_dprime_beyond_distance", "object_auc_beyond_distance")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMoments:
    """Number, sum and sum of squares of the cosines of a set of pairs."""

    count: float
    total: float
    squares: float

    @property
    def mean(self) -> float:
        """Mean cosine."""
        return self.total / self.count

    @property
    def variance(self) -> float:
        """Variance of the cosines, over the pairs as they are."""
        return self.squares / self.count - self.mean**2


def describe_scene(view: LayerView, *, with_pairs: bool) -> dict[str, float]:
    """Return a scene's statistics by name; empty where it has no two objects with two patches.

    Parameters
    ----------
    view
        One feature of one image.
    with_pairs
        Also those that need all pairs: time and memory grow with the square of the patches.
    """
    labels = view.patches.patch_labels
    is_used = labels > 0
    tokens, labels = view.unit_tokens[is_used], labels[is_used]
    if len(np.unique(labels)) < 2 or np.bincount(labels).max() < 2:
        return {}
    within, between = sum_pairs(as_numpy(tokens), labels)
    found = {
        "mean_within": within.mean,
        "mean_between": between.mean,
        "object_dprime": compute_dprime(within, between),
    }
    return found | (_describe_pairs(view, is_used, labels) if with_pairs else {})


def sum_pairs(tokens: np.ndarray, labels: np.ndarray) -> tuple[PairMoments, PairMoments]:
    """Return the moments of cosines within objects and between them, in linear time.

    Parameters
    ----------
    tokens : float array, shape (n_patches, n_dims)
        Of length 1 (or 0).
    labels : int array, shape (n_patches,)
        Object of each.
    """
    tokens = tokens.astype(np.float64)
    lengths = (tokens**2).sum(axis=1)
    own = PairMoments(count=len(tokens), total=lengths.sum(), squares=(lengths**2).sum())
    everything = _sum_all(tokens)
    parts = [_sum_all(tokens[labels == number]) for number in np.unique(labels)]
    within = PairMoments(
        count=sum(part.count for part in parts),
        total=sum(part.total for part in parts),
        squares=sum(part.squares for part in parts),
    )
    return _half(within, own), _half(everything, within)


def compute_dprime(within: PairMoments, between: PairMoments) -> float:
    """Return the difference of the means in units of the pooled SD."""
    pooled = (within.variance + between.variance) / 2
    return float((within.mean - between.mean) / np.sqrt(pooled))


def _sum_all(tokens: np.ndarray) -> PairMoments:
    """Moments of all ordered pairs, each patch with itself included."""
    summed = tokens.sum(axis=0)
    # |X X^T| and |X^T X| are equal; the smaller one is computed.
    gram = tokens @ tokens.T if len(tokens) < tokens.shape[1] else tokens.T @ tokens
    return PairMoments(
        count=len(tokens) ** 2, total=float(summed @ summed), squares=float((gram**2).sum())
    )


def _half(larger: PairMoments, smaller: PairMoments) -> PairMoments:
    """Moments of unordered pairs in the larger set but not in the smaller one."""
    return PairMoments(
        count=(larger.count - smaller.count) / 2,
        total=(larger.total - smaller.total) / 2,
        squares=(larger.squares - smaller.squares) / 2,
    )


def _describe_pairs(view: LayerView, is_used: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Statistics that need every pair."""
    first, second = np.triu_indices(len(labels), k=1)
    is_within = labels[first] == labels[second]
    places = np.flatnonzero(is_used)
    cosines = view.affinity[np.ix_(places, places)][first, second]
    distances = measure_distances(view.patches, places)[:, places][first, second]
    residuals = cosines - explain_by_distance(view)[distances]
    pair = (_moments(residuals[is_within]), _moments(residuals[~is_within]))
    return {
        "object_auc": _auc(cosines, is_within),
        "object_dprime_beyond_distance": compute_dprime(*pair),
        "object_auc_beyond_distance": _auc(residuals, is_within),
    }


def _moments(values: np.ndarray) -> PairMoments:
    values = values.astype(np.float64)
    return PairMoments(count=len(values), total=values.sum(), squares=(values**2).sum())


def _auc(values: np.ndarray, is_within: np.ndarray) -> float:
    ranks, n_within = rankdata(values), int(is_within.sum())
    pairs = n_within * (len(values) - n_within)
    return float((ranks[is_within].sum() - n_within * (n_within + 1) / 2) / pairs)
