"""EZ-diffusion: drift, boundary and non-decision time from accuracy and correct RTs.

Wagenmakers, van der Maas & Grasman (2007), equations 5-9, with the noise set to 1 per square root of a
second as in `experiment.diffusion` (their s = .1): boundary distance a, start midway. Accuracy of
exactly 1 or 1/2 has no solution; 1 is drawn in by half an error, as they propose, and says so.
"""

from dataclasses import dataclass

import numpy as np

from stimuli.errors import InputError

MIN_RESPONSES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EzFit:
    """Parameters of a drift-diffusion process.

    Attributes
    ----------
    drift
        Evidence per second, negative where accuracy is below chance.
    threshold
        Distance between the bounds.
    non_decision_s
        Seconds.
    note
        What had to be corrected.
    """

    drift: float
    threshold: float
    non_decision_s: float
    n_responses: int
    note: str | None


def solve_ez(*, accuracy: float, rt_variance: float, rt_mean_s: float) -> tuple[float, ...]:
    """Return drift, threshold and non-decision time of exact moments.

    Parameters
    ----------
    accuracy
        Share correct, neither 0, 1/2 nor 1.
    rt_variance, rt_mean_s
        Of correct RTs, in square seconds and seconds.

    Examples
    --------
    >>> [round(x, 3) for x in solve_ez(accuracy=0.802, rt_variance=0.112, rt_mean_s=0.723)]
    [0.999, 1.4, 0.3]
    """
    logit = np.log(accuracy / (1 - accuracy))
    x = logit * (logit * accuracy**2 - logit * accuracy + accuracy - 0.5) / rt_variance
    drift = np.sign(accuracy - 0.5) * x**0.25
    threshold = logit / drift
    y = -drift * threshold
    mean_decision = threshold / (2 * drift) * (1 - np.exp(y)) / (1 + np.exp(y))
    return float(drift), float(threshold), float(rt_mean_s - mean_decision)


def fit_ez(is_correct: np.ndarray, rt_s: np.ndarray) -> EzFit:
    """Return the EZ parameters of a set of responses.

    Parameters
    ----------
    is_correct : bool array, shape (n_responses,)
        Right or wrong.
    rt_s : float array, shape (n_responses,)
        Seconds.

    Raises
    ------
    InputError
        Too few responses, accuracy at chance or 0, or correct RTs without spread.
    """
    n = len(is_correct)
    if n < MIN_RESPONSES:
        raise InputError(f"EZ-diffusion: {n} responses, at least {MIN_RESPONSES} needed")
    accuracy, note = float(is_correct.mean()), None
    if accuracy == 1:
        accuracy, note = 1 - 1 / (2 * n), "no errors: accuracy drawn in by half an error"
    if accuracy in {0.0, 0.5}:
        raise InputError(f"EZ-diffusion: accuracy {accuracy:g} has no solution")
    correct = rt_s[is_correct]
    variance = float(np.var(correct, ddof=1)) if len(correct) > 1 else 0.0
    if not variance > 0:
        raise InputError("EZ-diffusion: correct RTs don't vary")
    drift, threshold, non_decision_s = solve_ez(
        accuracy=accuracy, rt_variance=variance, rt_mean_s=float(correct.mean())
    )
    return EzFit(
        drift=drift,
        threshold=threshold,
        non_decision_s=non_decision_s,
        n_responses=n,
        note=note,
    )
