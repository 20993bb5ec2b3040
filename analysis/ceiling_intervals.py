"""Intervals of the ceilings over people and scenes, and of what is divided by them.

The split half is averaged over a few fixed splits in every replicate of the jackknife
(`analysis.jackknife`); with the same splits throughout, what is left out is all that changes. The two
halves of the scenes have splits of their own, so that a lucky split can't pass for what people do to
all scenes. Spearman-Brown and its root rise with the split half, so their intervals are its ends put
through them.
"""

from dataclasses import dataclass, replace

import numpy as np

from analysis.ceilings import (
    Ceiling,
    apply_spearman_brown,
    average_halves,
    root_of,
    second_predicts_first,
)
from analysis.jackknife import Replicate, find_shortage, jackknife_interval, leave_out
from analysis.metrics import SUBSETS, MetricName, Subset, correlate_subset, find_trials
from analysis.rank_correlation import prepare_target
from analysis.resampling import Interval, draw_halves, mean_rt
from analysis.rows import Rows, aim_at, take_trials

# A person's correlation with the others needs this many trials.
MIN_OWN_TRIALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingReplicates:
    """The ceilings of each metric when people or scenes are left out, in the order of `leave_out`.

    Attributes
    ----------
    replicates
        What was left out.
    split_half, one_vs_rest
        By metric, for each replicate a float array, shape (n_groups,).
    """

    replicates: list[Replicate]
    split_half: dict[MetricName, list[np.ndarray]]
    one_vs_rest: dict[MetricName, list[np.ndarray]]


def replicate_ceilings(
    rows: Rows,
    *,
    n_halves: int,
    rng: np.random.Generator,
    subsets: tuple[Subset, ...] = SUBSETS,
) -> CeilingReplicates | None:
    """Return the ceilings with people and scenes left out; None where they are too few for it.

    Parameters
    ----------
    rows
        Trials and people.
    n_halves
        Fixed splits that each replicate's split half is averaged over; 0: no replicates.
    rng
        Deals what is left out, and the splits.
    subsets
        Whose metrics; the published metric has the ceilings of "all".
    """
    if find_shortage(rows) or n_halves < 1:
        return None
    replicates = leave_out(rows, rng)
    n_people = len(rows.participant_ids)
    splits = [draw_halves(n_people=n_people, n_draws=n_halves, rng=rng) for _ in replicates]
    found = CeilingReplicates(replicates=replicates, split_half={}, one_vs_rest={})
    for subset in subsets:
        wanted = find_trials(rows, subset.trials)
        if len(np.unique(rows.scenes[wanted])) < len(replicates[0].trials):
            continue
        for one, in_first in zip(replicates, splits, strict=True):
            part = _narrow(one, wanted)
            for name, values in _split_half(subset, rows, one=part, in_first=in_first).items():
                found.split_half.setdefault(name, []).append(values)
            for name, values in _one_vs_rest(subset, rows, part).items():
                found.one_vs_rest.setdefault(name, []).append(values)
    return found


def add_intervals(
    ceilings: dict[MetricName, Ceiling], rows: Rows, replicates: CeilingReplicates | None
) -> dict[MetricName, Ceiling]:
    """Return the ceilings with their intervals, or with the reason why they have none."""
    if replicates is None:
        note = find_shortage(rows)
        return {name: _note(ceiling, note) for name, ceiling in ceilings.items()}
    done = {}
    for name, ceiling in ceilings.items():
        source: MetricName = "all" if name == "published" else name
        if ceiling.split_half_r is None or source not in replicates.split_half:
            done[name] = ceiling
            continue
        half = _interval_of_r(ceiling.split_half_r, replicates.split_half[source], rows)
        rest = jackknife_interval(
            np.nan if ceiling.one_vs_rest_r is None else ceiling.one_vs_rest_r,
            replicates.one_vs_rest[source],
            rows,
        )
        done[name] = _fill(ceiling, half, rest, is_published=name == "published")
    return done


def attainable_in_replicates(replicates: CeilingReplicates, metric: MetricName) -> list[np.ndarray]:
    """Return the attainable r of a metric in each replicate; NaN where the halves don't agree."""
    return [
        np.where(r > 0, np.sqrt(np.maximum(2 * r / (1 + r), 0.0)), np.nan)
        for r in replicates.split_half[metric]
    ]


def _narrow(one: Replicate, wanted: np.ndarray) -> Replicate:
    return Replicate(
        people=one.people, is_used=one.is_used & wanted, trials=one.trials[:, wanted[one.is_used]]
    )


