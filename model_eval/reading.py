"""Images of a benchmark to what is kept of them: which, in which batches, one forward pass each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from model_eval.card import Feature, ModelCard
from model_eval.displays import Display, make_display
from model_eval.keep import FeatureKeeper
from model_eval.reduce import ImageReducer, Plan
from model_eval.results import ImageResult
from model_eval.source import Array, FeatureSource, SourceImage
from stimuli.benchmark import Benchmark, load_scene_mask, load_trial_image
from stimuli.errors import InputError
from stimuli.geometry import PatchGrid, fit_image, parse_geometry


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
    source: FeatureSource,
    batch: Sequence[tuple[SourceImage, Display]],
    plan: Plan,
    *,
    keeper: FeatureKeeper | None = None,
) -> list[ImageResult]:
    """Run one forward pass and reduce what it gives to readouts, as it comes."""
    reducers = [ImageReducer(plan, image, display) for image, display in batch]

    def emit(feature: Feature, tokens: Array) -> None:
        for reducer, (image, _), own in zip(reducers, batch, tokens, strict=True):
            reducer.take(feature, own)
            if keeper is not None and feature in plan.readouts:
                keeper.take(image, feature, own)

    source.read([image for image, _ in batch], plan.features, emit)
    if keeper is not None:
        for image, _ in batch:
            keeper.finish(image)
    return [reducer.result for reducer in reducers]
