"""People: from responses to one row per trial.

Reaction times of correct responses are averaged over people for each display. Percentile RT
(Adeli 2023 [code]): per person, the rank-kind percentile of each correct RT among that person's
correct RTs, averaged over people. RTs with |z| > 3 within a person are flagged and kept, as
published. Practice and whatever was not answered correctly is left out, each by a named rule, with
its count per person in the ledger.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from analysis.tables import Exclusions, Human
from experiment.tables import Responses
from stimuli.benchmark import Benchmark, check_ids_match
from stimuli.errors import InputError, TableError
from stimuli.table_io import check_table, read_table
from stimuli.tables import CELL_NAMES, name_cells

OUTLIER_Z = 3.0
ANALYSED = "analysed"
FLAGGED = f"flagged, kept: |z| > {OUTLIER_Z:g} within person"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionRule:
    """A named reason to leave a presentation out, and the test for it."""

    name: str
    is_excluded: Callable[[pd.DataFrame], pd.Series]


def _ended_as(outcome: str) -> ExclusionRule:
    return ExclusionRule(name=outcome, is_excluded=lambda table: table["outcome"] == outcome)


# The published rules: correct test trials, nothing else removed. In this order; a presentation is
# counted under the first rule that takes it.
PUBLISHED_RULES = (
    ExclusionRule(name="practice", is_excluded=lambda table: table["is_practice"]),
    _ended_as("aborted"),
    _ended_as("gaze_break"),
    _ended_as("early"),
    _ended_as("timeout"),
    _ended_as("wrong"),
)


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


def apply_rules(
    responses: pd.DataFrame, rules: tuple[ExclusionRule, ...] = PUBLISHED_RULES
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the responses that are analysed, and the ledger of all that are not.

    Parameters
    ----------
    responses
        Valid under `Responses`.
    rules
        In order; each presentation is counted under the first that takes it.

    Returns
    -------
    analysed, ledger : DataFrame
        The ledger has, for each person, a row per rule, a row `analysed`, and a row for the RTs that
        are flagged as outliers and kept. Rules and `analysed` add up to the person's presentations.
    """
    reason = pd.Series(ANALYSED, index=responses.index, dtype="str")
    for rule in reversed(rules):
        reason = reason.mask(rule.is_excluded(responses), rule.name)
    names = [rule.name for rule in rules] + [ANALYSED]
    counts = pd.crosstab(responses["participant_id"], reason).reindex(columns=names, fill_value=0)
    analysed = responses[reason == ANALYSED]
    counts[FLAGGED] = (
        _flag_outliers(analysed).groupby(analysed["participant_id"]).sum().reindex(counts.index)
    )
    counts = counts.fillna(0).astype(int).rename_axis(columns=None).reset_index()
    ledger = counts.melt("participant_id", var_name="rule", value_name="n_presentations")
    return analysed, check_table(ledger, Exclusions, source="the exclusion ledger")


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
    times: ReactionTimes, responses: pd.DataFrame, *, errors_recorded: bool
) -> pd.DataFrame:
    """Return the human table: one row per trial over people.

    Parameters
    ----------
    times
        The analysed RTs.
    responses
        All responses, for accuracy (correct over correct and wrong, practice left out).
    errors_recorded
        False leaves accuracy empty: without error trials it is unknown, not 100 %.
    """
    n = np.isfinite(times.rt_s).sum(axis=0)
    table = pd.DataFrame(
        {
            "trial_id": times.trial_ids,
            "n_people": n,
            "accuracy": np.nan,
            "mean_rt_s": mean_over_people(times.rt_s),
            "mean_log_rt": mean_over_people(np.log(times.rt_s)),
            "mean_rt_percentile": mean_over_people(compute_percentiles(times.rt_s)),
            "sem_rt_s": _sem_over_people(times.rt_s),
        }
    )
    if errors_recorded:
        answered = responses[
            ~responses["is_practice"] & responses["outcome"].isin(["correct", "wrong"])
        ]
        share = (answered["outcome"] == "correct").groupby(answered["trial_id"]).mean()
        table["accuracy"] = table["trial_id"].map(share)
    return check_table(table, Human, source="the human table")


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


def _flag_outliers(analysed: pd.DataFrame) -> pd.Series:
    rt_s = analysed.groupby("participant_id")["rt_s"]
    z = (analysed["rt_s"] - rt_s.transform("mean")) / rt_s.transform("std", ddof=0)
    return z.abs() > OUTLIER_Z


def _sem_over_people(values: np.ndarray) -> np.ndarray:
    n = np.isfinite(values).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations = values - mean_over_people(values)
        variance = np.nansum(deviations**2, axis=0) / (n - 1)
        return np.where(n > 1, np.sqrt(variance / n), np.nan)
