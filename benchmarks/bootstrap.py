"""How fast are scores with intervals? 20 readouts x 1020 trials x 72 people x 1000 draws.

Compares `analysis.scoring.score_readouts` (five metrics, ceilings, intervals) with a plain loop that
for each draw takes the drawn people's means and calls scipy's spearmanr, one metric only. The loop
runs a few draws and is scaled up. Prints seconds and their ratio.

Run: python benchmarks/bootstrap.py
"""

import argparse
import time

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from analysis.human import ReactionTimes
from analysis.scoring import ScoreSettings, score_readouts

N_PEOPLE, N_SCENES, N_READOUTS = 72, 255, 20
# Full-size correlations per readout and draw in score_readouts: partial and all, same and different
# (half the trials each), published (both halves of people); each for scenes and for two pairs of
# halves of the scenes.
CORRELATIONS_PER_DRAW = (1 + 1 + 1 + 2) * 3


def simulate(rng: np.random.Generator) -> tuple[pd.DataFrame, ReactionTimes, pd.DataFrame]:
    """Return trials, people and readouts of the published size."""
    n = 4 * N_SCENES
    cells = np.tile(np.arange(4), N_SCENES)
    trials = pd.DataFrame(
        {
            "trial_id": [f"t{k}" for k in range(n)],
            "scene_id": np.repeat(np.arange(N_SCENES), 4).astype(str),
            "same_object": cells < 2,
            "distance_condition": np.where(cells % 2 == 0, "close", "far"),
            "distance_px": rng.normal(104, 4, n) * (1 + cells % 2),
        }
    )
    truth = rng.normal(0, 0.07, n)
    rt_s = 0.9 + truth + rng.normal(0, 0.2, (N_PEOPLE, n))
    rt_s[rng.random(rt_s.shape) > 0.21] = np.nan
    times = ReactionTimes(
        rt_s=rt_s,
        participant_ids=tuple(f"p{k}" for k in range(N_PEOPLE)),
        trial_ids=tuple(trials["trial_id"]),
    )
    readouts = pd.concat(
        pd.DataFrame(
            {
                "model": f"m{k}",
                "layer": None,
                "representation": None,
                "readout": "r",
                "kind": "difficulty",
                "trial_id": trials["trial_id"],
                "value": truth + rng.normal(0, 0.2, n),
            }
        )
        for k in range(N_READOUTS)
    )
    return trials, times, readouts


def loop_one_metric(
    times: ReactionTimes, readouts: pd.DataFrame, *, n_draws: int, rng: np.random.Generator
) -> None:
    """Bootstrap one metric over people and scenes, the plain way."""
    values = [part["value"].to_numpy() for _, part in readouts.groupby("model")]
    for _ in range(n_draws):
        people = rng.integers(0, N_PEOPLE, N_PEOPLE)
        scenes = rng.integers(0, N_SCENES, N_SCENES)
        rows = (4 * scenes[:, None] + np.arange(4)).ravel()
        drawn = times.rt_s[people][:, rows]
        seen = np.isfinite(drawn).any(axis=0)
        mean = np.nanmean(drawn[:, seen], axis=0)
        for value in values:
            spearmanr(value[rows][seen], mean)


def main() -> None:
    """Print both times and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--loop-draws", type=int, default=25)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    trials, times, readouts = simulate(rng)
    start = time.perf_counter()
    settings = ScoreSettings(n_draws=arguments.draws)
    score_readouts(readouts, times=times, trials=trials, settings=settings)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    loop_one_metric(times, readouts, n_draws=arguments.loop_draws, rng=rng)
    loop = (time.perf_counter() - start) * arguments.draws / arguments.loop_draws
    print(
        f"{N_READOUTS} readouts x {len(trials)} trials x {N_PEOPLE} people, {arguments.draws} draws"
    )
    same_work = loop * CORRELATIONS_PER_DRAW
    print(f"score_readouts, all metrics, ceilings, kinds of draws:  {ours:7.1f} s")
    print(f"plain loop, one metric and kind of draw (scaled up):    {loop:7.1f} s")
    print(
        f"plain loop, the same work ({CORRELATIONS_PER_DRAW} x that):                  {same_work:7.1f} s"
    )
    print(f"ratio of the same work, loop / ours: {same_work / ours:.0f}")


if __name__ == "__main__":
    main()
