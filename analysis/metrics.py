"""The metrics: which trials they use and what they remove. Each is a Spearman correlation r.

========== ================= ==================================================================
name       trials            what
========== ================= ==================================================================
partial    all               headline: condition (same x far) and distance removed by ranks
all        all               with the mean RT of all people
same       same object       within the same trials
different  different objects within the different trials
published  all               with the mean RT of a half of people, averaged over halves (2026)
========== ================= ==================================================================
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.rank_correlation import (
    Target,
    correlate_partial_ranked,
    correlate_ranked,
    rank_weighted,
)
from analysis.rows import Rows

MetricName = Literal["partial", "all", "same", "different", "published"]

# Raised whenever a change moves any score; the leaderboard refuses to mix versions.
METRIC_VERSION = "1"
HEADLINE_METRIC: MetricName = "partial"
# What the board divides by: the bound of a model of the mean RT (docs/decisions/0004).
HEADLINE_CEILING = "attainable_r"

# 1.6 [paper] splits people 20 times; 1000 splits estimate the same mean with a seventh of the noise.
N_HALVES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """Metrics that share trials, and so share ranks."""

    metrics: tuple[MetricName, ...]
    trials: Literal["all", "same", "different"]


# All metrics but the published one, which correlates with halves of people.
SUBSETS = (
    Subset(metrics=("partial", "all"), trials="all"),
    Subset(metrics=("same",), trials="same"),
    Subset(metrics=("different",), trials="different"),
)


def find_trials(rows: Rows, trials: str) -> np.ndarray:
    """Return which of the rows a subset uses, bool, shape (n_trials,)."""
    if trials == "same":
        return rows.is_same
    return ~rows.is_same if trials == "different" else np.ones(len(rows.is_same), dtype=bool)


def correlate_subset(
    subset: Subset, readout: np.ndarray, target: Target
) -> dict[MetricName, np.ndarray]:
    """Return each draw's value of each metric of the subset.

    Parameters
    ----------
    subset
        Which metrics.
    readout : float array, shape (n_trials,) or (n_draws, n_trials)
        Predicted difficulty of the subset's trials.
    target
        People, on the same trials.
    """
    ranks = rank_weighted(readout, target.weights)
    return {
        name: correlate_partial_ranked(ranks, target)
        if name == "partial"
        else correlate_ranked(ranks, target)
        for name in subset.metrics
    }


def signed_difficulty(values: np.ndarray, *, kind: str, is_same: np.ndarray) -> np.ndarray:
    """Return a readout as predicted difficulty: larger predicts slower.

    Evidence for "same" is standardised within each type of trial and then signed: high evidence is
    easy on same trials and hard on different ones. The constants of the standardisation are those of
    the scored rows, so they belong to the score's definition and do not vary over bootstrap draws.

    Parameters
    ----------
    values : float array, shape (n_trials,)
        The readout.
    kind
        "evidence_same", "difficulty" or "ease" (`model_eval.tables.KINDS`).
    is_same : bool array, shape (n_trials,)
        Type of each trial.

    Returns
    -------
    float array, shape (n_trials,)
        Within a type of trial that is constant, zeros: no evidence either way.

    Examples
    --------
    >>> same = np.array([True, True, False, False])
    >>> signed_difficulty(np.array([0.2, 0.8, 0.1, 0.5]), kind="evidence_same", is_same=same)
    array([ 1., -1., -1.,  1.])
    """
    if kind != "evidence_same":
        return -values if kind == "ease" else values.astype(float)
    difficulty = np.empty(len(values))
    for is_type, sign in ((is_same, -1.0), (~is_same, 1.0)):
        part = values[is_type]
        spread = part.std() if len(part) else 0.0
        is_spread = spread > 1e-12 * max(1.0, float(np.abs(part).max(initial=0.0)))
        difficulty[is_type] = sign * (part - part.mean()) / spread if is_spread else 0.0
    return difficulty
