"""Scores: how well each readout of a model predicts people's reaction times.

For each readout the rows are the trials that it and people both have. On exactly these rows are
computed: the Spearman correlation of predicted difficulty with mean RT under each metric, its
interval over people and scenes, the ceilings, and what the four condition means reach
(`control_condition_r`), since a predictor that knows only the type of trial already correlates
(methods 1.7).
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from analysis.baselines import predict_condition, predict_leak
from analysis.ceiling_intervals import attainable_in_replicates
from analysis.human import ReactionTimes
from analysis.jackknife import jackknife_interval
from analysis.metrics import SUBSETS, MetricName, Subset, correlate_subset, signed_difficulty
from analysis.prepared import Aim, People, ScoreSettings, prepare_people
from analysis.rank_correlation import correlate
from analysis.resampling import Interval, estimate_interval
from analysis.rows import Rows, select_rows
from analysis.tables import Scores
from model_eval.tables import READOUT_KEY, Readouts
from stimuli.benchmark import check_ids_match
from stimuli.errors import TableError
from stimuli.table_io import check_table, name_some

MIN_TRIALS = 3
# People, and scenes, that an interval over both needs.
MIN_LEVELS = 2


def score_readouts(
    readouts: pd.DataFrame,
    *,
    times: ReactionTimes,
    trials: pd.DataFrame,
    settings: ScoreSettings,
    on_readout: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Return the scores of every readout in a table, under every metric.

    Parameters
    ----------
    readouts
        Valid under `model_eval.tables.Readouts`; may lack trials, never have them twice.
    times
        People's RTs, columns in the order of `trials`.
    trials
        The benchmark's trial table.
    settings
        Draws, halves, seed.
    on_readout
        Called after each readout, for a progress bar.

    Returns
    -------
    DataFrame
        Valid under `analysis.tables.Scores`: a row per readout and metric.

    Raises
    ------
    TableError
        A trial is doubled or unknown, a value is not finite, a readout changes its kind, or fewer
        than three of a readout's trials have reaction times.
    """
    check_readouts(readouts, trials)
    prepared: dict[str, People] = {}
    records: list[dict[str, object]] = []
    for key, table in readouts.groupby(READOUT_KEY, sort=False, dropna=False):
        value = table.set_index("trial_id")["value"].reindex(trials["trial_id"]).to_numpy(float)
        rows = select_rows(times, trials, is_wanted=np.isfinite(value))
        _check_enough_trials(rows, key)
        if rows.sha256 not in prepared:
            prepared[rows.sha256] = prepare_people(rows, settings)
        people = prepared[rows.sha256]
        kind = str(table["kind"].iloc[0])
        on_rows = value[trials["trial_id"].isin(rows.trial_ids).to_numpy()]
        named: dict[str, object] = dict(zip(READOUT_KEY, key, strict=True))
        named["kind"] = kind
        difficulty = signed_difficulty(on_rows, kind=kind, is_same=rows.is_same)
        records.extend(named | record for record in _score_one(difficulty, people))
        on_readout()
    return check_table(pd.DataFrame(records), Scores, source="the scores")


def check_readouts(
    readouts: pd.DataFrame,
    trials: pd.DataFrame,
    *,
    source: str = "the readouts",
    first_row: int = 1,
) -> None:
    """Raise unless a readout table can be scored against a trial table.

    Parameters
    ----------
    readouts, trials
        The tables.
    source
        What messages call the readouts.
    first_row
        The number of the first row, for messages; 2 for a CSV file, whose header is line 1.

    Raises
    ------
    TableError
        No rows, an unknown or doubled trial, a value that is not finite, or two kinds of one readout.
    """
    if readouts.empty:
        raise TableError(f"{source}: no rows; expected one per trial and readout")
    check_table(readouts, Readouts, source=source)
    check_ids_match(readouts["trial_id"], trials["trial_id"], source=source)
    twice = readouts.duplicated([*READOUT_KEY, "trial_id"])
    if twice.any():
        row = readouts[twice].iloc[0]
        raise TableError(
            f"{source}, row {first_row + _first(twice)}: trial {row['trial_id']!r} occurs twice for "
            f"model {row['model']!r}, layer {row['layer']}, readout {row['readout']!r}; "
            "keep one value per trial"
        )
    endless = ~np.isfinite(readouts["value"].to_numpy(float))
    if endless.any():
        row = readouts[endless].iloc[0]
        raise TableError(
            f"{source}, row {first_row + _first(endless)}: value {row['value']} of trial "
            f"{row['trial_id']!r}, readout {row['readout']!r}; expected a finite number. Leave out "
            "trials that the model can't read"
        )
    kinds = readouts.groupby(READOUT_KEY, dropna=False)["kind"].nunique()
    if (kinds > 1).any():
        raise TableError(
            f"{source}: {name_some(kinds[kinds > 1].index)} has more than one kind; a readout is "
            "evidence, difficulty or ease for all trials"
        )


