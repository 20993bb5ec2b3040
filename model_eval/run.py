"""Read a model out on a benchmark's trials: each image once, all layers and readouts from that pass.

Features are reduced to readouts as they come and are not kept, so memory does not grow with the
number of images. What can't be read of a trial (no image, no mask, an object smaller than a patch) is
counted in a table of its own, never dropped silently.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd

from model_eval.card import Feature, ModelCard, choose_features, describe_card
from model_eval.displays import Display, PatchDisplay, make_display
from model_eval.readouts import Readout
from model_eval.readouts.registry import choose_readouts
from model_eval.source import Array, FeatureSource, SourceImage
from model_eval.sources.find import load_model
from model_eval.tables import Readouts, Skipped
from model_eval.view import LayerView
from stimuli.benchmark import Benchmark, load_scene_mask, load_trial_image
from stimuli.errors import InputError
from stimuli.geometry import PatchGrid, fit_image, parse_geometry
from stimuli.table_io import check_table

# A patch is high-norm if its token is this many times as long as the image's median token (ours).
HIGH_NORM_RATIO = 4.0
ALL_READOUTS = "all"
_PACKAGES = ("torch", "timm", "numpy", "scipy", "pillow")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """What to read and how.

    Attributes
    ----------
    layers
        ``last``, ``all``, or numbers such as ``0,3,11``.
    representations
        Empty for the layers' outputs; see `model_eval.card.choose_features`.
    readouts
        Names; empty for the default ones, ``("all",)`` for all.
    random_weights
        Seed of random weights, or None for pretrained ones.
    geometry
        How images become input; see `stimuli.geometry.Geometry`.
    batch_size
        Images of equal input size per forward pass.
    device
        Where networks run.
    """

    layers: str = "last"
    representations: tuple[str, ...] = ()
    readouts: tuple[str, ...] = ()
    random_weights: int | None = None
    geometry: str = "pad"
    batch_size: int = 1
    device: str = "cpu"


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
    """

    readouts: pd.DataFrame
    model_record: dict[str, Any]
    skipped: pd.DataFrame


@dataclass(slots=True, kw_only=True)
class Collected:
    """What accumulates while images are read: small arrays only."""

    parts: list[tuple[Feature, Readout, np.ndarray, np.ndarray]] = field(default_factory=list)
    skipped: set[tuple[str, str | None, str, str]] = field(default_factory=set)
    n_high_norm: int = 0
    n_silent: int = 0
    n_patches: int = 0


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
    source = load_model(name, random_seed=options.random_weights, device=options.device)
    return evaluate_source(source, benchmark, options=options, on_progress=on_progress)


