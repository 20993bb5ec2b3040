"""Does the 95 % interval cover? Simulated experiments with planted truth.

Each experiment draws new people and new scenes. Its interval should cover the score that such
experiments give on average. Prints, per scenario, the coverage, and the stated standard error as a
ratio to the real one, for our interval and, as named alternatives, for scenes alone and for the
two-factor formula 2 (V_people + V_scenes) - V_both.

Run: python benchmarks/coverage.py [--experiments 500]
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rich.progress import track

from analysis.human import ReactionTimes
from analysis.rank_correlation import Target, correlate_partial_ranked, rank_weighted
from analysis.resampling import compute_variance, draw_bootstrap, estimate_interval, mean_rt
from analysis.rows import Rows, aim_at, select_rows, take_trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A kind of study."""

    name: str
    n_people: int
    n_scenes: int
    noise_sd_s: float  # residual of one RT
    slope_sd: float  # spread over people of how much the trial's difficulty moves them
    share: float  # of trials that a person sees


SCENARIOS = (
    Scenario(name="all see all", n_people=20, n_scenes=60, noise_sd_s=0.2, slope_sd=0, share=1),
    Scenario(name="noisy people", n_people=20, n_scenes=60, noise_sd_s=0.5, slope_sd=0, share=1),
    Scenario(name="people differ", n_people=20, n_scenes=60, noise_sd_s=0.2, slope_sd=1, share=1),
    Scenario(
        name="as published", n_people=72, n_scenes=100, noise_sd_s=0.25, slope_sd=0.5, share=0.22
    ),
)


def simulate(scenario: Scenario, rng: np.random.Generator) -> tuple[Rows, np.ndarray]:
    """Return the rows of one experiment and a model's readout on them."""
    s, n_trials = scenario, 4 * scenario.n_scenes
    scenes = np.repeat(np.arange(s.n_scenes), 4)
    shared = rng.normal(0, 0.05, n_trials) + rng.normal(0, 0.03, s.n_scenes)[scenes]
    private = rng.normal(0, 0.05, n_trials)
    weights = rng.normal(1, s.slope_sd, (s.n_people, 1)), rng.normal(0, s.slope_sd, (s.n_people, 1))
    rt_s = 1.2 + weights[0] * shared + weights[1] * private
    rt_s = rt_s + rng.normal(0, s.noise_sd_s, rt_s.shape)
    rt_s[rng.random(rt_s.shape) > s.share] = np.nan
    cells = np.tile(np.arange(4), s.n_scenes)
    trials = pd.DataFrame(
        {
            "trial_id": [f"t{k}" for k in range(n_trials)],
            "scene_id": scenes.astype(str),
            "same_object": cells < 2,
            "distance_condition": np.where(cells % 2 == 0, "close", "far"),
            "distance_px": rng.normal(100, 5, n_trials) * (1 + cells % 2),
        }
    )
    times = ReactionTimes(
        rt_s=rt_s,
        participant_ids=tuple(f"p{k}" for k in range(s.n_people)),
        trial_ids=tuple(trials["trial_id"]),
    )
    rows = select_rows(times, trials)
    seen = np.isfinite(rt_s).any(axis=0)
    return rows, (shared + rng.normal(0, 0.05, n_trials))[seen]


def score(readout: np.ndarray, target: Target) -> np.ndarray:
    """Return the partial correlation of each draw."""
    return correlate_partial_ranked(rank_weighted(readout, target.weights), target)


def run_experiment(scenario: Scenario, rng: np.random.Generator, n_draws: int) -> dict[str, float]:
    """Return estimate, interval and standard errors (on z) of one experiment."""
    rows, readout = simulate(scenario, rng)
    draws = draw_bootstrap(n_people=scenario.n_people, scenes=rows.scenes, n_draws=n_draws, rng=rng)
    drawn = []
    for draw in draws:
        part = take_trials(rows, draw.is_used)
        means = mean_rt(rows.rt_s[:, draw.is_used], draw.people)
        drawn.append(score(readout[draw.is_used], aim_at(part, means, draw.trials)))
    ones = np.ones((1, len(readout)))
    estimate = float(score(readout, aim_at(rows, rows.mean_rt_s, ones))[0])
    people, scenes = draws[1].people, draws[0].trials
    both = score(readout, aim_at(rows, mean_rt(rows.rt_s, people), scenes))
    alone = score(readout, aim_at(rows, mean_rt(rows.rt_s, people), np.ones_like(scenes)))
    v_people, v_scenes, v_both = (np.var(np.arctanh(r)) for r in (alone, drawn[0], both))
    interval = estimate_interval(estimate, drawn)
    return {
        "r": estimate,
        "low": np.nan if interval.low is None else interval.low,
        "high": np.nan if interval.high is None else interval.high,
        "ours": np.sqrt(compute_variance([np.arctanh(r) for r in drawn])),
        "scenes": np.sqrt(v_scenes),
        "formula": np.sqrt(2 * (v_people + v_scenes) - v_both),
    }


def main() -> None:
    """Print one line per scenario."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=500)
    parser.add_argument("--draws", type=int, default=200)
    arguments = parser.parse_args()
    print("scenario          mean r  coverage  SE ours / real  scenes alone / real  formula / real")
    for k, scenario in enumerate(SCENARIOS):
        rng = np.random.default_rng(k)
        steps = track(range(arguments.experiments), description=scenario.name, transient=True)
        table = pd.DataFrame([run_experiment(scenario, rng, arguments.draws) for _ in steps])
        planted = np.tanh(np.arctanh(table["r"]).mean())
        coverage = ((table["low"] < planted) & (planted < table["high"])).mean()
        real = np.arctanh(table["r"]).std()
        ratios = [table[name].mean() / real for name in ("ours", "scenes", "formula")]
        print(
            f"{scenario.name:<17} {planted:6.3f}  {coverage:8.3f}  {ratios[0]:14.2f}  "
            f"{ratios[1]:19.2f}  {ratios[2]:14.2f}"
        )


if __name__ == "__main__":
    main()
