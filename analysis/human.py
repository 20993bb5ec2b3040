"""People: from responses to one row per trial.

Reaction times of correct responses are averaged over people for each display. Percentile RT
(Adeli 2023 [code]): per person, the rank-kind percentile of each correct RT among that person's
correct RTs, averaged over people. RTs with |z| > 3 within a person are flagged and kept, as
published; what is left out is declared in `analysis.exclusions`.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from analysis.resampling import CONFIDENCE_Z
from analysis.tables import Human
from experiment.tables import Responses
from stimuli.benchmark import Benchmark, check_ids_match
from stimuli.errors import InputError, TableError
from stimuli.table_io import check_table, read_table
from stimuli.tables import CELL_NAMES, name_cells


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionTimes:
    """The one matrix that feeds the human table, the ceilings and the scores.

    Attributes
    ----------
    rt_s : float array, shape (n_people, n_trials)
        Analysed RTs in seconds; NaN where a person has none.
    participant_ids, trial_ids
        Names of rows and columns.
    """

    rt_s: np.ndarray
    participant_ids: tuple[str, ...]
    trial_ids: tuple[str, ...]


def read_responses(benchmark: Benchmark) -> pd.DataFrame:
    """Return all responses of a benchmark, its `responses/*.csv` in name order.

    Raises
    ------
    InputError
        The benchmark has no people.
    TableError
        A table breaks its schema or names a trial that the benchmark doesn't have.
    """
    files = sorted(benchmark.responses_folder.glob("*.csv"))
    if not files:
        raise InputError(
            f"{benchmark.folder}: no people: {benchmark.responses_folder} holds no CSV. Run "
            "sessions or import responses; readouts can be computed without people, scores can't"
        )
    tables = []
    for path in files:
        table = read_table(path, Responses)
        # Practice may come from another benchmark, and is never analysed.
        tested = table.loc[~table["is_practice"], "trial_id"]
        check_ids_match(tested, benchmark.trials["trial_id"], source=str(path))
        _check_answered_rows_have_rt(table, path)
        tables.append(table)
    responses = pd.concat(tables, ignore_index=True)
    if responses.empty:
        raise InputError(f"{benchmark.responses_folder}: the response tables hold no rows")
    return responses


def build_matrix(analysed: pd.DataFrame, trials: pd.DataFrame) -> ReactionTimes:
    """Return the people x trials matrix of analysed RTs, trials in the trial table's order.

    Raises
    ------
    TableError
        A person has two analysed RTs of one trial.
    InputError
        Nothing is left to analyse.
    """
    if analysed.empty:
        raise InputError("no response is left after the exclusions; see exclusions.csv")
    twice = analysed.duplicated(["participant_id", "trial_id"])
    if twice.any():
        row = analysed[twice].iloc[0]
        raise TableError(
            f"participant {row['participant_id']!r} has two analysed responses to trial "
            f"{row['trial_id']!r} ({int(twice.sum())} such); keep one presentation of each"
        )
    wide = analysed.pivot(index="participant_id", columns="trial_id", values="rt_s")
    wide = wide.reindex(columns=trials["trial_id"])
    return ReactionTimes(
        rt_s=wide.to_numpy(float),
        participant_ids=tuple(wide.index.astype(str)),
        trial_ids=tuple(trials["trial_id"]),
    )


def compute_percentiles(rt_s: np.ndarray) -> np.ndarray:
    """Return each RT's percentile among the same person's RTs (methods 1.3, [code]).

    Parameters
    ----------
    rt_s : float array, shape (n_people, n_trials)
        NaN where there is none.

    Returns
    -------
    float array, shape (n_people, n_trials)
        0 to 100, mid-ranks for ties, NaN kept.

    Examples
    --------
    >>> compute_percentiles(np.array([[0.5, np.nan, 0.9, 0.7]])).round(1)
    array([[ 33.3,   nan, 100. ,  66.7]])
    """
    ranks = rankdata(rt_s, axis=1, nan_policy="omit")
    n_per_person = np.isfinite(rt_s).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isfinite(rt_s), 100 * ranks / n_per_person, np.nan)


def summarise_trials(
    times: ReactionTimes, answered: pd.DataFrame, *, errors_recorded: bool
) -> pd.DataFrame:
    """Return the human table: one row per trial over people.

    Parameters
    ----------
    times
        The analysed RTs.
    answered
        The responses that count for accuracy (`analysis.exclusions.Exclusion.answered`).
    errors_recorded
        False leaves accuracy empty: without error trials it is unknown, not 100 %.
    """
    n = np.isfinite(times.rt_s).sum(axis=0)
    table = pd.DataFrame(
        {
            "trial_id": times.trial_ids,
            "n_people": n,
            "n_answered": pd.array([pd.NA] * len(n), dtype="Int64"),
            "accuracy": np.nan,
            "accuracy_low": np.nan,
            "accuracy_high": np.nan,
            "mean_rt_s": mean_over_people(times.rt_s),
            "mean_log_rt": mean_over_people(np.log(times.rt_s)),
            "mean_rt_percentile": mean_over_people(compute_percentiles(times.rt_s)),
            "sem_rt_s": _sem_over_people(times.rt_s),
        }
    )
    if errors_recorded:
        is_correct = (answered["outcome"] == "correct").groupby(answered["trial_id"])
        n_answered = table["trial_id"].map(is_correct.size()).fillna(0).astype("Int64")
        n_correct = table["trial_id"].map(is_correct.sum()).fillna(0).to_numpy(float)
        low, high = wilson_interval(n_correct, n_answered.to_numpy(float))
        with np.errstate(invalid="ignore"):
            accuracy = n_correct / n_answered.to_numpy(float)
        table = table.assign(
            n_answered=n_answered, accuracy=accuracy, accuracy_low=low, accuracy_high=high
        )
    return check_table(table, Human, source="the human table")


def wilson_interval(n_correct: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % interval of a share (Wilson 1927, the score interval); NaN where n is 0.

    >>> [end.round(3).tolist() for end in wilson_interval(np.array([9.0]), np.array([10.0]))]
    [[0.596], [0.982]]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share, z2 = n_correct / n, CONFIDENCE_Z**2
        centre = (share + z2 / (2 * n)) / (1 + z2 / n)
        half = CONFIDENCE_Z / (1 + z2 / n) * np.sqrt(share * (1 - share) / n + z2 / (4 * n**2))
    # At 0 and 1 the ends meet the border up to rounding.
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def mean_over_people(values: np.ndarray) -> np.ndarray:
    """Return the column means of a people x trials matrix, ignoring NaN; NaN for empty columns."""
    n = np.isfinite(values).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nansum(values, axis=0) / n


def summarise_conditions(human: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """Return mean RT and its SEM over trials for each cell of the design (methods 1.2).

    Returns
    -------
    DataFrame
        Columns condition, n_trials, mean_rt_s, sem_rt_s; the four cells in reading order.
    """
    cells = trials.assign(condition=name_cells(trials))[["trial_id", "condition"]]
    merged = human.merge(cells, on="trial_id", validate="one_to_one")
    grouped = merged.dropna(subset="mean_rt_s").groupby("condition")["mean_rt_s"]
    table = pd.DataFrame(
        {"n_trials": grouped.size(), "mean_rt_s": grouped.mean(), "sem_rt_s": grouped.sem()}
    )
    return table.reindex([name for name in CELL_NAMES if name in table.index]).reset_index()


def _check_answered_rows_have_rt(table: pd.DataFrame, path: Path) -> None:
    missing = table["outcome"].eq("correct") & table["rt_s"].isna()
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise TableError(
            f"{path}, line {row + 2}: outcome 'correct' without rt_s; give the reaction time or "
            "another outcome"
        )


def _sem_over_people(values: np.ndarray) -> np.ndarray:
    n = np.isfinite(values).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations = values - mean_over_people(values)
        variance = np.nansum(deviations**2, axis=0) / (n - 1)
        return np.where(n > 1, np.sqrt(variance / n), np.nan)
