"""Logistic regression for cheats: ridge-penalised, cross-validated by scene, judged by AUC.

The smallest classifier that does: features are standardised on the training scenes, weights are found
by Newton's method (iteratively reweighted least squares) with a ridge of one prior observation per
weight, and every trial is predicted by a fit that never saw its scene.
"""

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata

N_FOLDS = 10
N_REPEATS = 5
N_ITERATIONS = 30
RIDGE = 1.0


def fit_logistic(features: np.ndarray, is_positive: np.ndarray, *, ridge: float) -> np.ndarray:
    """Return weights that maximise the likelihood minus ridge / 2 times their squares.

    Parameters
    ----------
    features : float array, shape (n_rows, n_features)
        Standardised.
    is_positive : bool array, shape (n_rows,)
        The answers.
    ridge
        Penalty; the intercept has none.

    Returns
    -------
    float array, shape (n_features + 1,)
        The intercept comes first.
    """
    design = np.column_stack([np.ones(len(features)), features])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 1e-9
    weights = np.zeros(design.shape[1])
    for _ in range(N_ITERATIONS):
        predicted = expit(design @ weights)
        slope = design.T @ (is_positive - predicted) - penalty * weights
        curvature = (design * (predicted * (1 - predicted))[:, None]).T @ design
        step = np.linalg.solve(curvature + np.diag(penalty), slope)
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def predict_held_out(
    features: np.ndarray,
    is_positive: np.ndarray,
    groups: np.ndarray,
    *,
    rng: np.random.Generator,
    n_folds: int = N_FOLDS,
) -> np.ndarray:
    """Return each row's log odds from fits to other groups' rows, averaged over several deals.

    Parameters
    ----------
    features : float array, shape (n_rows, n_features)
    is_positive : bool array, shape (n_rows,)
    groups : array, shape (n_rows,)
        Rows of one group are held out together.
    rng
        Deals groups to folds.
    n_folds
        At most as many as there are groups.
    """
    names, members = np.unique(groups, return_inverse=True)
    n_folds = min(n_folds, len(names))
    deals = [rng.permutation(len(names))[members] % n_folds for _ in range(N_REPEATS)]
    return np.mean([_predict_folds(features, is_positive, folds) for folds in deals], axis=0)


def _predict_folds(features: np.ndarray, is_positive: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Return each row's log odds from the fit to the other folds."""
    log_odds = np.empty(len(features))
    for fold in range(int(folds.max()) + 1):
        test = folds == fold
        mean = features[~test].mean(axis=0)
        spread = features[~test].std(axis=0)
        scaled = (features - mean) / np.where(spread > 0, spread, 1.0)
        weights = fit_logistic(scaled[~test], is_positive[~test], ridge=RIDGE)
        log_odds[test] = weights[0] + scaled[test] @ weights[1:]
    return log_odds


def compute_auc(evidence: np.ndarray, is_positive: np.ndarray) -> float:
    """Return the chance that a positive has more evidence than a negative; ties count half.

    Missing (NaN) when one of the two is absent.

    >>> compute_auc(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]))
    0.875
    """
    n_positive = int(is_positive.sum())
    n_negative = len(is_positive) - n_positive
    if not n_positive or not n_negative:
        return float("nan")
    above = rankdata(evidence)[is_positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * n_negative))


def compute_weighted_aucs(
    evidence: np.ndarray, is_positive: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return the AUC under each set of weights of the rows; NaN where a kind has no weight.

    Parameters
    ----------
    evidence : float array, shape (n_rows,)
    is_positive : bool array, shape (n_rows,)
    weights : array, shape (n_sets, n_rows)
        How often each row counts.

    Returns
    -------
    float array, shape (n_sets,)
    """
    order = np.argsort(evidence, kind="stable")
    _, starts = np.unique(evidence[order], return_index=True)
    sorted_weights, sorted_positive = weights[:, order].astype(float), is_positive[order]
    # Per run of tied evidence: the weight of positives, and of negatives below plus half the tied.
    positive = np.add.reduceat(sorted_weights * sorted_positive, starts, axis=1)
    negative = np.add.reduceat(sorted_weights * ~sorted_positive, starts, axis=1)
    beaten = negative.cumsum(axis=1) - negative / 2
    n_pairs = positive.sum(axis=1) * negative.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return (positive * beaten).sum(axis=1) / n_pairs
