"""Small benchmarks and networks whose answers are known by hand."""

import numpy as np
import pandas as pd
import pytest

from stimuli.benchmark import Benchmark, Manifest, write_benchmark
from stimuli.images import write_image, write_mask


def make_trials(scene: str, *, width: int, height: int, sha256: str | None, dots) -> pd.DataFrame:
    """Return one row per ((x1, y1), (x2, y2), object1, object2)."""
    rows = [
        {
            "trial_id": f"{scene}_{k}",
            "scene_id": scene,
            "image": f"{scene}.png" if sha256 else None,
            "image_sha256": sha256,
            "width_px": width,
            "height_px": height,
            "dot1_x_px": float(first[0]),
            "dot1_y_px": float(first[1]),
            "dot2_x_px": float(second[0]),
            "dot2_y_px": float(second[1]),
            "same_object": object1 == object2,
            "distance_condition": "close",
            "distance_px": float(np.hypot(first[0] - second[0], first[1] - second[1])),
            "object1_id": object1,
            "object2_id": object2,
            "list_id": None,
            "trials_version": "test-1",
        }
        for k, (first, second, object1, object2) in enumerate(dots)
    ]
    table = pd.DataFrame(rows)
    return table.astype({"object1_id": "Int64", "object2_id": "Int64"})


def make_scene(folder, name: str, *, width: int, height: int, rng, dots, labels=None):
    """Write a random photograph (and mask) into a benchmark folder; return its trials."""
    pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    sha256 = write_image(pixels, folder / "images" / f"{name}.png")
    if labels is not None:
        write_mask(labels, folder / "masks" / f"{name}.png")
    return make_trials(name, width=width, height=height, sha256=sha256, dots=dots)


def write_small_benchmark(folder, rng) -> Benchmark:
    """Return three scenes of two sizes: one with mask, one without, one without its image."""
    labels = np.zeros((64, 96), np.int32)
    labels[:, :48] = 1
    labels[:, 48:] = 2
    labels[0:4, 0:4] = 3
    dots = [
        ((20, 30), (40, 50), 1, 1),
        ((20, 30), (70, 40), 1, 2),
        ((2, 2), (70, 40), 3, 2),
        ((20, 30), (90, 60), None, 2),
    ]
    tables = [
        make_scene(folder, "masked", width=96, height=64, rng=rng, dots=dots, labels=labels),
        make_scene(folder, "bare", width=50, height=70, rng=rng, dots=[((1, 1), (49, 69), 1, 1)]),
        make_trials("absent", width=50, height=70, sha256=None, dots=[((1, 1), (9, 9), 1, 2)]),
    ]
    manifest = Manifest(name="small", version="1", source="made up", licence="none")
    return write_benchmark(folder, manifest=manifest, trials=pd.concat(tables, ignore_index=True))


@pytest.fixture
def small_benchmark(tmp_path, rng) -> Benchmark:
    return write_small_benchmark(tmp_path / "bench", rng)
