"""What is kept of one image, whatever the model's size: numbers per trial. Tables are made of these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from model_eval.card import Feature
from model_eval.map_files import AffinityMap
from model_eval.tables import Kind, Readouts, SceneStatistics, Skipped, Summaries
from stimuli.table_io import check_table

ALL_READOUTS = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialValues:
    """One readout of one feature, for those trials of an image that have it."""

    feature: Feature
    readout: str
    kind: Kind
    trial_ids: tuple[str, ...]
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedTrial:
    """What couldn't be read of a trial, and why; `layer` where the reason lies in its grid."""

    trial_id: str
    layer: str | None
    readout: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneValue:
    """A statistic of a whole scene."""

    feature: Feature
    statistic: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSum:
    """The sum of a published curve, shape (2, n_thresholds), over an image's trials."""

    feature: Feature
    curve: str
    n_trials: int
    rates: tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVectors:
    """The vectors of both dots of an image's trials; float32 array, shape (n_trials, 2, n_dims)."""

    feature: Feature
    trial_ids: tuple[str, ...]
    vectors: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class NormCounts:
    """Patches of the last block, those with outlying length, and those of length 0."""

    n_patches: int = 0
    n_high: int = 0
    n_silent: int = 0


@dataclass(slots=True, kw_only=True)
class ImageResult:
    """What is kept of one image.

    Attributes
    ----------
    scene_id
        The scene.
    readouts, skipped, scenes, curves, pairs, maps
        As their classes say.
    norms
        Counts of the last block's token lengths.
    """

    scene_id: str
    readouts: list[TrialValues] = field(default_factory=list)
    skipped: dict[SkippedTrial, None] = field(default_factory=dict)
    scenes: list[SceneValue] = field(default_factory=list)
    curves: list[CurveSum] = field(default_factory=list)
    pairs: list[PairVectors] = field(default_factory=list)
    maps: list[AffinityMap] = field(default_factory=list)
    norms: NormCounts = field(default_factory=NormCounts)


def tabulate_readouts(
    model: str, results: Sequence[ImageResult], *, order: Mapping[str, int]
) -> pd.DataFrame:
    """Return the table of readouts.

    Parameters
    ----------
    model
        Its written name.
    results
        Of all images.
    order
        Place of each trial in the trial table.

    Returns
    -------
    DataFrame
        Valid under `Readouts`; by layer, representation and readout, then in the order of trials.
    """
    rows = [
        (item.feature, item.readout, item.kind, trial_id, value)
        for result in results
        for item in result.readouts
        for trial_id, value in zip(item.trial_ids, item.numbers, strict=True)
    ]
    rows.sort(key=lambda row: (*_place(row[0]), row[1], order[row[3]]))
    table = pd.DataFrame(
        {
            "model": model,
            "layer": [row[0].layer for row in rows],
            "representation": [row[0].representation for row in rows],
            "readout": [row[1] for row in rows],
            "kind": [row[2] for row in rows],
            "trial_id": [row[3] for row in rows],
            "value": np.array([row[4] for row in rows], dtype=float),
        }
    )
    return check_table(table, Readouts, source=f"the readouts of {model}")


def tabulate_skipped(skipped: Sequence[SkippedTrial]) -> pd.DataFrame:
    """Return what was skipped, valid under `Skipped`, each thing once."""
    rows = [(row.trial_id, row.layer, row.readout, row.reason) for row in dict.fromkeys(skipped)]
    rows.sort(key=str)
    table = pd.DataFrame(rows, columns=["trial_id", "layer", "readout", "reason"], dtype=object)
    return check_table(table, Skipped, source="the skipped readouts")


def tabulate_scenes(model: str, results: Sequence[ImageResult]) -> pd.DataFrame:
    """Return the statistics of scenes, valid under `SceneStatistics`."""
    rows = [
        {
            **_name(model, item.feature),
            "statistic": item.statistic,
            "scene_id": result.scene_id,
            "value": item.value,
        }
        for result in results
        for item in result.scenes
    ]
    table = pd.DataFrame(rows, columns=list(SceneStatistics.to_schema().columns))
    return check_table(table, SceneStatistics, source=f"the scenes of {model}")


def tabulate_summaries(model: str, results: Sequence[ImageResult]) -> pd.DataFrame:
    """Return the areas of curves averaged over trials, valid under `Summaries`."""
    sums: dict[tuple[Feature, str], tuple[int, np.ndarray]] = {}
    for result in results:
        for item in result.curves:
            count, total = sums.get((item.feature, item.curve), (0, np.zeros((2, 1))))
            sums[item.feature, item.curve] = (count + item.n_trials, total + np.array(item.rates))
    rows = [
        {
            **_name(model, feature),
            "statistic": f"{curve}, area of the mean curve",
            "value": float(np.trapezoid(*(total / count))),
            "n_trials": count,
        }
        for (feature, curve), (count, total) in sums.items()
    ]
    table = pd.DataFrame(rows, columns=list(Summaries.to_schema().columns))
    return check_table(table, Summaries, source=f"the curves of {model}")


def collect_pairs(
    results: Sequence[ImageResult], *, order: Mapping[str, int]
) -> dict[Feature, PairVectors]:
    """Return the vectors of both dots of all trials, by feature, in the order of trials."""
    found: dict[Feature, list[PairVectors]] = {}
    for result in results:
        for item in result.pairs:
            found.setdefault(item.feature, []).append(item)
    collected = {}
    for feature, items in found.items():
        ids = [trial_id for item in items for trial_id in item.trial_ids]
        place = np.argsort([order[trial_id] for trial_id in ids], kind="stable")
        collected[feature] = PairVectors(
            feature=feature,
            trial_ids=tuple(ids[k] for k in place),
            vectors=np.concatenate([item.vectors for item in items])[place],
        )
    return collected


def collect_maps(results: Sequence[ImageResult]) -> list[AffinityMap]:
    """Return the maps of all images, by feature."""
    return sorted(
        (item for result in results for item in result.maps), key=lambda item: _place(item.feature)
    )


def add_norms(results: Sequence[ImageResult]) -> NormCounts:
    """Return the counts over all images."""
    return NormCounts(
        n_patches=sum(result.norms.n_patches for result in results),
        n_high=sum(result.norms.n_high for result in results),
        n_silent=sum(result.norms.n_silent for result in results),
    )


def _place(feature: Feature) -> tuple[int, str, str]:
    """Sorts layers by number, then by name."""
    number = int(feature.layer) if feature.layer.isdecimal() else 0
    return number, feature.layer, feature.representation


def _name(model: str, feature: Feature) -> dict[str, Any]:
    return {"model": model, "layer": feature.layer, "representation": feature.representation}
