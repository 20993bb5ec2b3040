"""Read a model out on a benchmark's trials: each image once, all layers and readouts from that pass.

Features are reduced to readouts as they come and are not kept, so memory does not grow with the
number of images. What can't be read of a trial (no image, no mask, an object smaller than a patch) is
counted in a table of its own, never dropped silently.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from model_eval.cache import (
    Entry,
    Explanation,
    describe_image,
    explain_entry,
    find_entry,
    make_parts,
    read_entry,
    write_entry,
)
from model_eval.card import Feature, ModelCard, choose_features, describe_card
from model_eval.device import find_device
from model_eval.keep import FeatureKeeper
from model_eval.map_files import AffinityMap, choose_map_trials
from model_eval.options import EvaluationOptions
from model_eval.reading import PlannedImage, load_planned, plan_batches, plan_images, read_batch
from model_eval.readouts import choose_readouts
from model_eval.reduce import HIGH_NORM_RATIO, Plan, make_plan
from model_eval.results import (
    ALL_READOUTS,
    ImageResult,
    PairVectors,
    SkippedTrial,
    add_norms,
    collect_maps,
    collect_pairs,
    tabulate_readouts,
    tabulate_scenes,
    tabulate_skipped,
    tabulate_summaries,
)
from model_eval.source import FeatureSource
from model_eval.sources.find import load_model
from stimuli.benchmark import Benchmark, hash_file
from stimuli.errors import InputError
from stimuli.geometry import parse_geometry

_PACKAGES = ("torch", "timm", "numpy", "scipy", "pillow")

__all__ = ["Evaluation", "EvaluationOptions", "Storage", "evaluate_model", "evaluate_source"]


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
    pairs
        Both dots' vectors by feature; empty unless asked for.
    maps
        First dots' affinity maps; empty unless asked for.
    """

    readouts: pd.DataFrame
    model_record: dict[str, Any]
    skipped: pd.DataFrame
    scenes: pd.DataFrame
    summaries: pd.DataFrame
    pairs: Mapping[Feature, PairVectors]
    maps: Sequence[AffinityMap]


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """What a run keeps on disk besides its tables.

    Attributes
    ----------
    cache
        Folder of images' results, so that an interrupted run continues; None keeps none.
    features
        Folder for the features themselves; None keeps none. Such a run takes nothing from the cache.
    """

    cache: Path | None = None
    features: Path | None = None


NOTHING_KEPT = Storage()
OnProgress = Callable[[int, int], None]


