"""Weighted ranks and their correlations, against repeated rows and scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from analysis.rank_correlation import (
    correlate,
    correlate_partial_ranked,
    prepare_target,
    rank_weighted,
)

N = 30


def aim(people, weights=None, *, covariate=None, cells=None):
    n = np.shape(people)[-1]
    weights = np.ones((1, n)) if weights is None else weights
    covariate = np.arange(n, dtype=float) if covariate is None else covariate
    cells = np.zeros(n, dtype=int) if cells is None else cells
    return prepare_target(people, weights, covariate=covariate, cells=cells)


def partial(readout, target):
    return correlate_partial_ranked(rank_weighted(readout, target.weights), target)


def residual_oracle(x, y, covariate, cells):
    """Plain least squares on ranks, the slow way."""
    design = np.column_stack([cells[:, None] == np.unique(cells), rankdata(covariate)]).astype(
        float
    )

    def residuals(v):
        v = rankdata(v)
        return v - design @ np.linalg.lstsq(design, v, rcond=None)[0]

    return np.corrcoef(residuals(x), residuals(y))[0, 1]


def test_a_row_drawn_twice_ranks_like_two_rows():
    ranks = rank_weighted(np.array([5.0, 7.0, 6.0]), np.array([[2.0, 1.0, 0.0]]))
    assert ranks[0, :2].tolist() == [1.5, 3.0]


def test_ties_share_a_rank_for_one_order_and_for_many():
    values = np.array([1.0, 2.0, 2.0, 3.0])
    weights = np.ones((2, 4))
    expected = [1.0, 2.5, 2.5, 4.0]
    assert rank_weighted(values, weights)[1].tolist() == expected
    assert rank_weighted(np.tile(values, (2, 1)), weights)[1].tolist() == expected


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60, deadline=None)
def test_weighted_spearman_is_spearman_of_the_repeated_rows(seed, with_ties):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, N))
    if with_ties:
        x, y = np.round(x), np.round(y)
    weights = rng.multinomial(N, np.full(N, 1 / N), size=3).astype(float)
    got = correlate(x, aim(y, weights))
    for k, weight in enumerate(weights.astype(int)):
        xs, ys = np.repeat(x, weight), np.repeat(y, weight)
        expected = np.nan if np.ptp(xs) == 0 or np.ptp(ys) == 0 else spearmanr(xs, ys).statistic
        assert got[k] == pytest.approx(expected, abs=1e-10, nan_ok=True)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_partial_correlation_is_that_of_least_squares_residuals(seed):
    rng = np.random.default_rng(seed)
    x, y, covariate = rng.normal(size=(3, N))
    cells = np.arange(N) % 4
    y = y + cells + covariate
    weights = rng.multinomial(N, np.full(N, 1 / N), size=2).astype(float)
    got = partial(x, aim(y, weights, covariate=covariate, cells=cells))
    for k, weight in enumerate(weights.astype(int)):
        rows = np.repeat(np.arange(N), weight)
        expected = residual_oracle(x[rows], y[rows], covariate[rows], cells[rows])
        assert got[k] == pytest.approx(expected, abs=1e-8)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_a_rising_transformation_changes_nothing_and_a_falling_one_the_sign(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, N))
    target = aim(y)
    r = correlate(x, target)[0]
    assert correlate(np.exp(3 * x), target)[0] == pytest.approx(r)
    assert correlate(-x, target)[0] == pytest.approx(-r)
    order = rng.permutation(N)
    assert correlate(x[order], aim(y[order]))[0] == pytest.approx(r)


def test_perfect_agreement_is_one_and_perfect_disagreement_minus_one():
    y = np.array([1.0, 5.0, 3.0, 9.0])
    assert correlate(y**3, aim(y))[0] == pytest.approx(1)
    assert correlate(-y, aim(y))[0] == pytest.approx(-1)


@pytest.mark.parametrize(
    ("x", "y"),
    [(np.ones(5), np.arange(5.0)), (np.arange(5.0), np.ones(5)), (np.ones(1), np.ones(1))],
)
def test_a_constant_or_single_row_is_undefined_not_zero(x, y):
    assert np.isnan(correlate(x, aim(y))[0])


def test_a_readout_that_is_the_covariate_or_the_cell_has_nothing_left():
    rng = np.random.default_rng(1)
    y, covariate = rng.normal(size=(2, N))
    cells = np.arange(N) % 4
    target = aim(y, covariate=covariate, cells=cells)
    assert np.isnan(partial(cells.astype(float), target)[0])
    assert np.isnan(partial(covariate, target)[0])


def test_a_constant_covariate_removes_only_the_cells():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, N))
    cells = np.arange(N) % 2
    constant = partial(x, aim(y, covariate=np.ones(N), cells=cells))[0]
    assert constant == pytest.approx(residual_oracle(x, y, np.ones(N), cells))


def test_trials_without_people_carry_no_weight():
    y = np.array([1.0, np.nan, 2.0, 3.0])
    with_gap = correlate(np.array([3.0, -9.0, 1.0, 2.0]), aim(y))[0]
    without = spearmanr([3.0, 1.0, 2.0], [1.0, 2.0, 3.0]).statistic
    assert with_gap == pytest.approx(without)
