"""Two equal models: how often are they called different? Simulated experiments.

Both models know the true difficulty equally well, each with noise of its own. At the 5 % level they
should be called different at most 5 % of the time. Prints the share.

Run: python benchmarks/comparison.py [--experiments 500] [--seed 0]
"""

import argparse

import numpy as np
from rich.progress import track

from analysis.comparison import compare_models
from analysis.prepared import ScoreSettings
from analysis.simulation import Study, draw_model, simulate_study

STUDY = Study(
    n_people=24,
    n_scenes=60,
    conditions_per_scene=2,
    accuracy=1.0,
    person_sd_s=0.0,
    slope_sd=0.5,
    scene_sd_s=0.0,
    trial_sd_s=0.06,
    noise_sd_s=0.2,
)
CORRELATION = 0.6  # of either model with the true difficulty


def main() -> None:
    """Print the share of experiments in which equal models are called different."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=500)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    settings = ScoreSettings(n_draws=arguments.draws, n_halves=2, n_left_out_halves=0)
    called = []
    for _ in track(range(arguments.experiments), transient=True):
        made = simulate_study(STUDY, rng)
        models = {name: draw_model(made.truth, CORRELATION, rng) for name in ("a", "b")}
        called.append(
            bool(compare_models(models, made.rows, settings=settings).pairs["is_different"][0])
        )
    share = np.mean(called)
    error = np.sqrt(0.05 * 0.95 / len(called))
    print(f"equal models called different: {share:.3f} of {len(called)} (5 % ± {error:.3f})")


if __name__ == "__main__":
    main()
