"""What is predicted without any model: the condition, and a scene's other trials.

Two of the three checks of methods 1.7. A predictor that knows only the type of trial scores like the
supervised ViTs; one that adds the mean RT of the scene's other trials, and no image, beats every
published model: so much can leak to a readout that was fitted on folds over trials.
"""

import numpy as np

from analysis.rows import Rows


def predict_condition(rows: Rows) -> np.ndarray:
    """Return the mean RT of each trial's condition: what is predicted without any image.

    The mean is over all scenes, the trial's own included: leaving the trial's scene out makes the
    prediction fall as the trial's own RT rises, which turns the correlation negative
    (docs/decisions/0003).

    Returns
    -------
    float array, shape (n_trials,)
        Seconds.
    """
    mean = rows.mean_rt_s
    total = np.bincount(rows.cells, weights=mean, minlength=1)
    return (total / np.maximum(np.bincount(rows.cells, minlength=1), 1))[rows.cells]


def predict_leak(rows: Rows) -> np.ndarray:
    """Return each trial's condition mean plus what its scene's other trials add to it.

    The mean deviation of the scene's other trials from their condition's means, times the slope that
    fits best by least squares. This is what a learned readout reaches that has only memorised scenes
    (methods 1.7, check 2); one whose folds group by scene can't use it.

    Returns
    -------
    float array, shape (n_trials,)
        Seconds. A scene with a single trial adds nothing.
    """
    condition = predict_condition(rows)
    deviation = rows.mean_rt_s - condition
    n = np.bincount(rows.scenes)[rows.scenes]
    total = np.bincount(rows.scenes, weights=deviation)[rows.scenes]
    others = (total - deviation) / np.maximum(n - 1, 1)
    others = np.where(n > 1, others, 0.0)
    square = float(others @ others)
    return condition + (float(others @ deviation) / square if square > 0 else 0.0) * others
