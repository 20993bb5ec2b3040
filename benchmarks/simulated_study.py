"""Time a whole study of simulated people through the task's own code.

Compares `experiment.study.simulate_study` (72 people, 32 practice and 256 test displays each: every
flip, every key poll, a row file and a sidecar per person) with `experiment.observers.simulate_responses`,
which draws the same answers without the task. Prints seconds and their ratio.

Run: python benchmarks/simulated_study.py [--people 72]
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from experiment.config import PUBLISHED_SESSION
from experiment.observers import draw_true_difficulty, simulate_responses
from experiment.study import simulate_study
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.tables import CELLS

N_SCENES, N_PRACTICE = 256, 32


def make_trials() -> pd.DataFrame:
    """Return a trial table of the published size."""
    rows = [
        {
            "trial_id": f"s{s:03d}_{same}_{condition}",
            "scene_id": f"s{s:03d}",
            "image": None,
            "image_sha256": None,
            "width_px": 640,
            "height_px": 480,
            "dot1_x_px": 320.5,
            "dot1_y_px": 240.5,
            "dot2_x_px": 320.5 + (104 if condition == "close" else 203),
            "dot2_y_px": 240.5,
            "same_object": same,
            "distance_condition": condition,
            "distance_px": 104.0 if condition == "close" else 203.0,
            "object1_id": pd.NA,
            "object2_id": pd.NA,
            "list_id": None if s < N_SCENES else "practice",
            "trials_version": "benchmark",
        }
        for s in range(N_SCENES + N_PRACTICE)
        for same, condition in CELLS
    ]
    return pd.DataFrame(rows)


def main() -> None:
    """Print both times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=72)
    n_people = parser.parse_args().people
    trials = make_trials()
    rng = np.random.default_rng(0)
    difficulty = draw_true_difficulty(trials, rng)
    begin_s = time.perf_counter()
    simulate_responses(trials, difficulty, n_people=n_people, rng=rng)
    direct_s = time.perf_counter() - begin_s
    with tempfile.TemporaryDirectory() as folder:
        manifest = Manifest(name="study", version="1", source="made here", licence="none")
        write_benchmark(Path(folder), manifest=manifest, trials=trials)
        begin_s = time.perf_counter()
        n_rows = simulate_study(Path(folder), n_people=n_people, seed=0, config=PUBLISHED_SESSION)
        task_s = time.perf_counter() - begin_s
    print(f"{n_people} people, {n_rows} rows")
    print(f"through the task: {task_s:.1f} s; answers alone: {direct_s:.2f} s")
    print(f"ratio {task_s / direct_s:.0f}; {1000 * task_s / n_rows:.2f} ms a presentation")


if __name__ == "__main__":
    main()
