"""Features of one image to what is kept of it: the readouts of its trials, as they come."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model_eval.card import Feature, ModelCard, split_head
from model_eval.curves import CURVES
from model_eval.displays import Display, DotObject, PatchDisplay
from model_eval.map_files import AffinityMap
from model_eval.options import EvaluationOptions
from model_eval.readouts.registry import Readout
from model_eval.results import (
    CurveSum,
    ImageResult,
    NormCounts,
    PairVectors,
    SceneValue,
    SkippedTrial,
    TrialValues,
)
from model_eval.scene_statistics import describe_scene
from model_eval.source import Array, SourceImage
from model_eval.view import AttentionView, LayerView, View
from stimuli.errors import InputError

# A patch is high-norm if its token is this many times as long as the image's median token (ours).
HIGH_NORM_RATIO = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is read of which feature of one model.

    Attributes
    ----------
    card
        The model.
    readouts
        Of each wanted feature.
    norm_feature
        Whose vectors' lengths are counted.
    options
        As given.
    map_trials
        Trials whose first dot's affinity map is kept.
    """

    card: ModelCard
    readouts: Mapping[Feature, tuple[Readout, ...]]
    norm_feature: Feature
    options: EvaluationOptions
    map_trials: frozenset[str] = frozenset()

    @property
    def features(self) -> tuple[Feature, ...]:
        """All that the source has to emit."""
        return tuple(dict.fromkeys((*self.readouts, self.norm_feature)))


def make_plan(
    card: ModelCard,
    features: Sequence[Feature],
    readouts: Sequence[Readout],
    *,
    options: EvaluationOptions,
    map_trials: frozenset[str] = frozenset(),
) -> Plan:
    """Return which readout is taken of which feature.

    Costly readouts are taken of the last layer's queries and keys only (of its map where the model
    has none), which are added if they weren't asked for; attention readouts of attention only.

    Raises
    ------
    InputError
        A readout fits none of the features.
    """
    wanted: dict[Feature, tuple[Readout, ...]] = {
        feature: tuple(item for item in readouts if _fits(item, feature, options))
        for feature in features
    }
    costly = tuple(item for item in readouts if item.is_costly and not options.is_costly_everywhere)
    for feature in _costly_features(card) if costly else ():
        wanted[feature] = (*wanted.get(feature, ()), *costly)
    used = {item.name for items in wanted.values() for item in items}
    unused = [item.name for item in readouts if item.name not in used]
    if unused and len(unused) == len(readouts):
        raise InputError(
            f"{card.name}: no feature fits readout {', '.join(unused)}; attention needs "
            "--representations attention, the others vectors"
        )
    last = card.layers[-1]
    return Plan(
        card=card,
        readouts={
            feature: items for feature, items in wanted.items() if items or options.has_scenes
        },
        norm_feature=Feature(layer=last.name, representation=last.representations[0]),
        options=options,
        map_trials=map_trials,
    )