def evaluate_model(
    name: str,
    benchmark: Benchmark,
    *,
    options: EvaluationOptions,
    on_progress: OnProgress | None = None,
    storage: Storage = NOTHING_KEPT,
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
    storage
        What to keep on disk.

    Raises
    ------
    InputError
        The model can't be had or can't read these images, or no trial has an image.
    """
    options = replace(options, device=find_device(options.device))
    source = load_model(
        name, random_seed=options.random_weights, device=options.device, dtype=options.dtype
    )
    return evaluate_source(
        source, benchmark, options=options, on_progress=on_progress, storage=storage
    )


def evaluate_source(
    source: FeatureSource,
    benchmark: Benchmark,
    *,
    options: EvaluationOptions,
    on_progress: OnProgress | None = None,
    storage: Storage = NOTHING_KEPT,
) -> Evaluation:
    """Return a loaded model's readouts; see `evaluate_model`."""
    plan = plan_reading(source.card, options, trials=benchmark.trials)
    images = plan_images(benchmark, source.card, options.geometry)
    run = Run(source=source, benchmark=benchmark, plan=plan, storage=storage)
    results: list[ImageResult] = []
    n_cached = 0
    for batch in plan_batches(images, options.batch_size):
        found = run.read_or_recall(batch)
        results.extend(found.results)
        n_cached += found.n_cached
        if on_progress is not None:
            on_progress(len(results), len(images))
    return make_evaluation(plan, benchmark, results, n_cached=n_cached)


def explain_cache(
    name: str, benchmark: Benchmark, *, options: EvaluationOptions, cache: Path
) -> list[Explanation]:
    """Return of each image whether its result is known, and if not, what differs; reads nothing.

    Raises
    ------
    InputError
        The model can't be had, or it is one of those that are never cached.
    """
    options = replace(options, device=find_device(options.device))
    source = load_model(
        name, random_seed=options.random_weights, device=options.device, dtype=options.dtype
    )
    plan = plan_reading(source.card, options, trials=benchmark.trials)
    run = Run(source=source, benchmark=benchmark, plan=plan, storage=Storage(cache=cache))
    if not run.is_cached:
        raise InputError(
            f"{source.card.name}: its weights have no known hash, so its results are never cached"
        )
    images = plan_images(benchmark, source.card, options.geometry)
    return [
        explain_entry(entry)
        for batch in plan_batches(images, options.batch_size)
        for entry in run.find_entries(batch)
    ]


def plan_reading(
    card: ModelCard, options: EvaluationOptions, *, trials: pd.DataFrame | None = None
) -> Plan:
    """Return what is read of a model; `trials` is needed where maps are kept."""
    features = choose_features(card, layers=options.layers, representations=options.representations)
    maps = choose_map_trials(options.map_trials, trials) if trials is not None else frozenset()
    return make_plan(
        card, features, choose_readouts(options.readouts), options=options, map_trials=maps
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResults:
    """What came of one batch, and how many of its images were known already."""

    results: tuple[ImageResult, ...]
    n_cached: int


class Run:
    """One model on one benchmark, with what it keeps on disk.

    Parameters
    ----------
    source, benchmark, plan
        What is read of what.
    storage
        What is kept.
    """

    def __init__(
        self, *, source: FeatureSource, benchmark: Benchmark, plan: Plan, storage: Storage
    ) -> None:
        self._source = source
        self._benchmark = benchmark
        self._plan = plan
        options = plan.options
        geometry = str(parse_geometry(options.geometry))
        self._cache = storage.cache
        self._parts = (
            make_parts(plan, geometry=geometry, device=options.device, versions=find_versions())
            if storage.cache is not None
            else None
        )
        self._keeper = (
            FeatureKeeper(storage.features, source.card, geometry=geometry)
            if storage.features is not None
            else None
        )

    @property
    def is_cached(self) -> bool:
        """Whether results are kept and looked up."""
        return self._cache is not None and self._parts is not None

    def read_or_recall(self, batch: Sequence[PlannedImage]) -> BatchResults:
        """Return a batch's results, from the cache where all of them are there."""
        entries = self.find_entries(batch)
        known = [read_entry(entry) for entry in entries]
        recalled = tuple(result for result in known if result is not None)
        if self._keeper is None and len(recalled) == len(batch):
            return BatchResults(results=recalled, n_cached=len(recalled))
        loaded = [load_planned(self._benchmark, item) for item in batch]
        results = read_batch(self._source, loaded, self._plan, keeper=self._keeper)
        for entry, result in zip(entries, results, strict=True) if entries else ():
            write_entry(entry, result)
        return BatchResults(results=tuple(results), n_cached=0)

    def find_entries(self, batch: Sequence[PlannedImage]) -> list[Entry]:
        """Return the cache's entry of each image; none where nothing is cached."""
        if self._cache is None or self._parts is None:
            return []
        hashes = [
            hash_file(self._benchmark.image_path(str(item.rows["image"].iloc[0]))) for item in batch
        ]
        return [
            find_entry(
                self._cache,
                self._parts,
                _describe_planned(self._benchmark, item, own, neighbours=hashes, plan=self._plan),
            )
            for item, own in zip(batch, hashes, strict=True)
        ]


def _describe_planned(
    benchmark: Benchmark,
    planned: PlannedImage,
    image_sha256: str,
    *,
    neighbours: Sequence[str],
    plan: Plan,
) -> dict[str, Any]:
    """Return what of an image its result depends on."""
    mask = benchmark.mask_path(str(planned.rows["scene_id"].iloc[0]))
    columns = ["trial_id", "dot1_x_px", "dot1_y_px", "dot2_x_px", "dot2_y_px"]
    trials = planned.rows[columns].assign(
        object1_id=planned.rows["object1_id"].fillna(0).astype(int),
        object2_id=planned.rows["object2_id"].fillna(0).astype(int),
    )
    return describe_image(
        image=str(planned.rows["image"].iloc[0]),
        image_sha256=image_sha256,
        mask_sha256=hash_file(mask) if mask.is_file() else None,
        trials=[
            {str(name): value for name, value in row.items()} for row in trials.to_dict("records")
        ],
        neighbours=neighbours if len(neighbours) > 1 else (),
        maps=[name for name in planned.rows["trial_id"] if name in plan.map_trials],
    )


def make_evaluation(
    plan: Plan, benchmark: Benchmark, results: Sequence[ImageResult], *, n_cached: int = 0
) -> Evaluation:
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
        model_record={**describe_run(plan, results), "n_images_from_cache": n_cached},
        skipped=tabulate_skipped(skipped),
        scenes=tabulate_scenes(model, results),
        summaries=tabulate_summaries(model, results),
        pairs=collect_pairs(results, order=order),
        maps=collect_maps(results),
    )


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