def _split_half(
    subset: Subset, rows: Rows, *, one: Replicate, in_first: np.ndarray
) -> dict[MetricName, np.ndarray]:
    """Return the mean split half of each group left out, shape (n_groups,)."""
    n_groups, n_splits = len(one.people), len(in_first)
    people = np.repeat(one.people, n_splits, axis=0)
    first = np.tile(in_first, (n_groups, 1))
    halves = average_halves(rows.rt_s[:, one.is_used], people * first, people * ~first)
    halves = replace(halves, weights=halves.weights * np.repeat(one.trials, n_splits, axis=0))
    part = take_trials(rows, one.is_used)
    found = correlate_subset(subset, *second_predicts_first(part, halves))
    return {name: r.reshape(n_groups, n_splits).mean(axis=1) for name, r in found.items()}


def _one_vs_rest(subset: Subset, rows: Rows, one: Replicate) -> dict[MetricName, np.ndarray]:
    """Return the mean over kept people of one person with the others, shape (n_groups,)."""
    used = np.flatnonzero(one.is_used)
    by_metric: dict[MetricName, list[np.ndarray]] = {name: [] for name in subset.metrics}
    for k, own in enumerate(rows.rt_s):
        has = np.isfinite(own[used])
        if has.sum() < MIN_OWN_TRIALS:
            continue
        trials = used[has]
        without_own = one.people.copy()
        without_own[:, k] = 0
        others = mean_rt(rows.rt_s[:, trials], without_own)
        target = prepare_target(
            others, one.trials[:, has], covariate=rows.distance_px[trials], cells=rows.cells[trials]
        )
        for name, r in correlate_subset(subset, own[trials], target).items():
            by_metric[name].append(np.where(one.people[:, k] > 0, r, np.nan))
    return {name: _mean_of_finite(values) for name, values in by_metric.items()}


def _mean_of_finite(values: list[np.ndarray]) -> np.ndarray:
    stacked = np.array(values)
    n = np.isfinite(stacked).sum(axis=0)
    return np.where(n > 0, np.nansum(stacked, axis=0) / np.maximum(n, 1), np.nan)


def _interval_of_r(estimate: float, replicated: list[np.ndarray], rows: Rows) -> Interval:
    """Return a correlation's interval, normal on Fisher's z."""
    if abs(estimate) >= 1 or any((np.abs(r) >= 1).any() for r in replicated):
        return Interval(se=None, low=None, high=None, note="no interval: perfect agreement")
    interval = jackknife_interval(
        float(np.arctanh(estimate)), [np.arctanh(r) for r in replicated], rows
    )
    if interval.low is None or interval.high is None:
        return interval
    return replace(interval, low=float(np.tanh(interval.low)), high=float(np.tanh(interval.high)))


def _fill(ceiling: Ceiling, half: Interval, rest: Interval, *, is_published: bool) -> Ceiling:
    low, high = half.low, half.high
    reliability_low = None if low is None else apply_spearman_brown(low)
    reliability_high = None if high is None else apply_spearman_brown(high)
    filled = replace(
        ceiling,
        split_half_low_r=low,
        split_half_high_r=high,
        spearman_brown_low_r=reliability_low,
        spearman_brown_high_r=reliability_high,
        attainable_low_r=root_of(low if is_published else reliability_low),
        attainable_high_r=root_of(high if is_published else reliability_high),
        one_vs_rest_low_r=rest.low,
        one_vs_rest_high_r=rest.high,
    )
    if low is not None and low <= 0:
        filled = _note(filled, "the reliability's interval reaches zero")
    return _note(_note(filled, half.note), None if rest.note == half.note else rest.note)


def _note(ceiling: Ceiling, note: str | None) -> Ceiling:
    both = "; ".join(text for text in (ceiling.note, note) if text)
    return replace(ceiling, note=both or None)


def whole_targets(rows: Rows, replicates: CeilingReplicates) -> dict[str, list[tuple]]:
    """Return, by subset of trials, which trials each replicate uses and people's target on them."""
    targets: dict[str, list[tuple]] = {}
    for subset in SUBSETS:
        wanted = find_trials(rows, subset.trials)
        for one in replicates.replicates:
            part = _narrow(one, wanted)
            means = mean_rt(rows.rt_s[:, part.is_used], part.people)
            target = aim_at(take_trials(rows, part.is_used), means, part.trials)
            targets.setdefault(subset.trials, []).append((part.is_used, target))
    return targets
