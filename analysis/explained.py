"""What a readout explains of the differences between trials, on scenes that it hasn't seen.

Each trial's effect is estimated from ln RT with each person's level removed (two-way additive least
squares, since people saw different trials). Two linear models predict it for scenes that were left out:
condition and distance, and the same with the readout and readout x same. The drop of the squared error
is related to what could be explained: the first model's error minus the noise of the trial effects,
which is the residual variance of single RTs over the number of people. Share of the explainable =
(error without - error with) / (error without - noise). All trials of a scene are left out together;
random partitions are repeated and averaged. A readout that only fits its own scenes scores below zero
and stays there. (Errors are compared, never pooled left-out predictions correlated: that would turn
the correlation negative, docs/decisions/0003.)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from analysis.jackknife import find_shortage, jackknife_interval, leave_out
from analysis.mixed_models import standardise
from analysis.rows import Rows
from analysis.statistic_tables import Explained
from stimuli.errors import InputError
from stimuli.table_io import check_table
from stimuli.tables import CELLS

MIN_SCENES = 10
# Partitions in each replicate of the interval, where only the change matters.
N_REPLICATE_REPEATS = 2
RIDGE = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldSettings:
    """How scenes are left out."""

    n_folds: int = 10
    n_repeats: int = 10  # random partitions
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEffects:
    """What is to be explained.

    Attributes
    ----------
    effect : float array, shape (n_trials,)
        Of ln RT, each person's level removed; NaN where nobody has an RT.
    n_people : float array, shape (n_trials,)
        Weight of each.
    noise : float
        Mean noise variance of the effects, weighted as they are.
    """

    effect: np.ndarray
    n_people: np.ndarray
    noise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What one set of people and trials leaves to explain.

    Attributes
    ----------
    effects
        Weights are 0 for trials that are left out.
    is_used : bool array, shape (n_trials,)
        Of all trials, those that `effects` is about.
    """

    effects: TrialEffects
    is_used: np.ndarray


def estimate_trial_effects(rt_s: np.ndarray, *, n_steps: int = 30) -> TrialEffects:
    """Return the trials' effects on ln RT, people's levels removed.

    Parameters
    ----------
    rt_s : float array, shape (n_people, n_trials)
        NaN where a person has none.
    n_steps
        Alternating least squares; stops earlier when nothing changes.
    """
    is_there = np.isfinite(rt_s)
    log_rt = np.where(is_there, np.log(np.where(is_there, rt_s, 1.0)), 0.0)
    by_person, by_trial = is_there.sum(axis=1), is_there.sum(axis=0)
    person = np.zeros(len(rt_s))
    trial = np.zeros(rt_s.shape[1])
    for _ in range(n_steps):
        before = trial
        person = (log_rt.sum(axis=1) - is_there @ trial) / np.maximum(by_person, 1)
        trial = (log_rt.sum(axis=0) - person @ is_there) / np.maximum(by_trial, 1)
        if np.abs(trial - before).max(initial=0.0) < 1e-10:
            break
    residual = np.where(is_there, log_rt - person[:, None] - trial, 0.0)
    n_seen = int((by_trial > 0).sum())
    df = is_there.sum() - (by_person > 0).sum() - n_seen + 1
    variance = float((residual**2).sum() / df) if df > 0 else np.nan
    return TrialEffects(
        effect=np.where(by_trial > 0, trial, np.nan),
        n_people=by_trial.astype(float),
        noise=variance * n_seen / max(int(by_trial.sum()), 1),
    )


def assign_folds(n_scenes: int, settings: FoldSettings) -> np.ndarray:
    """Return the fold of each scene in each random partition, int, shape (n_repeats, n_scenes)."""
    rng = np.random.default_rng(settings.seed)
    order = rng.permuted(np.tile(np.arange(n_scenes), (settings.n_repeats, 1)), axis=1)
    return order % settings.n_folds


def cross_validate(
    design: np.ndarray, effects: TrialEffects, *, scenes: np.ndarray, folds: np.ndarray
) -> float:
    """Return the mean squared error of a linear model on scenes that were left out.

    Parameters
    ----------
    design : float array, shape (n_trials, n_columns)
        With a constant among its columns' span.
    effects
        What is predicted; rows of weight 0 play no part.
    scenes : int array, shape (n_trials,)
        Scene of each trial.
    folds : int array, shape (n_repeats, n_scenes)
        From `assign_folds`.

    Returns
    -------
    float
        Weighted by people per trial, averaged over partitions.
    """
    weight = effects.n_people
    n, (n_repeats, n_scenes) = len(weight), folds.shape
    columns = np.column_stack([design, np.where(weight > 0, effects.effect, 0.0)])
    outer = (weight[:, None, None] * columns[:, :, None] * columns[:, None, :]).reshape(n, -1)
    by_scene = sparse.csr_array((np.ones(n), (scenes, np.arange(n))), shape=(n_scenes, n)) @ outer
    in_fold = (folds[:, None, :] == np.arange(folds.max() + 1)[:, None]).reshape(-1, n_scenes)
    shape = (len(in_fold), columns.shape[1], columns.shape[1])
    tested = (in_fold.astype(float) @ by_scene).reshape(shape)
    trained = by_scene.sum(axis=0).reshape(shape[1:]) - tested
    normal = trained[:, :-1, :-1]
    # A ridge at rounding level: a cell of the design that a fold lacks predicts 0 there.
    ridge = RIDGE * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(shape[1] - 1)
    slopes = np.linalg.solve(normal + ridge, trained[:, :-1, -1:])[:, :, 0]
    contrast = np.concatenate([-slopes, np.ones((shape[0], 1))], axis=1)
    error = np.einsum("fi,fij,fj->", contrast, tested, contrast)
    return float(error / (n_repeats * weight.sum()))


