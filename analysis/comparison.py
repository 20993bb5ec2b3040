"""Which models differ? Paired over people and scenes, corrected for the number of pairs.

All readouts on the same rows meet the same draws of scenes and people, so the variance of a difference
is that of the paired differences: over scenes, plus what people do to both halves of the scenes alike
(docs/decisions/0004), on Fisher's z of the headline metric. Pairs are tested by Student's t with one
degree of freedom less than there are people or scenes, whichever are fewer, and corrected by Holm (default) or Benjamini-Hochberg. A model's rank interval runs from one
more than the number of models that are separably better to the number that are not separably worse;
a letter is shared by models of which no pair is separable. A model and its copy differ by nothing and
always tie.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from analysis.layers import HEADLINE_SUBSET
from analysis.metrics import HEADLINE_METRIC, correlate_subset
from analysis.prepared import People, ScoreSettings, prepare_people
from analysis.rows import Rows
from stimuli.errors import InputError

Correction = Literal["holm", "fdr_bh"]
ALPHA = 0.05
MIN_LEVELS = 4
# A difference of z below this is no difference: the readouts rank all trials alike.
SAME_Z = 1e-9
DEFAULT_SETTINGS = ScoreSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Models against each other.

    Attributes
    ----------
    ranking : DataFrame
        name, r, rank, rank_low, rank_high, group (letters); best first.
    pairs : DataFrame
        first, second, difference_z and its interval, p, p_corrected, is_different.
    """

    ranking: pd.DataFrame
    pairs: pd.DataFrame


def compare_models(
    difficulty: dict[str, np.ndarray],
    rows: Rows,
    *,
    settings: ScoreSettings = DEFAULT_SETTINGS,
    correction: Correction = "holm",
) -> Comparison:
    """Return rank intervals, groups and pairwise tests of readouts on the same rows.

    Parameters
    ----------
    difficulty : dict of float arrays, shape (n_trials,)
        Predicted difficulty by name, on the trials of `rows`.
    rows
        Trials and people.
    settings
        Draws and seed.
    correction
        Over all pairs.

    Raises
    ------
    InputError
        Fewer than two readouts with a headline value, or too few people or scenes.
    """
    for what, n in (("people", len(rows.participant_ids)), ("scenes", rows.n_scenes)):
        if n < MIN_LEVELS:
            raise InputError(f"too few {what}: {n}, comparing needs at least {MIN_LEVELS}")
    people = prepare_people(rows, settings)
    z = {name: _transform(values, people) for name, values in difficulty.items()}
    z = {name: one for name, one in z.items() if np.isfinite(one[0]).all()}
    if len(z) < 2:
        raise InputError(f"{len(z)} readouts have a headline value; comparing needs two")
    z = dict(sorted(z.items(), key=lambda item: -float(item[1][0][0])))
    df = min(len(rows.participant_ids), rows.n_scenes) - 1
    pairs = _test_pairs(z, correction, df=df)
    return Comparison(ranking=_rank(z, pairs), pairs=pairs)


def _transform(values: np.ndarray, people: People) -> list[np.ndarray]:
    """Return Fisher's z: as estimated, then in each kind of draw."""
    trials = HEADLINE_SUBSET.trials
    aims = [people.whole[trials], *[aims[trials] for aims in people.drawn]]
    with np.errstate(divide="ignore"):
        return [
            np.arctanh(
                correlate_subset(HEADLINE_SUBSET, values[aim.is_used], aim.target)[HEADLINE_METRIC]
            )
            for aim in aims
        ]


def _test_pairs(z: dict[str, list[np.ndarray]], correction: Correction, *, df: int) -> pd.DataFrame:
    from statsmodels.stats.multitest import multipletests

    critical = float(stats.t.ppf(1 - ALPHA / 2, df))
    records = []
    for first, second in combinations(z, 2):
        difference = [one - other for one, other in zip(z[first], z[second], strict=True)]
        estimate = float(difference[0][0])
        is_same = all(np.nanmax(np.abs(values)) < SAME_Z for values in difference)
        se = 0.0 if is_same else float(np.sqrt(_variance(difference[1:])))
        p = 1.0 if is_same else float(2 * stats.t.sf(abs(estimate) / se, df))
        records.append(
            {
                "first": first,
                "second": second,
                "difference_z": estimate,
                "ci_low_z": estimate - critical * se,
                "ci_high_z": estimate + critical * se,
                "p": p,
            }
        )
    table = pd.DataFrame(records)
    corrected = np.asarray(
        multipletests(table["p"], alpha=ALPHA, method=correction)[1], dtype=float
    )
    return table.assign(p_corrected=corrected, is_different=corrected < ALPHA)


def _variance(drawn: list[np.ndarray]) -> float:
    """Return the variance of a paired difference; the people's part, a variance, is not below 0."""
    over_scenes, *by_half = drawn
    shared = []
    for first, second in zip(by_half[::2], by_half[1::2], strict=True):
        both = np.isfinite(first) & np.isfinite(second)
        shared.append(np.cov(first[both], second[both])[0, 1])
    return float(np.nanvar(over_scenes, ddof=1) + max(float(np.mean(shared)), 0.0))


def _rank(z: dict[str, list[np.ndarray]], pairs: pd.DataFrame) -> pd.DataFrame:
    names = list(z)
    different = {frozenset((a, b)) for a, b in _separable(pairs)}
    r = np.tanh([float(z[name][0][0]) for name in names])
    records = []
    for k, name in enumerate(names):
        better = sum(frozenset((name, other)) in different for other in names[:k])
        worse = sum(frozenset((name, other)) in different for other in names[k + 1 :])
        records.append(
            {
                "name": name,
                "r": r[k],
                "rank": 1 + int((r > r[k] + SAME_Z).sum()),
                "rank_low": 1 + better,
                "rank_high": len(names) - worse,
                "group": "",
            }
        )
    table = pd.DataFrame(records)
    return table.assign(group=find_groups(names, different))


def _separable(pairs: pd.DataFrame) -> list[tuple[str, str]]:
    kept = pairs[pairs["is_different"]]
    return list(zip(kept["first"], kept["second"], strict=True))


def find_groups(names: list[str], different: set[frozenset[str]]) -> list[str]:
    """Return letters: two names share one exactly where they can't be told apart (Piepho 2004).

    >>> find_groups(["a", "b", "c"], {frozenset(("a", "c"))})
    ['a', 'ab', 'b']
    """
    columns: list[set[str]] = [set(names)]
    for pair in sorted(different, key=sorted):
        split: list[set[str]] = []
        for column in columns:
            split += [column - {name} for name in pair] if pair <= column else [column]
        unique = [set(one) for one in dict.fromkeys(frozenset(one) for one in split)]
        columns = [one for one in unique if not any(one < other for other in unique)]
    columns.sort(key=lambda column: sorted(names.index(name) for name in column))
    return [
        "".join(_letter(k) for k, column in enumerate(columns) if name in column) for name in names
    ]


def _letter(k: int) -> str:
    return chr(ord("a") + k) if k < 26 else f"({k + 1})"
