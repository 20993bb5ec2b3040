"""The source's key comparison: the object-centric metric against alignment with people, per model.

The object-centric metric of a model is the mean over trials of its rank AUC (within against between
objects, methods 1.5); alignment is the headline r of its similarity readout. Both come from files
that were written before; nothing is read out of a model here.
"""

import pandas as pd

from analysis.metrics import HEADLINE_METRIC

OBJECT_METRICS = ("object_auc_dot1", "object_auc_dot2")
ALIGNMENT_READOUT = "cosine"


def tabulate_alignment(board: pd.DataFrame, readouts: pd.DataFrame) -> pd.DataFrame:
    """Return a row per model that has both: its mean object-centric AUC and its headline score.

    Parameters
    ----------
    board
        As `analysis.leaderboard.build_leaderboard` returns it, with a column `family`.
    readouts
        All models' readouts.

    Returns
    -------
    DataFrame
        model, family, layer, representation, metric (which AUC), object_auc, n_auc_trials, r,
        ci_low_r, ci_high_r, n_trials; only models scored on the largest set of trials that
        similarity readouts share, since scores on other trials are not comparable; sorted by AUC.
    """
    scored = board[
        board["is_shown"]
        & board["readout"].eq(ALIGNMENT_READOUT)
        & board[f"{HEADLINE_METRIC}_r"].notna()
    ]
    if len(scored):
        sizes = scored.groupby("rows_sha256").agg(n=("model", "size"), trials=("n_trials", "max"))
        shared = sizes.sort_values(["n", "trials"]).index[-1]
        scored = scored[scored["rows_sha256"] == shared]
    rows = [_pair(row, readouts) for _, row in scored.iterrows()]
    columns = ["model", "family", "layer", "representation", "metric", "object_auc"]
    columns += ["n_auc_trials", "r", "ci_low_r", "ci_high_r", "n_trials"]
    table = pd.DataFrame([row for row in rows if row is not None], columns=columns)
    return table.sort_values("object_auc", ascending=False, ignore_index=True)


def _pair(row: pd.Series, readouts: pd.DataFrame) -> dict[str, object] | None:
    own = readouts[
        readouts["model"].eq(row["model"])
        & readouts["layer"].eq(row["layer"])
        & readouts["representation"].eq(row["representation"])
    ]
    for metric in OBJECT_METRICS:
        values = own.loc[own["readout"] == metric, "value"]
        if len(values):
            named = {name: row[name] for name in ("model", "family", "layer", "representation")}
            scores = {
                name: row[f"{HEADLINE_METRIC}_{name}"] for name in ("r", "ci_low_r", "ci_high_r")
            }
            sizes = {"n_auc_trials": len(values), "n_trials": row["n_trials"]}
            return named | {"metric": metric, "object_auc": float(values.mean())} | scores | sizes
    return None