class ImageReducer:
    """Reduces the features of one image to its result.

    Parameters
    ----------
    plan
        What is read.
    image, display
        The image and its trials.
    """

    def __init__(self, plan: Plan, image: SourceImage, display: Display) -> None:
        self._plan = plan
        self._image = image
        self._display = display
        self._grids: dict[int, PatchDisplay] = {}
        self.result = ImageResult(scene_id=display.scene_id)

    def take(self, feature: Feature, tokens: Array) -> None:
        """Take one feature: vectors of shape (n_patches, n_dims), or an `AttentionInput`."""
        card = self._plan.card
        where = f"{card.name}, layer {feature.layer} {feature.representation}, image {self._image.name!r}"
        patches = self._find_grid(card.layer(feature.layer).stride_px)
        if feature.representation == "attention":
            self._read(AttentionView(tokens, patches, where=where), feature)
            return
        view = LayerView(tokens, patches, where=where)
        if feature == self._plan.norm_feature:
            self.result.norms = _count_norms(view)
        if feature in self._plan.readouts:
            self._read(view, feature)
            if self._plan.options.has_pairs:
                self.result.pairs.append(
                    PairVectors(
                        feature=feature,
                        trial_ids=self._display.trial_ids,
                        vectors=view.seed_tokens[patches.seed_of_dot],
                    )
                )
            if self._plan.options.has_scenes:
                with_pairs = self._plan.options.has_scene_pairs
                self.result.scenes.extend(
                    SceneValue(feature=feature, statistic=name, value=value)
                    for name, value in describe_scene(view, with_pairs=with_pairs).items()
                )

    def _find_grid(self, stride_px: int) -> PatchDisplay:
        if stride_px not in self._grids:
            grid = self._image.grid.at_stride(stride_px)
            self._grids[stride_px] = PatchDisplay(self._display, grid, rule=self._plan.options.dots)
        return self._grids[stride_px]

    def _read(self, view: View, feature: Feature) -> None:
        for item in self._plan.readouts[feature]:
            self._read_one(view, feature, item)
        self.result.maps.extend(self._copy_maps(view, feature))
        if self._plan.options.has_curves and isinstance(view, LayerView):
            self.result.curves.extend(_sum_curves(view, feature))

    def _copy_maps(self, view: View, feature: Feature) -> Iterator[AffinityMap]:
        """Yield the maps of the first dots that are asked for, each dot once."""
        display, grid = self._display, view.patches.grid
        wanted: dict[tuple[float, float], list[int]] = {}
        for trial, trial_id in enumerate(display.trial_ids):
            if trial_id in self._plan.map_trials:
                x, y = display.dots_px[trial, 0].tolist()
                wanted.setdefault((x, y), []).append(trial)
        for (x, y), trials in wanted.items():
            values = view.maps[view.patches.seed_of_dot[trials[0], 0]]
            yield AffinityMap(
                feature=feature,
                trial_ids=tuple(display.trial_ids[trial] for trial in trials),
                scene_id=display.scene_id,
                image=self._image.name,
                image_sha256=self._image.sha256,
                dot_x_px=x,
                dot_y_px=y,
                grid=grid,
                affinity=values.reshape(grid.n_rows, grid.n_columns).astype(np.float32),
            )

    def _read_one(self, view: View, feature: Feature, item: Readout) -> None:
        trial_ids = self._display.trial_ids
        reasons = _find_reasons(view.patches, item)
        for trial_id, reason in zip(trial_ids, reasons, strict=True):
            if reason is not None:
                layer = feature.layer if "covers" in reason else None
                skipped = SkippedTrial(
                    trial_id=trial_id, layer=layer, readout=item.name, reason=reason
                )
                self.result.skipped[skipped] = None
        values = item.compute(view)
        is_read = np.array([reason is None for reason in reasons])
        if not np.array_equal(np.isfinite(values), is_read):
            odd = np.array(trial_ids, dtype=object)[np.isfinite(values) != is_read][0]
            raise InputError(
                f"{view.where}: readout {item.name} of trial {odd!r} isn't a finite number"
            )
        if is_read.any():
            kept = TrialValues(
                feature=feature,
                readout=item.name,
                kind=item.kind,
                trial_ids=tuple(np.array(trial_ids, dtype=object)[is_read]),
                numbers=tuple(values[is_read].tolist()),
            )
            self.result.readouts.append(kept)


def _fits(item: Readout, feature: Feature, options: EvaluationOptions) -> bool:
    if item.is_costly and not options.is_costly_everywhere:
        return False
    kind = "attention" if feature.representation == "attention" else "vectors"
    return item.reads in {kind, "maps"}


def _costly_features(card: ModelCard) -> list[Feature]:
    last = card.layers[-1]
    names = [name for name in ("queries", "keys") if name in last.representations]
    outputs = [name for name in last.representations if split_head(name)[1] is None]
    return [Feature(layer=last.name, representation=name) for name in names or outputs[:1]]


def _find_reasons(patches: PatchDisplay, item: Readout) -> list[str | None]:
    """Of each trial, why a readout can't be had, or None."""
    if item.needs == "dots":
        return [None] * patches.n_trials
    dot = 0 if item.needs == "object1" else 1
    found = [pair[dot] for pair in patches.objects]
    return [reason if isinstance(reason, str) else None for reason in found]


def _count_norms(view: LayerView) -> NormCounts:
    norms = view.norms[view.patches.has_image]
    return NormCounts(
        n_patches=len(norms),
        n_high=int((norms > HIGH_NORM_RATIO * np.median(norms)).sum()),
        n_silent=int((norms == 0).sum()),
    )


def _sum_curves(view: View, feature: Feature) -> list[CurveSum]:
    """Add the published curves of an image's trials."""
    found = []
    for name, curve in CURVES.items():
        rates = [
            curve.compute(view, view.maps[view.patches.seed_of_dot[trial, curve.dot]], target)
            for trial, pair in enumerate(view.patches.objects)
            for target in (pair[curve.dot],)
            if isinstance(target, DotObject)
        ]
        if rates:
            true_rates, false_rates = np.sum(rates, axis=0).tolist()
            found.append(
                CurveSum(
                    feature=feature,
                    curve=name,
                    n_trials=len(rates),
                    rates=(tuple(true_rates), tuple(false_rates)),
                )
            )
    return found
