"""Read a model out on a benchmark's trials: each image once, all layers and readouts from that pass.

Features are reduced to readouts as they come and are not kept, so memory does not grow with the
number of images. What can't be read of a trial (no image, no mask, an object smaller than a patch) is
counted in a table of its own, never dropped silently.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd

from model_eval.card import Feature, ModelCard, choose_features, describe_card
from model_eval.displays import Display, make_display
from model_eval.options import EvaluationOptions
from model_eval.readouts import choose_readouts
from model_eval.reduce import HIGH_NORM_RATIO, ImageReducer, Plan, make_plan
from model_eval.results import (
    ALL_READOUTS,
    ImageResult,
    SkippedTrial,
    add_norms,
    tabulate_readouts,
    tabulate_scenes,
    tabulate_skipped,
    tabulate_summaries,
)
from model_eval.source import Array, FeatureSource, SourceImage
from model_eval.sources.find import load_model
from stimuli.benchmark import Benchmark, load_scene_mask, load_trial_image
from stimuli.errors import InputError
from stimuli.geometry import PatchGrid, fit_image, parse_geometry

_PACKAGES = ("torch", "timm", "numpy", "scipy", "pillow")

__all__ = ["Evaluation", "EvaluationOptions", "evaluate_model", "evaluate_source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What came of one model.

    Attributes
    ----------
    readouts
        Valid under `model_eval.tables.Readouts`.
    model_record
        What the model says of itself and how it was read, for a JSON file.
    skipped
        Valid under `model_eval.tables.Skipped`: what could not be read, and why.
    scenes
        Valid under `model_eval.tables.SceneStatistics`; empty unless asked for.
    summaries
        Valid under `model_eval.tables.Summaries`; empty unless curves were asked for.
    """

    readouts: pd.DataFrame
    model_record: dict[str, Any]
    skipped: pd.DataFrame
    scenes: pd.DataFrame
    summaries: pd.DataFrame


