"""A straight line through points, with the confidence band of its mean.

Ordinary least squares with normal errors: slope b = Sxy / Sxx, residual variance
s² = SSE / (n - 2), and for the mean at x0 the 95 % interval
a + b x0 ± t(.975, n - 2) s sqrt(1/n + (x0 - mean x)² / Sxx) (Draper & Smith 1998, eq. 1.4.6). Beside
it stands Spearman's r of the points, which is what the source reports (methods 1.5). The points are
models, not a random sample of models: the band describes the line, it doesn't generalise.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student_t

MIN_POINTS = 3
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A fitted line; `note` says why there is none, then the numbers are None.

    Attributes
    ----------
    slope, slope_low, slope_high
        Change of y per unit of x, with its 95 % interval.
    intercept
        y at x = 0.
    spearman_r
        Of the points.
    residual_sd
        Of y around the line, n - 2 degrees of freedom.
    x_mean, x_squares
        Mean of x and sum of its squared deviations.
    n
        Points.
    """

    n: int
    slope: float | None = None
    slope_low: float | None = None
    slope_high: float | None = None
    intercept: float | None = None
    spearman_r: float | None = None
    residual_sd: float | None = None
    x_mean: float | None = None
    x_squares: float | None = None
    note: str | None = None


def fit_line(x: np.ndarray, y: np.ndarray) -> Line:
    """Return the least-squares line of y on x.

    Parameters
    ----------
    x, y : float arrays, shape (n,)
        Finite.

    Examples
    --------
    >>> line = fit_line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    >>> line.slope, line.intercept, line.spearman_r
    (2.0, 1.0, 1.0)
    """
    n = len(x)
    if n < MIN_POINTS:
        return Line(n=n, note=f"no line: {n} points, at least {MIN_POINTS} needed")
    for name, values in (("x", x), ("y", y)):
        if np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
            return Line(n=n, note=f"no line: all points have the same {name}")
    x_mean, deviations = float(x.mean()), x - x.mean()
    x_squares = float(deviations @ deviations)
    slope = float(deviations @ (y - y.mean())) / x_squares
    intercept = float(y.mean()) - slope * x_mean
    residuals = y - intercept - slope * x
    residual_sd = float(np.sqrt(residuals @ residuals / (n - 2)))
    half_width = _t_quantile(n) * residual_sd / np.sqrt(x_squares)
    return Line(
        n=n,
        slope=slope,
        slope_low=float(slope - half_width),
        slope_high=float(slope + half_width),
        intercept=intercept,
        spearman_r=_spearman(x, y),
        residual_sd=residual_sd,
        x_mean=x_mean,
        x_squares=x_squares,
    )


def predict_band(line: Line, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the line at `x`, and the lower and upper end of the mean's 95 % interval there.

    Parameters
    ----------
    line
        One that was fitted (no `note`).
    x : float array, shape (n,)

    Returns
    -------
    three float arrays, shape (n,)
    """
    assert line.slope is not None
    assert line.intercept is not None
    assert line.residual_sd is not None
    assert line.x_mean is not None
    assert line.x_squares is not None
    mean = line.intercept + line.slope * x
    spread = np.sqrt(1 / line.n + (x - line.x_mean) ** 2 / line.x_squares)
    half_width = _t_quantile(line.n) * line.residual_sd * spread
    return mean, mean - half_width, mean + half_width


def _t_quantile(n: int) -> float:
    return float(student_t.ppf((1 + CONFIDENCE) / 2, n - 2))


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