def _score_one(difficulty: np.ndarray, people: People) -> Iterator[dict[str, object]]:
    """Yield a record for each metric of one readout."""
    rows = people.rows
    baselines = {"condition": predict_condition(rows), "leak": predict_leak(rows)}
    for subset in SUBSETS:
        if subset.trials not in people.whole:
            continue
        whole = people.whole[subset.trials]
        keep = whole.is_used
        estimates = correlate_subset(subset, difficulty[keep], whole.target)
        controls = {
            name: correlate_subset(subset, predicted[keep], whole.target)
            for name, predicted in baselines.items()
        }
        drawn = [
            correlate_subset(subset, difficulty[aim.is_used], aim.target)
            for aim in (aims[subset.trials] for aims in people.drawn if subset.trials in aims)
        ]
        shares = _share_intervals(subset, difficulty, estimates=estimates, people=people)
        for name in subset.metrics:
            interval = _estimate(float(estimates[name][0]), [d[name] for d in drawn], people)
            yield _record(
                name,
                float(estimates[name][0]),
                people,
                interval=interval,
                controls={what: float(r[name][0]) for what, r in controls.items()},
                keep=keep,
                share=shares.get(name),
            )
    yield _score_published(difficulty, baselines, people)


def _share_intervals(
    subset: Subset,
    difficulty: np.ndarray,
    *,
    estimates: dict[MetricName, np.ndarray],
    people: People,
) -> dict[MetricName, Interval]:
    """Return the interval of r / attainable r, both with the same people and scenes left out."""
    shares: dict[MetricName, Interval] = {}
    if people.replicates is None or subset.trials not in people.left_out:
        return shares
    left_out = [
        correlate_subset(subset, difficulty[aim.is_used], aim.target)
        for aim in people.left_out[subset.trials]
    ]
    for name in subset.metrics:
        attainable = people.ceilings[name].attainable_r
        if attainable is None or name not in people.replicates.split_half:
            continue
        bounds = attainable_in_replicates(people.replicates, name)
        replicated = [found[name] / bound for found, bound in zip(left_out, bounds, strict=True)]
        estimate = float(estimates[name][0]) / attainable
        shares[name] = jackknife_interval(estimate, replicated, people.rows)
    return shares


def _estimate(estimate: float, drawn: list[np.ndarray], people: People) -> Interval:
    """Return the interval, or say what people or scenes are too few for it."""
    rows = people.rows
    for what, n in (("person", len(rows.participant_ids)), ("scene", rows.n_scenes)):
        if n < MIN_LEVELS:
            note = f"no interval over people and scenes: there is one {what}"
            return Interval(se=None, low=None, high=None, note=note)
    if len(drawn) < len(people.drawn):
        note = "no interval: half of the scenes has no such trial"
        return Interval(se=None, low=None, high=None, note=note)
    return estimate_interval(estimate, drawn)


def _score_published(
    difficulty: np.ndarray, baselines: dict[str, np.ndarray], people: People
) -> dict[str, object]:
    estimate = float(np.mean(_with_halves(difficulty, people.halves)))
    drawn = [_with_halves(difficulty, pair) for pair in people.drawn_halves]
    return _record(
        "published",
        estimate,
        people,
        interval=_estimate(estimate, drawn, people),
        controls={
            name: float(np.mean(_with_halves(predicted, people.halves)))
            for name, predicted in baselines.items()
        },
        keep=np.ones(len(difficulty), dtype=bool),
    )


def _with_halves(difficulty: np.ndarray, halves: tuple[Aim, Aim]) -> np.ndarray:
    first, second = (correlate(difficulty[aim.is_used], aim.target) for aim in halves)
    return (first + second) / 2


def _record(
    metric: MetricName,
    estimate: float,
    people: People,
    *,
    interval: Interval,
    controls: dict[str, float],
    keep: np.ndarray,
    share: Interval | None = None,
) -> dict[str, object]:
    ceiling = people.ceilings[metric]
    notes = [note for note in (interval.note, ceiling.note) if note]
    ceilings = {
        name: getattr(ceiling, name)
        for name in ("split_half_r", "spearman_brown_r", "attainable_r", "one_vs_rest_r")
    }
    return (
        {
            "metric": metric,
            "r": estimate,
            "se_r": interval.se,
            "ci_low_r": interval.low,
            "ci_high_r": interval.high,
        }
        | ceilings
        | {
            f"r_over_{name.removesuffix('_r')}": _divide(estimate, ceilings[name])
            for name in ("split_half_r", "attainable_r", "one_vs_rest_r")
        }
        | {
            "attainable_low_r": ceiling.attainable_low_r,
            "attainable_high_r": ceiling.attainable_high_r,
            "r_over_attainable_low": None if share is None else share.low,
            "r_over_attainable_high": None if share is None else share.high,
            "control_condition_r": controls["condition"],
            "control_leak_r": controls["leak"],
            "n_trials": int(keep.sum()),
            "n_scenes": len(np.unique(people.rows.scenes[keep])),
            "n_people": ceiling.n_people,
            "rows_sha256": people.rows.sha256,
            "note": "; ".join(notes) or None,
        }
    )


def _divide(value: float, ceiling: float | None) -> float | None:
    return value / ceiling if ceiling is not None and ceiling > 0 else None


def _check_enough_trials(rows: Rows, key: object) -> None:
    if len(rows.trial_ids) < MIN_TRIALS:
        raise TableError(
            f"readout {key}: {len(rows.trial_ids)} of its trials have reaction times; at least "
            f"{MIN_TRIALS} are needed for a score"
        )


def _first(is_fault: pd.Series | np.ndarray) -> int:
    return int(np.flatnonzero(np.asarray(is_fault))[0])