def explain_readouts(
    readouts: Mapping[tuple[str, ...], np.ndarray],
    rows: Rows,
    *,
    settings: FoldSettings = FoldSettings(),
    on_readout: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Return one row per readout: the share of the explainable that it explains, with its interval.

    Parameters
    ----------
    readouts
        Predicted difficulty by key (model, layer, representation, readout), on the trials of `rows`.
    rows
        Trials and people.
    settings
        Folds.
    on_readout
        Called after each, for a progress bar.

    Returns
    -------
    DataFrame
        Valid under `analysis.statistic_tables.Explained`.

    Raises
    ------
    InputError
        Too few scenes to leave some out.
    """
    if rows.n_scenes < MIN_SCENES:
        raise InputError(
            f"too few scenes: {rows.n_scenes}, leaving scenes out needs at least {MIN_SCENES}"
        )
    folds = assign_folds(rows.n_scenes, settings)
    targets = _prepare_targets(rows, settings)
    base = _design(rows)
    without = _find_errors(base, targets, rows=rows, folds=folds)
    records = []
    for key, difficulty in readouts.items():
        named: dict[str, object] = dict(
            zip(("model", "layer", "representation", "readout"), key, strict=True)
        )
        sizes = {
            "n_trials": len(rows.trial_ids),
            "n_scenes": rows.n_scenes,
            "n_people": len(rows.participant_ids),
        }
        try:
            columns = _design(rows, standardise(difficulty, name="readout"))
            record = _summarise(columns, without, targets, rows=rows, folds=folds)
        except InputError as error:
            record = {"note": str(error)}
        records.append(named | record | sizes)
        on_readout()
    table = pd.DataFrame(records).reindex(columns=list(Explained.to_schema().columns))
    return check_table(table, Explained, source="the explained variance")


def _prepare_targets(rows: Rows, settings: FoldSettings) -> list[Target]:
    """Return what is to be explained: on all rows, then with scenes and people left out."""
    everything = np.ones(len(rows.trial_ids), dtype=bool)
    targets = [Target(effects=estimate_trial_effects(rows.rt_s), is_used=everything)]
    if find_shortage(rows):
        return targets
    rng = np.random.default_rng([settings.seed, 1])
    for one in leave_out(rows, rng):
        for people, trials in zip(one.people, one.trials, strict=True):
            kept = np.zeros(len(everything), dtype=bool)
            kept[np.flatnonzero(one.is_used)[trials > 0]] = True
            rt_s = np.where(people[:, None] > 0, rows.rt_s, np.nan)[:, kept]
            targets.append(Target(effects=estimate_trial_effects(rt_s), is_used=kept))
    return targets


def _design(rows: Rows, readout: np.ndarray | None = None) -> np.ndarray:
    cells = np.eye(len(CELLS))[rows.cells]
    distance = rows.distance_px - rows.distance_px.mean()
    columns = [cells, distance[:, None] / max(float(np.abs(distance).max()), 1e-12)]
    if readout is not None:
        columns += [readout[:, None], (readout * np.where(rows.is_same, 0.5, -0.5))[:, None]]
    return np.column_stack(columns)


def _find_errors(
    design: np.ndarray, targets: list[Target], *, rows: Rows, folds: np.ndarray
) -> np.ndarray:
    """Return the error on all rows, and in each replicate with the same first partitions."""
    partitions = [folds, *[folds[:N_REPLICATE_REPEATS]] * (len(targets) - 1)]
    return np.array(
        [
            cross_validate(
                design[target.is_used],
                target.effects,
                scenes=rows.scenes[target.is_used],
                folds=used,
            )
            for target, used in zip(targets, partitions, strict=True)
        ]
    )


def _summarise(
    columns: np.ndarray,
    base: np.ndarray,
    targets: list[Target],
    *,
    rows: Rows,
    folds: np.ndarray,
) -> dict[str, object]:
    noise = np.array([target.effects.noise for target in targets])
    explainable = base - noise
    record: dict[str, object] = {
        "error_without": base[0],
        "noise": noise[0],
        "explainable": explainable[0],
        "explainable_share": explainable[0] / base[0],
    }
    error = _find_errors(columns, targets, rows=rows, folds=folds)
    record["error_with"] = error[0]
    if not explainable[0] > 0:
        return record | {
            "note": "nothing to explain: trials differ no more than the noise of their means"
        }
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(explainable > 0, (base - error) / explainable, np.nan)
    replicated = np.split(share[1:], _ends_of_kinds(rows)) if len(share) > 1 else []
    interval = jackknife_interval(float(share[0]), replicated, rows) if replicated else None
    return record | {
        "share": share[0],
        "share_low": None if interval is None else interval.low,
        "share_high": None if interval is None else interval.high,
        "note": find_shortage(rows) if interval is None else interval.note,
    }


def _ends_of_kinds(rows: Rows) -> np.ndarray:
    """Return where each kind of leaving out ends, in the order of `leave_out`."""
    sizes = [len(one.people) for one in leave_out(rows, np.random.default_rng(0))]
    return np.cumsum(sizes)[:-1]
