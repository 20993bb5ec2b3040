"""A timm network as a source of features: one forward pass per batch, every layer from it.

The network's own `forward_intermediates` gives the blocks' or stages' outputs as maps, with the
prefix tokens (CLS, registers) taken off by the network itself; the maps' size must be what the
geometry promises, or the reading stops with a named error. Queries, keys, values and attention are
taken as they are computed (`model_eval.capture`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model_eval.capture import (
    PROJECTIONS,
    AttentionCall,
    AttentionWatch,
    count_heads,
    find_attentions,
    split_images,
    watching_projections,
)
from model_eval.card import About, Feature, Layer, ModelCard, Preprocessing, name_head, split_head
from model_eval.preprocess import make_input
from model_eval.source import Emit, SourceImage
from stimuli.errors import InputError
from stimuli.geometry import InputNeeds, PatchGrid

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class TimmBackbone:
    """A timm network (or one that behaves like it) and its card.

    Parameters
    ----------
    module
        Has `forward_intermediates` and `feature_info`.
    card
        From `describe_network`, with the facts of its weights.
    device
        Where it runs.
    dtype
        ``float32``, or ``bfloat16`` or ``float16`` for autocast.
    """

    def __init__(
        self, module: nn.Module, card: ModelCard, *, device: str = "cpu", dtype: str = "float32"
    ) -> None:
        if card.preprocessing is None:
            raise TypeError(f"{card.name}: a network's card needs its preprocessing")
        if dtype not in _DTYPES:
            raise InputError(f"dtype {dtype!r}: expected one of {', '.join(_DTYPES)}")
        self._module = module.eval().to(device)
        self._card = card
        self._preprocessing = card.preprocessing
        self._device = device
        self._dtype = _DTYPES[dtype]

    @property
    def card(self) -> ModelCard:
        """The model's facts."""
        return self._card

    @property
    def module(self) -> nn.Module:
        """The network."""
        return self._module

    def read(self, images: Sequence[SourceImage], wanted: Sequence[Feature], emit: Emit) -> None:
        """Read one batch; see `model_eval.source.FeatureSource`."""
        batch = self.make_batch(images)
        grid = images[0].grid
        with torch.inference_mode(), self._watching(grid, wanted, emit) as finish:
            outputs = self._forward(batch, _output_layers(wanted))
            finish()
            for feature in wanted:
                if feature.representation in {"tokens", "tokens_normed", "map"}:
                    emit(feature, self._as_tokens(outputs[int(feature.layer)], feature, grid))

    def make_batch(self, images: Sequence[SourceImage]) -> Tensor:
        """Return images as one input, float32, shape (n_images, 3, height, width), on the device."""
        batch = np.stack([make_input(i.pixels, i.grid, self._preprocessing) for i in images])
        return torch.from_numpy(batch).to(self._device)

    def _forward(self, batch: Tensor, layers: Sequence[int]) -> dict[int, Tensor]:
        """Return the layers' maps, shape (n_images, n_dims, rows, columns)."""
        network: Any = self._module
        uses_autocast = self._dtype != torch.float32
        device_type = torch.device(self._device).type
        try:
            with torch.autocast(device_type, dtype=self._dtype, enabled=uses_autocast):
                maps = network.forward_intermediates(
                    batch, indices=layers, norm=False, output_fmt="NCHW", intermediates_only=True
                )
        except InputError:
            raise
        except (RuntimeError, AssertionError, ValueError, TypeError) as error:
            raise InputError(
                f"{self._card.name}: can't read an input of {batch.shape[3]}x{batch.shape[2]} px: "
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}. Another "
                "--geometry (longest, square) may serve"
            ) from error
        return dict(zip(layers, maps, strict=True))

    def _as_tokens(self, output: Tensor, feature: Feature, grid: PatchGrid) -> Tensor:
        """Return a layer's map as (n_images, n_patches, n_dims), its grid checked."""
        layer = self._card.layer(feature.layer)
        grid = grid.at_stride(layer.stride_px)
        if output.shape[2:] != (grid.n_rows, grid.n_columns):
            raise InputError(
                f"{self._card.name}, layer {layer.name}: a map of {output.shape[2]} rows x "
                f"{output.shape[3]} columns, expected {grid.n_rows} x {grid.n_columns} for an input "
                f"of {grid.input_width_px}x{grid.input_height_px} px at stride {layer.stride_px}"
            )
        tokens = output.flatten(2).transpose(1, 2)
        norm = find_final_norm(self._module)
        if feature.representation == "tokens_normed" and norm is not None:
            tokens = norm(tokens.float())
        return tokens

    @contextmanager
    def _watching(
        self, grid: PatchGrid, wanted: Sequence[Feature], emit: Emit
    ) -> Iterator[Callable[[], None]]:
        """Emit queries, keys, values and attention as the network computes them."""
        inner = _group_inner(wanted)
        attentions = find_attentions(self._module) or []
        with ExitStack() as stack:
            projections = {k: set(names) - {"attention"} for k, names in inner.items()}
            projections = {k: names for k, names in projections.items() if names}
            if projections:

                def take(number: int, name: str, output: Tensor) -> None:
                    self._emit_projection(output, inner[number][name], grid=grid, emit=emit)

                stack.enter_context(watching_projections(attentions, projections, take))
            finish = self._watch_attention(stack, inner, grid=grid, emit=emit)
            yield finish

    def _emit_projection(
        self, output: Tensor, features: Sequence[Feature], *, grid: PatchGrid, emit: Emit
    ) -> None:
        """Hand out one projection, whole and per head, without its prefix tokens."""
        number = int(features[0].layer)
        tokens = output[:, self._count_prefix(output.shape[1], grid, features[0]) :]
        attentions = find_attentions(self._module) or []
        for feature in features:
            _, head = split_head(feature.representation)
            if head is None:
                emit(feature, tokens)
            else:
                emit(feature, tokens.chunk(count_heads(attentions[number]), dim=-1)[head])

    def _watch_attention(
        self,
        stack: ExitStack,
        inner: Mapping[int, Mapping[str, Sequence[Feature]]],
        *,
        grid: PatchGrid,
        emit: Emit,
    ) -> Callable[[], None]:
        """Watch attention calls if any block's is wanted; what is returned checks their number."""
        features = {k: names["attention"][0] for k, names in inner.items() if "attention" in names}
        if not features:
            return lambda: None
        n_blocks = len(self._card.layers)

        def take(call: AttentionCall) -> None:
            if call.number in features:
                feature = features[call.number]
                n_prefix = self._count_prefix(call.keys.shape[-2], grid, feature)
                emit(feature, split_images(call, n_prefix=n_prefix))

        watch = stack.enter_context(AttentionWatch(take))

        def finish() -> None:
            if watch.n_calls != n_blocks:
                raise InputError(
                    f"{self._card.name}: {watch.n_calls} attention calls in {n_blocks} blocks, so "
                    "they can't be told apart; leave 'attention' out"
                )

        return finish

    def _count_prefix(self, n_tokens: int, grid: PatchGrid, feature: Feature) -> int:
        """Return the prefix tokens, after checking that the rest is the grid."""
        n_prefix = self._card.n_prefix or 0
        if n_tokens - n_prefix != grid.n_patches:
            raise InputError(
                f"{self._card.name}, layer {feature.layer} {feature.representation}: {n_tokens} "
                f"tokens with {n_prefix} prefix tokens, expected {grid.n_rows} x {grid.n_columns} "
                "patches"
            )
        return n_prefix