def evaluate_source(
    source: FeatureSource,
    benchmark: Benchmark,
    *,
    options: EvaluationOptions,
    on_progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Return a loaded model's readouts; see `evaluate_model`."""
    features = choose_features(
        source.card, layers=options.layers, representations=options.representations
    )
    readouts = choose_readouts(options.readouts)
    collected = Collected()
    _skip_trials_without_image(benchmark, collected)
    images = _plan_images(benchmark, source.card, options)
    done = 0
    for planned in _plan_batches(images, options.batch_size):
        batch = [_load(benchmark, item) for item in planned]
        _read_batch(source, batch, features=features, readouts=readouts, collected=collected)
        done += len(batch)
        if on_progress is not None:
            on_progress(done, len(images))
    return Evaluation(
        readouts=_tabulate(source.card.name, collected, benchmark),
        model_record=_describe(
            source.card, options, features=features, collected=collected, n_images=len(images)
        ),
        skipped=_tabulate_skipped(collected),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlannedImage:
    rows: pd.DataFrame
    grid: PatchGrid


def _plan_images(
    benchmark: Benchmark, card: ModelCard, options: EvaluationOptions
) -> list[_PlannedImage]:
    """Return the images with their trials and grids, ordered so that equal sizes lie together."""
    trials = benchmark.trials
    geometry = parse_geometry(options.geometry)
    planned = []
    for _, rows in trials[trials["image"].notna()].groupby("image", sort=False):
        width, height = int(rows["width_px"].iloc[0]), int(rows["height_px"].iloc[0])
        try:
            grid = fit_image(geometry, width_px=width, height_px=height, needs=card.needs)
        except InputError as error:
            raise InputError(f"{card.name}, image {rows['image'].iloc[0]!r}: {error}") from None
        planned.append(_PlannedImage(rows=rows, grid=grid))
    if not planned:
        raise InputError(
            f"{card.name}: none of the {len(trials)} trials of {benchmark.folder} has an image; "
            "import the benchmark with its photographs"
        )
    return sorted(planned, key=lambda item: (item.grid.input_height_px, item.grid.input_width_px))


def _plan_batches(
    images: Sequence[_PlannedImage], batch_size: int
) -> Iterator[tuple[_PlannedImage, ...]]:
    """Yield batches of equal input size; `images` are sorted by it."""
    sizes = [(item.grid.input_height_px, item.grid.input_width_px) for item in images]
    start = 0
    for end in range(1, len(images) + 1):
        if end == len(images) or sizes[end] != sizes[start]:
            for first in range(start, end, batch_size):
                yield tuple(images[first : min(first + batch_size, end)])
            start = end


def _load(benchmark: Benchmark, planned: _PlannedImage) -> tuple[SourceImage, Display]:
    """Return an image and its trials, checked against the trial table."""
    row = planned.rows.iloc[0]
    loaded = load_trial_image(benchmark, row)
    image = SourceImage(
        name=str(row["image"]), sha256=loaded.sha256, pixels=loaded.pixels, grid=planned.grid
    )
    return image, make_display(planned.rows, load_scene_mask(benchmark, row))


def _read_batch(
    source: FeatureSource,
    batch: Sequence[tuple[SourceImage, Display]],
    *,
    features: Sequence[Feature],
    readouts: Sequence[Readout],
    collected: Collected,
) -> None:
    """Run one forward pass and reduce what it gives to readouts, as it comes."""
    card = source.card
    grids: dict[tuple[int, int], PatchDisplay] = {}
    last = card.layers[-1]
    norm_feature = Feature(layer=last.name, representation=last.representations[0])

    def emit(feature: Feature, tokens: Array) -> None:
        stride = card.layer(feature.layer).stride_px
        for k, (image, display) in enumerate(batch):
            if (k, stride) not in grids:
                grids[k, stride] = PatchDisplay(display, image.grid.at_stride(stride))
            where = (
                f"{card.name}, layer {feature.layer} {feature.representation}, image {image.name!r}"
            )
            view = LayerView(tokens[k], grids[k, stride], where=where)
            if feature == norm_feature:
                _count_high_norms(view, collected)
            if feature in features:
                _read_view(view, feature, readouts=readouts, collected=collected)

    wanted = dict.fromkeys((*features, norm_feature))
    source.read([image for image, _ in batch], tuple(wanted), emit)


def _read_view(
    view: LayerView, feature: Feature, *, readouts: Sequence[Readout], collected: Collected
) -> None:
    trial_ids = np.array(view.patches.display.trial_ids, dtype=object)
    for item in readouts:
        reasons = _find_reasons(view.patches, item)
        is_read = np.array([reason is None for reason in reasons])
        for trial_id, reason in zip(trial_ids, reasons, strict=True):
            if reason is not None:
                layer = feature.layer if "covers" in reason else None
                collected.skipped.add((trial_id, layer, item.name, reason))
        values = item.compute(view)
        if not np.array_equal(np.isfinite(values), is_read):
            odd = trial_ids[np.isfinite(values) != is_read][0]
            raise InputError(
                f"{view.where}: readout {item.name} of trial {odd!r} isn't a finite number"
            )
        collected.parts.append((feature, item, trial_ids[is_read], values[is_read]))


def _find_reasons(patches: PatchDisplay, item: Readout) -> list[str | None]:
    """Of each trial, why a readout can't be had, or None."""
    if item.needs == "dots":
        return [None] * len(patches.display.trial_ids)
    dot = 0 if item.needs == "object1" else 1
    found = [pair[dot] for pair in patches.objects]
    return [item if isinstance(item, str) else None for item in found]


def _count_high_norms(view: LayerView, collected: Collected) -> None:
    norms = view.norms[view.patches.has_image]
    collected.n_silent += int((norms == 0).sum())
    collected.n_high_norm += int((norms > HIGH_NORM_RATIO * np.median(norms)).sum())
    collected.n_patches += len(norms)


def _skip_trials_without_image(benchmark: Benchmark, collected: Collected) -> None:
    trials = benchmark.trials
    for trial_id in trials.loc[trials["image"].isna(), "trial_id"]:
        collected.skipped.add((trial_id, None, ALL_READOUTS, "the trial's image isn't here"))


def _tabulate(model: str, collected: Collected, benchmark: Benchmark) -> pd.DataFrame:
    """Return the table of readouts, in the trial table's order within each readout."""
    order = {trial_id: k for k, trial_id in enumerate(benchmark.trials["trial_id"])}
    parts = [
        pd.DataFrame(
            {
                "model": model,
                "layer": feature.layer,
                "representation": feature.representation,
                "readout": item.name,
                "kind": item.kind,
                "trial_id": trial_ids,
                "value": values,
            }
        )
        for feature, item, trial_ids, values in collected.parts
        if len(trial_ids)
    ]
    table = pd.concat(parts, ignore_index=True)
    place = pd.DataFrame(
        {
            "layer": pd.to_numeric(table["layer"]),
            "representation": table["representation"],
            "readout": table["readout"],
            "trial": table["trial_id"].map(order),
        }
    )
    table = table.loc[place.sort_values(list(place.columns), kind="stable").index]
    return check_table(table, Readouts, source=f"the readouts of {model}")


def _tabulate_skipped(collected: Collected) -> pd.DataFrame:
    rows = sorted(collected.skipped, key=lambda row: tuple(str(value) for value in row))
    table = pd.DataFrame(rows, columns=["trial_id", "layer", "readout", "reason"], dtype=object)
    return check_table(table, Skipped, source="the skipped readouts")


def _describe(
    card: ModelCard,
    options: EvaluationOptions,
    *,
    features: Sequence[Feature],
    collected: Collected,
    n_images: int,
) -> dict[str, Any]:
    """Return the record of a model and how it was read."""
    is_network = card.preprocessing is not None
    return {
        **describe_card(card),
        "geometry": str(parse_geometry(options.geometry)),
        "features": [f"{f.layer} {f.representation}" for f in features],
        "batch_size": options.batch_size,
        "device": options.device,
        "n_images": n_images,
        "high_norm_share": collected.n_high_norm / collected.n_patches if is_network else None,
        "silent_share": collected.n_silent / collected.n_patches if is_network else None,
        "high_norm_ratio": HIGH_NORM_RATIO,
        "versions": _find_versions(),
    }


def _find_versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
