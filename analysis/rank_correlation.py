"""Spearman correlations of many weighted draws at once.

A bootstrap draw is a set of weights: how often each trial was drawn. The Spearman correlation of the
drawn rows equals the weighted Pearson correlation of weighted mid-ranks, so that a thousand draws
are a few array operations instead of a thousand sorted tables. Arrays of draws have the shape
(n_draws, n_trials); n_draws may be 1 and is then broadcast.
"""

from dataclasses import dataclass

import numpy as np

# Below this share of n^3 a sum of squared ranks of n rows is rounding, not spread.
NEGLIGIBLE = 1e-10


def rank_weighted(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weighted mid-ranks: the rank that each value has when each row occurs `weights` times.

    Parameters
    ----------
    values : float array, shape (n_trials,) or (n_draws, n_trials)
        Rows with weight 0 may hold NaN.
    weights : float array, shape (n_draws, n_trials)
        How often each row was drawn.

    Returns
    -------
    float array, shape (n_draws, n_trials)
        Mid-rank of each value; ties share one. Meaningless, but finite, where the weight is 0.

    Examples
    --------
    >>> rank_weighted(np.array([5.0, 7.0, 6.0]), np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 1.0]]))
    array([[1.5, 3. , 2.5],
           [1. , 3. , 2. ]])
    """
    if values.ndim == 1:
        return _rank_fixed_order(values, weights)
    values, weights = np.broadcast_arrays(values, weights)
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    above = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    below = above - np.take_along_axis(weights, order, axis=1)
    starts = np.ones(ordered.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    ends = np.ones(ordered.shape, dtype=bool)
    ends[:, :-1] = starts[:, 1:]
    first = np.maximum.accumulate(np.where(starts, below, 0.0), axis=1)
    last = np.minimum.accumulate(np.where(ends, above, np.inf)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(first)
    np.put_along_axis(ranks, order, (first + last + 1) / 2, axis=1)
    return ranks


def _rank_fixed_order(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Rank one vector under many weights: it is sorted once."""
    order = np.argsort(values)
    ordered = values[order]
    is_start = np.r_[True, ordered[1:] != ordered[:-1]]
    group = np.cumsum(is_start) - 1
    last_of_group = np.flatnonzero(np.r_[is_start[1:], True])
    above = np.cumsum(weights[:, order], axis=1)[:, last_of_group]
    below = np.concatenate([np.zeros((len(weights), 1)), above[:, :-1]], axis=1)
    middle = (below + above + 1) / 2
    rank_of_row = np.empty(len(values), dtype=int)
    rank_of_row[order] = group
    return middle[:, rank_of_row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What readouts are correlated with: people's mean RTs in many draws, prepared once.

    Ranks of people and of the covariate don't depend on the readout. With them centred and
    weighted beforehand, a readout costs one ranking and a few sums of products.

    Attributes
    ----------
    weights : float array, shape (n_draws, n_trials)
        How often each row was drawn; 0 where people have no mean.
    people, people_left : float arrays, shape (n_draws, n_trials)
        Weighted, centred ranks of people, and what is left of them when the design is removed.
    covariate : float array, shape (n_draws, n_trials)
        Weighted ranks of the covariate, the cells' means removed.
    people_ss, people_left_ss, covariate_ss : float arrays, shape (n_draws,)
        Their weighted sums of squares; NaN where there is no spread.
    one_hot : float array, shape (n_trials, n_cells)
        The cell of the design that each trial belongs to.
    """

    weights: np.ndarray
    people: np.ndarray
    people_left: np.ndarray
    covariate: np.ndarray
    people_ss: np.ndarray
    people_left_ss: np.ndarray
    covariate_ss: np.ndarray
    one_hot: np.ndarray


def prepare_target(
    people: np.ndarray, weights: np.ndarray, *, covariate: np.ndarray, cells: np.ndarray
) -> Target:
    """Return the people's side of a Spearman and of a partial Spearman correlation.

    Parameters
    ----------
    people : float array, shape (n_trials,) or (n_draws, n_trials)
        Mean RT of each trial; NaN rows get weight 0.
    weights : float array, shape (n_draws, n_trials)
        How often each row was drawn.
    covariate : float array, shape (n_trials,)
        Removed, by its ranks, from the partial correlation (the dots' distance).
    cells : int array, shape (n_trials,)
        Cell of the design, counted from 0; its means are removed from the partial correlation.
    """
    weights = np.where(np.isfinite(people), weights, 0.0)
    one_hot = (cells[:, None] == np.arange(cells.max(initial=0) + 1)).astype(float)
    ranks = rank_weighted(np.where(np.isfinite(people), people, 0.0), weights)
    total = _not_zero(weights.sum(axis=1, keepdims=True))
    centred = ranks - (weights * ranks).sum(axis=1, keepdims=True) / total
    within = _remove_cells(ranks, weights, one_hot)
    distance = _remove_cells(rank_weighted(covariate, weights), weights, one_hot)
    distance_ss = _sum_of_squares(distance, weights)
    # A constant covariate (NaN sum of squares) removes nothing.
    slope = np.nan_to_num((weights * within * distance).sum(axis=1) / distance_ss)
    left = within - slope[:, None] * distance
    return Target(
        weights=weights,
        people=weights * centred,
        people_left=weights * left,
        covariate=weights * distance,
        people_ss=_sum_of_squares(centred, weights),
        people_left_ss=_sum_of_squares(left, weights),
        covariate_ss=distance_ss,
        one_hot=one_hot,
    )


def correlate(readout: np.ndarray, target: Target) -> np.ndarray:
    """Return each draw's Spearman correlation of a readout with people.

    Parameters
    ----------
    readout : float array, shape (n_trials,) or (n_draws, n_trials)
        Predicted difficulty.
    target
        From `prepare_target`, on the same trials.

    Returns
    -------
    float array, shape (n_draws,)
        NaN where either side is constant, or fewer than two rows carry weight.
    """
    x = rank_weighted(readout, target.weights)
    return correlate_ranked(x, target)


def correlate_ranked(x: np.ndarray, target: Target) -> np.ndarray:
    """Return `correlate` for a readout that is already ranked under the target's weights."""
    total = target.weights.sum(axis=1)
    squares = np.einsum("bt,bt,bt->b", target.weights, x, x)
    x_ss = squares - np.einsum("bt,bt->b", target.weights, x) ** 2 / _not_zero(total)
    products = np.einsum("bt,bt->b", x, target.people)
    return products / np.sqrt(_blank_negligible(x_ss, total) * target.people_ss)


def correlate_partial_ranked(x: np.ndarray, target: Target) -> np.ndarray:
    """Return each draw's partial Spearman correlation: cell of the design and covariate removed.

    Least squares of ranks on indicator variables of the cells and the ranked covariate (rank
    regression, Conover & Iman 1981), rows weighted by how often they were drawn; the residuals'
    correlation. By Frisch, Waugh and Lovell only people's side needs residuals in the product.

    Parameters
    ----------
    x : float array, shape (n_draws, n_trials)
        Readout, ranked under the target's weights.
    target
        From `prepare_target`.

    Returns
    -------
    float array, shape (n_draws,)
        NaN where nothing of the readout or of people is left.
    """
    total = target.weights.sum(axis=1)
    per_cell = _not_zero(target.weights @ target.one_hot)
    weighted = target.weights * x
    x_ss = np.einsum("bt,bt->b", weighted, x) - ((weighted @ target.one_hot) ** 2 / per_cell).sum(1)
    shared = np.einsum("bt,bt->b", x, target.covariate) ** 2 / target.covariate_ss
    x_left_ss = _blank_negligible(x_ss - np.nan_to_num(shared), total)
    products = np.einsum("bt,bt->b", x, target.people_left)
    return products / np.sqrt(x_left_ss * target.people_left_ss)


def _remove_cells(values: np.ndarray, weights: np.ndarray, one_hot: np.ndarray) -> np.ndarray:
    """Subtract each cell's weighted mean."""
    means = (weights * values) @ one_hot / _not_zero(weights @ one_hot)
    return values - means @ one_hot.T


def _sum_of_squares(centred: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return _blank_negligible((weights * centred**2).sum(axis=1), weights.sum(axis=1))


def _blank_negligible(sum_of_squares: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return NaN where a sum of squared ranks is rounding: ranks of n rows sum up to about n^3/12."""
    return np.where(sum_of_squares > NEGLIGIBLE * total**3, sum_of_squares, np.nan)


def _not_zero(total: np.ndarray) -> np.ndarray:
    """Return totals with 1 for 0: a group without weight has a sum of 0 to divide."""
    return np.where(total > 0, total, 1.0)