def find_final_norm(module: nn.Module) -> nn.Module | None:
    """Return a token network's final norm, or None where it has none before its pooling."""
    norm = getattr(module, "norm", None)
    return None if norm is None or isinstance(norm, nn.Identity) else norm


def describe_layers(module: nn.Module) -> tuple[Layer, ...]:
    """Return a network's layers: strides from its `feature_info`, and what each offers."""
    info: Any = module.feature_info
    has_tokens = getattr(module, "num_prefix_tokens", None) is not None
    outputs = ("tokens",) if has_tokens else ("map",)
    normed = ("tokens_normed",) if has_tokens and find_final_norm(module) is not None else ()
    attentions = find_attentions(module) if has_tokens else None
    last = len(info) - 1
    return tuple(
        Layer(
            name=str(k),
            stride_px=int(info[k]["reduction"]),
            representations=outputs
            + (normed if k == last else ())
            + _describe_attention(attentions, k, n_layers=len(info)),
        )
        for k in range(len(info))
    )


def describe_network(
    module: nn.Module,
    *,
    name: str,
    source: str,
    config: Mapping[str, Any],
    is_fixed: bool,
    weights_sha256: str | None = None,
    random_seed: int | None = None,
    notes: tuple[str, ...] = (),
    about: About | None = None,
) -> ModelCard:
    """Return the card of a network.

    Parameters
    ----------
    module
        The network.
    name, source, weights_sha256, random_seed, notes, about
        As in `ModelCard`.
    config
        A timm data configuration: mean, std, interpolation, input_size.
    is_fixed
        It takes no other input than its own square.
    """
    layers = describe_layers(module)
    return ModelCard(
        name=name,
        source=source,
        needs=InputNeeds(
            stride_px=max(layer.stride_px for layer in layers),
            own_size_px=int(config["input_size"][-1]),
            is_fixed=is_fixed,
        ),
        layers=layers,
        preprocessing=Preprocessing(
            mean=tuple(config["mean"]),
            sd=tuple(config["std"]),
            interpolation=config["interpolation"],
        ),
        n_prefix=getattr(module, "num_prefix_tokens", None),
        n_parameters=sum(parameter.numel() for parameter in module.parameters()),
        weights_sha256=weights_sha256,
        random_seed=random_seed,
        notes=notes,
        about=about or About(),
    )


def _describe_attention(
    attentions: Sequence[nn.Module] | None, number: int, *, n_layers: int
) -> tuple[str, ...]:
    """Name what a block offers besides its output."""
    if attentions is None or len(attentions) != n_layers:
        return ()
    n_heads = count_heads(attentions[number])
    heads = tuple(name_head(name, k) for name in PROJECTIONS for k in range(n_heads))
    has_calls = all(getattr(attention, "fused_attn", False) for attention in attentions)
    return (*PROJECTIONS, *(("attention",) if has_calls else ()), *heads)


def _output_layers(wanted: Sequence[Feature]) -> list[int]:
    """Layers whose output the forward pass must give; the last one, if only inner features."""
    return sorted({int(feature.layer) for feature in wanted})


def _group_inner(wanted: Sequence[Feature]) -> dict[int, dict[str, list[Feature]]]:
    """Features from inside blocks: by block number and what is watched there."""
    grouped: dict[int, dict[str, list[Feature]]] = {}
    for feature in wanted:
        name, _ = split_head(feature.representation)
        if name in {*PROJECTIONS, "attention"}:
            grouped.setdefault(int(feature.layer), {}).setdefault(name, []).append(feature)
    return grouped
