"""A small benchmark of real photographs with made-up dots, from shared/coco128."""

import numpy as np
import pandas as pd

from stimuli.benchmark import Benchmark, Manifest, write_benchmark
from stimuli.coco import open_panoptic
from stimuli.faults import FaultLog
from stimuli.images import write_image, write_mask
from tests.model_eval.conftest import make_trials

MIN_AREA_PX = 5000


def write_photograph_benchmark(folder, shared, *, n_images: int, rng) -> Benchmark:
    """Write the first photographs of val2017, four trials each on their two largest things."""
    annotations = shared / "coco128" / "panoptic_segmentation" / "annotations"
    coco = open_panoptic(
        annotations / "panoptic_val2017.json",
        images_folder=shared / "coco128" / "images" / "val2017",
    )
    tables = []
    for scene_id in coco.scene_ids:
        scene = coco.read(scene_id, FaultLog(policy="skip"))
        areas = np.bincount(scene.labels.ravel())
        things = [item.object_id for item in scene.objects if item.is_thing and not item.is_crowd]
        large = sorted(things, key=lambda number: -areas[number])[:2]
        if len(large) < 2 or areas[large[1]] < MIN_AREA_PX:
            continue
        height, width = scene.labels.shape
        sha256 = write_image(scene.pixels, folder / "images" / f"{scene_id}.png")
        write_mask(scene.labels, folder / "masks" / f"{scene_id}.png")
        dots = [
            (pick(scene.labels, a, rng), pick(scene.labels, b, rng), a, b)
            for a, b in [
                (large[0], large[0]),
                (large[1], large[1]),
                tuple(large),
                tuple(large[::-1]),
            ]
        ]
        tables.append(make_trials(scene_id, width=width, height=height, sha256=sha256, dots=dots))
        if len(tables) == n_images:
            break
    manifest = Manifest(name="photographs", version="1", source="coco128", licence="see COCO")
    return write_benchmark(folder, manifest=manifest, trials=pd.concat(tables, ignore_index=True))


def pick(labels, number, rng):
    y, x = np.nonzero(labels == number)
    k = rng.integers(len(x))
    return x[k] + 0.5, y[k] + 0.5
