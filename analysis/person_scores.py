"""Each person by each model: does a model predict everybody a little, or some people well.

The correlation of a readout's predicted difficulty with one person's own RTs, under the metrics of
`analysis.metrics`. Beside it the same person with the mean of the others (`one against the rest`),
which is what can be expected of a model that knows everything about people but nothing about this one.
"""

import numpy as np
import pandas as pd
from scipy import stats

from analysis.ceilings import compute_one_vs_rest
from analysis.metrics import Subset, correlate_subset
from analysis.results import Key
from analysis.rows import Rows, aim_at
from model_eval.tables import READOUT_KEY

PERSON_SUBSET = Subset(metrics=("partial", "all"), trials="all")
OTHERS = "the other people"


def score_persons(difficulty: dict[Key, np.ndarray], rows: Rows) -> pd.DataFrame:
    """Return every person's correlation with every readout, and with the other people.

    Parameters
    ----------
    difficulty : dict of float arrays, shape (n_trials,)
        Predicted difficulty by key (model, layer, representation, readout), on the trials of `rows`.
    rows
        Trials and people.

    Returns
    -------
    DataFrame
        model, layer, representation, readout, participant_id, n_trials (of the person), partial_r,
        all_r; empty r where the person's RTs or the readout are constant. The others' rows have the
        model name "the other people" and no readout.
    """
    weights = np.isfinite(rows.rt_s).astype(float)
    target = aim_at(rows, rows.rt_s, weights)
    own = {
        "participant_id": rows.participant_ids,
        "n_trials": weights.sum(axis=1).astype(int),
    }
    others = compute_one_vs_rest(rows)
    parts = [_tabulate((OTHERS, "", "", ""), own, others)]
    for key, values in difficulty.items():
        found = correlate_subset(PERSON_SUBSET, values, target)
        parts.append(_tabulate(key, own, {str(name): r for name, r in found.items()}))
    return pd.concat(parts, ignore_index=True)


def summarise_person_scores(persons: pd.DataFrame, *, metric: str = "partial") -> pd.DataFrame:
    """Return, per readout, the mean over people and its 95 % interval over people (Student's t).

    People only: the scenes are the same for all, so nothing is said about other scenes.

    Returns
    -------
    DataFrame
        model, layer, representation, readout, n_people, mean_r, ci_low_r, ci_high_r (empty for one
        person), share_above_0.
    """
    records = []
    for key, part in persons.groupby(READOUT_KEY, sort=False):
        r = part[f"{metric}_r"].dropna().to_numpy(float)
        n = len(r)
        half = stats.t.ppf(0.975, n - 1) * r.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        mean = float(r.mean()) if n else np.nan
        records.append(
            dict(zip(READOUT_KEY, key, strict=True))
            | {
                "n_people": n,
                "mean_r": mean,
                "ci_low_r": mean - half,
                "ci_high_r": mean + half,
                "share_above_0": float((r > 0).mean()) if n else np.nan,
            }
        )
    return pd.DataFrame(records)


def _tabulate(key: Key, own: dict[str, object], r: dict[str, np.ndarray]) -> pd.DataFrame:
    table = pd.DataFrame(own)
    for place, name in enumerate(READOUT_KEY):
        table.insert(place, name, key[place])
    return table.assign(partial_r=r["partial"], all_r=r["all"])
