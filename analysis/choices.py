"""What people choose, and when: d', criterion, how well RT tells same from different, shared errors.

"Same" is the signal: hits are "same" on same trials, false alarms "same" on different ones. d' =
z(H) - z(F), criterion = -(z(H) + z(F)) / 2, positive for a bias towards "different" (Macmillan &
Creelman 2005). Half a response is added to each count (log-linear; Hautus 1995), so that nobody's is
infinite.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """d' and criterion of one person in one condition; None with a reason where a type is missing."""

    d_prime: float | None
    criterion: float | None
    n_same: int
    n_different: int
    note: str | None


def compute_sensitivity(said_same: np.ndarray, is_same: np.ndarray) -> Sensitivity:
    """Return d' and criterion.

    Parameters
    ----------
    said_same, is_same : bool arrays, shape (n_responses,)
        What was answered, and what was true.

    Examples
    --------
    >>> found = compute_sensitivity(np.array([1, 1, 0, 0]) > 0, np.array([1, 1, 0, 0]) > 0)
    >>> round(found.d_prime, 3), round(found.criterion, 3)
    (1.935, 0.0)
    """
    n_same, n_different = int(is_same.sum()), int((~is_same).sum())
    if not n_same or not n_different:
        return Sensitivity(
            d_prime=None,
            criterion=None,
            n_same=n_same,
            n_different=n_different,
            note="not available: only one type of trial was answered",
        )
    hit = stats.norm.ppf((said_same[is_same].sum() + 0.5) / (n_same + 1))
    false_alarm = stats.norm.ppf((said_same[~is_same].sum() + 0.5) / (n_different + 1))
    return Sensitivity(
        d_prime=float(hit - false_alarm),
        criterion=float(-(hit + false_alarm) / 2),
        n_same=n_same,
        n_different=n_different,
        note=None,
    )


def compute_slower_auc(rt_same: np.ndarray, rt_different: np.ndarray) -> float:
    """Return the probability that a different trial is slower than a same trial, ties counting half.

    NaN where either is empty.

    >>> compute_slower_auc(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    n, m = len(rt_same), len(rt_different)
    if not n or not m:
        return float("nan")
    ranks = stats.rankdata(np.concatenate([rt_same, rt_different]))
    return float((ranks[n:].sum() - m * (m + 1) / 2) / (n * m))


def compute_error_consistency(first: np.ndarray, second: np.ndarray) -> float | None:
    """Return Cohen's kappa of two observers' errors: agreement beyond their accuracies.

    Geirhos, Meding & Wichmann (2020): observed agreement is the share of trials that both have right
    or both wrong, expected agreement p q + (1 - p) (1 - q).

    Parameters
    ----------
    first, second : bool arrays, shape (n_trials,)
        Correct or not, on the same trials.

    Returns
    -------
    float or None
        1: the same errors; 0: as many in common as their accuracies make; below 0: fewer. None where
        both always have it right (or wrong), or there is no trial: there are no errors to share.
    """
    if not len(first):
        return None
    p, q = first.mean(), second.mean()
    expected = p * q + (1 - p) * (1 - q)
    observed = (first == second).mean()
    return None if expected >= 1 else float((observed - expected) / (1 - expected))
