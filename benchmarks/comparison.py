"""Two equal models: how often are they called different? Simulated experiments.

Both models know the true difficulty equally well, each with noise of its own. At the 5 % level they
should be called different at most 5 % of the time. Prints the share.

Run: python benchmarks/comparison.py [--experiments 500]
"""

import argparse

import numpy as np
import pandas as pd
from rich.progress import track

from analysis.comparison import compare_models
from analysis.human import ReactionTimes
from analysis.rows import Rows, select_rows
from analysis.scoring import ScoreSettings


def simulate(rng: np.random.Generator) -> tuple[Rows, np.ndarray]:
    """Return people on 60 scenes, and the true difficulty of the trials."""
    n_people, n_scenes = 24, 60
    n = 4 * n_scenes
    cells = np.tile(np.arange(4), n_scenes)
    truth = rng.normal(0, 0.06, n)
    rt_s = 1.0 + truth * rng.normal(1, 0.5, (n_people, 1)) + rng.normal(0, 0.2, (n_people, n))
    rt_s[rng.random(rt_s.shape) > 0.5] = np.nan
    trials = pd.DataFrame(
        {
            "trial_id": [f"t{k}" for k in range(n)],
            "scene_id": np.repeat(np.arange(n_scenes), 4).astype(str),
            "same_object": cells < 2,
            "distance_condition": np.where(cells % 2 == 0, "close", "far"),
            "distance_px": rng.normal(100, 5, n) * (1 + cells % 2),
        }
    )
    times = ReactionTimes(
        rt_s=rt_s,
        participant_ids=tuple(f"p{k}" for k in range(n_people)),
        trial_ids=tuple(trials["trial_id"]),
    )
    rows = select_rows(times, trials)
    return rows, truth[np.isfinite(rt_s).any(axis=0)]


def main() -> None:
    """Print the share of experiments in which equal models are called different."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=500)
    parser.add_argument("--draws", type=int, default=200)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    settings = ScoreSettings(n_draws=arguments.draws, n_halves=2, n_left_out_halves=0)
    called = []
    for _ in track(range(arguments.experiments), transient=True):
        rows, truth = simulate(rng)
        models = {name: truth + rng.normal(0, 0.08, len(truth)) for name in ("a", "b")}
        called.append(
            bool(compare_models(models, rows, settings=settings).pairs["is_different"][0])
        )
    share = np.mean(called)
    error = np.sqrt(0.05 * 0.95 / len(called))
    print(f"equal models called different: {share:.3f} of {len(called)} (5 % ± {error:.3f})")


if __name__ == "__main__":
    main()
