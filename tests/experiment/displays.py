"""Benchmarks small enough for tests."""

import numpy as np
import pandas as pd

from stimuli.benchmark import Manifest, write_benchmark
from stimuli.images import write_image
from stimuli.tables import CELLS


def make_trials(n_scenes, *, n_practice=0, cells=CELLS, width_px=320, height_px=240):
    """Return a trial table of `n_scenes` test scenes and `n_practice` practice scenes."""
    rows = []
    for s in range(n_scenes + n_practice):
        for same, condition in cells:
            distance_px = 40.0 if condition == "close" else 80.0
            rows.append(
                {
                    "trial_id": f"s{s:03d}_{'same' if same else 'different'}_{condition}",
                    "scene_id": f"s{s:03d}",
                    "image": None,
                    "image_sha256": None,
                    "width_px": width_px,
                    "height_px": height_px,
                    "dot1_x_px": width_px / 2,
                    "dot1_y_px": height_px / 2,
                    "dot2_x_px": width_px / 2 + (distance_px if same else -distance_px),
                    "dot2_y_px": height_px / 2,
                    "same_object": same,
                    "distance_condition": condition,
                    "distance_px": distance_px,
                    "object1_id": pd.NA,
                    "object2_id": pd.NA,
                    "list_id": None if s < n_scenes else "practice",
                    "trials_version": "test",
                }
            )
    return pd.DataFrame(rows)


def make_benchmark(folder, *, n_scenes=8, n_practice=2, width_px=320, height_px=240):
    """Write a benchmark with images of coloured noise, and return it."""
    trials = make_trials(n_scenes, n_practice=n_practice, width_px=width_px, height_px=height_px)
    rng = np.random.default_rng(1)
    for scene_id, rows in trials.groupby("scene_id"):
        pixels = rng.integers(0, 200, (height_px, width_px, 3), dtype=np.uint8)
        pixels[..., 0] //= 2  # no red like the dots'
        digest = write_image(pixels, folder / "images" / f"{scene_id}.png")
        trials.loc[rows.index, "image"] = f"{scene_id}.png"
        trials.loc[rows.index, "image_sha256"] = digest
    manifest = Manifest(name="bench", version="1", source="test", licence="none")
    return write_benchmark(folder, manifest=manifest, trials=trials)
