"""People's side of every score on one set of rows, prepared once for all readouts.

Ranks of people don't depend on the readout. What is drawn, split and left out is decided by the seed
and the rows alone, so readouts on the same rows meet the same draws and can be compared draw by draw.
"""

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from analysis.ceiling_intervals import (
    CeilingReplicates,
    add_intervals,
    replicate_ceilings,
    whole_targets,
)
from analysis.ceilings import Ceiling, Halves, average_halves, compute_ceilings, split_people
from analysis.metrics import N_HALVES, SUBSETS, MetricName, find_trials
from analysis.rank_correlation import Target
from analysis.resampling import Draw, draw_bootstrap, draw_halves, mean_rt
from analysis.rows import Rows, aim_at, take_trials


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """What a score needs besides the data; written into its record."""

    n_draws: int = 1000  # bootstrap draws of each kind (people, scenes, both)
    n_halves: int = N_HALVES  # random halves of people for ceilings and the published form
    # Fixed halves in each replicate of the ceilings' intervals; 0: the ceilings get no interval.
    n_left_out_halves: int = 8
    seed: int = 0  # root of all randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """People's side of a correlation, and the trials that it is on: bool, shape (n_trials,)."""

    is_used: np.ndarray
    target: Target


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The people's side of every score on one set of rows, prepared once for all readouts.

    Attributes
    ----------
    rows
        The trials and people.
    ceilings
        By metric.
    whole, drawn
        By subset of trials: people as they are, and in the draws of `draw_bootstrap`.
    halves, drawn_halves
        Both halves of people of the published metric, likewise.
    replicates
        The ceilings with people and scenes left out; None where they are too few.
    left_out
        By subset of trials, people in each of these replicates.
    """

    rows: Rows
    ceilings: dict[MetricName, Ceiling]
    whole: dict[str, Aim]
    drawn: list[dict[str, Aim]]
    halves: tuple[Aim, Aim]
    drawn_halves: list[tuple[Aim, Aim]]
    replicates: CeilingReplicates | None
    left_out: dict[str, list[Aim]]


def prepare_people(rows: Rows, settings: ScoreSettings) -> People:
    """Return the people's side of all scores on `rows`; the same rows and seed give the same draws."""
    # The rows are part of the seed, so that a score doesn't depend on what is scored beside it.
    digest = int.from_bytes(hashlib.sha256(rows.sha256.encode()).digest()[:8])
    streams = np.random.SeedSequence([settings.seed, digest]).spawn(5)
    ceiling_rng, halves_rng, draw_rng, split_rng, jackknife_rng = (
        np.random.default_rng(s) for s in streams
    )
    n_people = len(rows.participant_ids)
    draws = draw_bootstrap(
        n_people=n_people, scenes=rows.scenes, n_draws=settings.n_draws, rng=draw_rng
    )
    one_draw = np.ones((1, n_people))
    everything = np.ones(len(rows.trial_ids), dtype=bool)
    whole = Draw(people=one_draw, is_used=everything, trials=np.ones((1, len(rows.trial_ids))))
    halves = split_people(rows, n_halves=settings.n_halves, rng=halves_rng)
    replicates = replicate_ceilings(rows, n_halves=settings.n_left_out_halves, rng=jackknife_rng)
    ceilings = compute_ceilings(rows, n_halves=settings.n_halves, rng=ceiling_rng)
    return People(
        rows=rows,
        ceilings=add_intervals(ceilings, rows, replicates),
        whole=_aim_subsets(rows, whole),
        drawn=[_aim_subsets(rows, draw) for draw in draws],
        halves=_aim_halves(rows, halves, everything),
        drawn_halves=_draw_halves(rows, draws, split_rng),
        replicates=replicates,
        left_out={} if replicates is None else _leave_out(rows, replicates),
    )


def _aim_subsets(rows: Rows, draw: Draw) -> dict[str, Aim]:
    aims = {}
    for subset in SUBSETS:
        wanted = find_trials(rows, subset.trials)
        keep = draw.is_used & wanted
        if keep.any():
            means = mean_rt(rows.rt_s[:, keep], draw.people)
            target = aim_at(take_trials(rows, keep), means, draw.trials[:, wanted[draw.is_used]])
            aims[subset.trials] = Aim(is_used=keep, target=target)
    return aims


def _draw_halves(rows: Rows, draws: list[Draw], rng: np.random.Generator) -> list[tuple[Aim, Aim]]:
    """Split the people of each draw at random, alike in all kinds of draws.

    Nobody is in both halves, however often drawn.
    """
    n_draws, n_people = draws[0].people.shape
    in_first = draw_halves(n_people=n_people, n_draws=n_draws, rng=rng)
    aims = []
    for draw in draws:
        part = take_trials(rows, draw.is_used)
        rt_s = rows.rt_s[:, draw.is_used]
        halves = average_halves(rt_s, draw.people * in_first, draw.people * ~in_first)
        weighted = replace(halves, weights=halves.weights * draw.trials)
        aims.append(_aim_halves(part, weighted, draw.is_used))
    return aims


def _aim_halves(rows: Rows, halves: Halves, is_used: np.ndarray) -> tuple[Aim, Aim]:
    def aim(means: np.ndarray) -> Aim:
        people = np.where(halves.weights > 0, means, np.nan)
        return Aim(is_used=is_used, target=aim_at(rows, people, halves.weights))

    return aim(halves.first), aim(halves.second)


def _leave_out(rows: Rows, replicates: CeilingReplicates) -> dict[str, list[Aim]]:
    return {
        name: [Aim(is_used=is_used, target=target) for is_used, target in targets]
        for name, targets in whole_targets(rows, replicates).items()
    }