def evaluate_model(
    name: str,
    benchmark: Benchmark,
    *,
    options: EvaluationOptions,
    on_progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Return a named model's readouts of a benchmark's trials.

    Parameters
    ----------
    name
        See `model_eval.sources.find.load_model`.
    benchmark
        Its trials with an image are read.
    options
        What to read and how.
    on_progress
        Called with images done and images in all.

    Raises
    ------
    InputError
        The model can't be had or can't read these images, or no trial has an image.
    """
    source = load_model(
        name, random_seed=options.random_weights, device=options.device, dtype=options.dtype
    )
    return evaluate_source(source, benchmark, options=options, on_progress=on_progress)


def evaluate_source(
    source: FeatureSource,
    benchmark: Benchmark,
    *,
    options: EvaluationOptions,
    on_progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Return a loaded model's readouts; see `evaluate_model`."""
    card = source.card
    features = choose_features(card, layers=options.layers, representations=options.representations)
    plan = make_plan(card, features, choose_readouts(options.readouts), options=options)
    images = plan_images(benchmark, card, options.geometry)
    results: list[ImageResult] = []
    for batch in plan_batches(images, options.batch_size):
        results.extend(read_batch(source, [load_planned(benchmark, item) for item in batch], plan))
        if on_progress is not None:
            on_progress(len(results), len(images))
    return make_evaluation(plan, benchmark, results)


def make_evaluation(plan: Plan, benchmark: Benchmark, results: Sequence[ImageResult]) -> Evaluation:
    """Return the tables of a model from the results of all images."""
    model = plan.card.name
    trials = benchmark.trials
    order = {trial_id: k for k, trial_id in enumerate(trials["trial_id"])}
    skipped = [
        SkippedTrial(
            trial_id=trial_id,
            layer=None,
            readout=ALL_READOUTS,
            reason="the trial's image isn't here",
        )
        for trial_id in trials.loc[trials["image"].isna(), "trial_id"]
    ]
    skipped += [row for result in results for row in result.skipped]
    return Evaluation(
        readouts=tabulate_readouts(model, results, order=order),
        model_record=describe_run(plan, results),
        skipped=tabulate_skipped(skipped),
        scenes=tabulate_scenes(model, results),
        summaries=tabulate_summaries(model, results),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedImage:
    """An image to read: the rows of its trials and how it becomes the model's input."""

    rows: pd.DataFrame
    grid: PatchGrid


def plan_images(benchmark: Benchmark, card: ModelCard, geometry: str) -> list[PlannedImage]:
    """Return the images with their trials and grids, ordered so that equal sizes lie together.

    Raises
    ------
    InputError
        No trial has an image, or the geometry can't serve one of them; its name is in the message.
    """
    trials = benchmark.trials
    parsed = parse_geometry(geometry)
    planned = []
    for _, rows in trials[trials["image"].notna()].groupby("image", sort=False):
        width, height = int(rows["width_px"].iloc[0]), int(rows["height_px"].iloc[0])
        try:
            grid = fit_image(parsed, width_px=width, height_px=height, needs=card.needs)
        except InputError as error:
            raise InputError(f"{card.name}, image {rows['image'].iloc[0]!r}: {error}") from None
        planned.append(PlannedImage(rows=rows, grid=grid))
    if not planned:
        raise InputError(
            f"{card.name}: none of the {len(trials)} trials of {benchmark.folder} has an image; "
            "import the benchmark with its photographs"
        )
    return sorted(planned, key=lambda item: (item.grid.input_height_px, item.grid.input_width_px))


def plan_batches(
    images: Sequence[PlannedImage], batch_size: int
) -> Iterator[tuple[PlannedImage, ...]]:
    """Yield batches of equal input size; `images` are sorted by it."""
    sizes = [(item.grid.input_height_px, item.grid.input_width_px) for item in images]
    start = 0
    for end in range(1, len(images) + 1):
        if end == len(images) or sizes[end] != sizes[start]:
            for first in range(start, end, batch_size):
                yield tuple(images[first : min(first + batch_size, end)])
            start = end


def load_planned(benchmark: Benchmark, planned: PlannedImage) -> tuple[SourceImage, Display]:
    """Return an image and its trials, checked against the trial table."""
    row = planned.rows.iloc[0]
    loaded = load_trial_image(benchmark, row)
    image = SourceImage(
        name=str(row["image"]), sha256=loaded.sha256, pixels=loaded.pixels, grid=planned.grid
    )
    return image, make_display(planned.rows, load_scene_mask(benchmark, row))


def read_batch(
    source: FeatureSource, batch: Sequence[tuple[SourceImage, Display]], plan: Plan
) -> list[ImageResult]:
    """Run one forward pass and reduce what it gives to readouts, as it comes."""
    reducers = [ImageReducer(plan, image, display) for image, display in batch]

    def emit(feature: Feature, tokens: Array) -> None:
        for reducer, own in zip(reducers, tokens, strict=True):
            reducer.take(feature, own)

    source.read([image for image, _ in batch], plan.features, emit)
    return [reducer.result for reducer in reducers]


def describe_run(plan: Plan, results: Sequence[ImageResult]) -> dict[str, Any]:
    """Return the record of a model and how it was read."""
    card, options = plan.card, plan.options
    is_network = card.preprocessing is not None
    norms = add_norms(results)
    return {
        **describe_card(card),
        "options": asdict(options),
        "geometry": str(parse_geometry(options.geometry)),
        "features": [f"{f.layer} {f.representation}" for f in plan.readouts],
        "n_images": len(results),
        "high_norm_share": norms.n_high / norms.n_patches if is_network else None,
        "silent_share": norms.n_silent / norms.n_patches if is_network else None,
        "high_norm_ratio": HIGH_NORM_RATIO,
        "versions": find_versions(),
    }


def find_versions() -> dict[str, str]:
    """Return the versions of the libraries that readouts depend on."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
