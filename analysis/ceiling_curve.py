"""How the ceiling rises with the number of people.

Two groups of n people each, drawn without overlap, and the correlation of their trial means; beside it
what Spearman-Brown predicts from all people: with r of a half and a half of N/2 people each,
reliability of one person r1 = r / (r + (1 - r) N/2), of n people n r1 / (1 + (n - 1) r1) (Spearman
1910; Brown 1910). Where they part, people aren't exchangeable, or the trials that small groups share
are another kind.
"""

import numpy as np
import pandas as pd

from analysis.ceilings import average_halves, second_predicts_first
from analysis.metrics import MetricName, Subset, correlate_subset
from analysis.rows import Rows
from stimuli.errors import InputError

PLAIN = Subset(metrics=("all",), trials="all")
N_DRAWS = 100
N_SIZES = 8
MIN_PEOPLE = 4


def compute_ceiling_curve(
    rows: Rows,
    *,
    rng: np.random.Generator,
    subset: Subset = PLAIN,
    sizes: tuple[int, ...] | None = None,
    n_draws: int = N_DRAWS,
) -> pd.DataFrame:
    """Return the agreement of two groups of n people, for growing n.

    Parameters
    ----------
    rows
        Trials and people.
    rng
        Draws the groups.
    subset
        Which metric (its first) on which trials.
    sizes
        People per group; up to eight from 2 to half of all, evenly on a log scale, when not given.
    n_draws
        Pairs of groups for each size.

    Returns
    -------
    DataFrame
        n_people (per group), mean_r, sd_r over draws, low_r and high_r (2.5 and 97.5 % of draws: the
        spread between studies' halves, no interval of the mean), predicted_r (Spearman-Brown from the
        largest size; empty where the largest size's r is not above zero), n_undefined draws.

    Raises
    ------
    InputError
        Fewer than four people, or a size above half of them.
    """
    n_all = len(rows.participant_ids)
    if n_all < MIN_PEOPLE:
        raise InputError(f"{n_all} people; a ceiling's curve needs at least {MIN_PEOPLE}")
    chosen = choose_sizes(n_all // 2) if sizes is None else tuple(sorted(set(sizes)))
    if chosen[0] < 1 or chosen[-1] > n_all // 2:
        raise InputError(
            f"groups of {chosen[0]} to {chosen[-1]} people; expected 1 to {n_all // 2}, half of "
            f"the {n_all} there are"
        )
    records = [
        _summarise(n, _draw(rows, subset, n_people=n, n_draws=n_draws, rng=rng)) for n in chosen
    ]
    table = pd.DataFrame(records)
    largest = table.iloc[-1]
    return table.assign(
        predicted_r=predict_reliability(
            table["n_people"].to_numpy(float),
            r=float(largest["mean_r"]),
            n_people=int(largest["n_people"]),
        )
    )


def choose_sizes(largest: int) -> tuple[int, ...]:
    """Return up to eight group sizes from 2 to `largest`, evenly on a log scale.

    >>> choose_sizes(36)
    (2, 3, 5, 7, 10, 16, 24, 36)
    """
    raw = np.geomspace(min(2, largest), largest, N_SIZES).round().astype(int)
    return tuple(int(n) for n in np.unique(raw))


def predict_reliability(n_wanted: np.ndarray, *, r: float, n_people: int) -> np.ndarray:
    """Return the agreement of groups of other sizes, from that of groups of `n_people`.

    >>> predict_reliability(np.array([1.0, 2.0]), r=0.5, n_people=1)
    array([0.5       , 0.66666667])
    """
    if not r > 0:
        return np.full(len(n_wanted), np.nan)
    of_one = r / (r + (1 - r) * n_people)
    return n_wanted * of_one / (1 + (n_wanted - 1) * of_one)


def _draw(
    rows: Rows, subset: Subset, *, n_people: int, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the correlation of the two groups in each draw."""
    n_all = len(rows.participant_ids)
    place = rng.permuted(np.tile(np.arange(n_all), (n_draws, 1)), axis=1)
    halves = average_halves(
        rows.rt_s, place < n_people, (place >= n_people) & (place < 2 * n_people)
    )
    name: MetricName = subset.metrics[0]
    return correlate_subset(subset, *second_predicts_first(rows, halves))[name]


def _summarise(n: int, r: np.ndarray) -> dict[str, float]:
    there = r[np.isfinite(r)]
    has_any, has_spread = len(there) > 0, len(there) > 1
    low, high = np.quantile(there, (0.025, 0.975)) if has_any else (np.nan, np.nan)
    return {
        "n_people": n,
        "mean_r": float(there.mean()) if has_any else np.nan,
        "sd_r": float(there.std(ddof=1)) if has_spread else np.nan,
        "low_r": float(low),
        "high_r": float(high),
        "n_undefined": int(len(r) - len(there)),
    }
