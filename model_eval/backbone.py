"""A timm network as a source of features: one forward pass per batch, every layer from it.

The network's own `forward_intermediates` gives the blocks' or stages' outputs as maps, with the
prefix tokens (CLS, registers) taken off by the network itself; the maps' size must be what the
geometry promises, or the reading stops with a named error.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model_eval.card import Feature, Layer, ModelCard, Preprocessing
from model_eval.preprocess import make_input
from model_eval.source import Emit, SourceImage
from stimuli.errors import InputError
from stimuli.geometry import InputNeeds


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
    """

    def __init__(self, module: nn.Module, card: ModelCard, *, device: str = "cpu") -> None:
        self._module = module.eval().to(device)
        if card.preprocessing is None:
            raise TypeError(f"{card.name}: a network's card needs its preprocessing")
        self._card = card
        self._preprocessing = card.preprocessing
        self._device = device

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
        batch = np.stack([make_input(i.pixels, i.grid, self._preprocessing) for i in images])
        with torch.inference_mode():
            outputs = self._forward(torch.from_numpy(batch).to(self._device), wanted)
            for feature in wanted:
                tokens = self._as_tokens(outputs[int(feature.layer)], feature, images[0])
                emit(feature, tokens)

    def _forward(self, batch: Tensor, wanted: Sequence[Feature]) -> dict[int, Tensor]:
        """Return the maps of the wanted layers, shape (n_images, n_dims, rows, columns)."""
        indices = sorted({int(feature.layer) for feature in wanted})
        network: Any = self._module
        try:
            maps = network.forward_intermediates(
                batch, indices=indices, norm=False, output_fmt="NCHW", intermediates_only=True
            )
        except (RuntimeError, AssertionError, ValueError, TypeError) as error:
            raise InputError(
                f"{self._card.name}: can't read an input of {batch.shape[3]}x{batch.shape[2]} px: "
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}. Another "
                "--geometry (longest, square) may serve"
            ) from error
        return dict(zip(indices, maps, strict=True))

    def _as_tokens(self, output: Tensor, feature: Feature, image: SourceImage) -> Tensor:
        """Return a layer's map as (n_images, n_patches, n_dims), its grid checked."""
        layer = self._card.layer(feature.layer)
        grid = image.grid.at_stride(layer.stride_px)
        if output.shape[2:] != (grid.n_rows, grid.n_columns):
            raise InputError(
                f"{self._card.name}, layer {layer.name}: a map of {output.shape[2]} rows x "
                f"{output.shape[3]} columns, expected {grid.n_rows} x {grid.n_columns} for an input "
                f"of {grid.input_width_px}x{grid.input_height_px} px at stride {layer.stride_px}"
            )
        tokens = output.flatten(2).transpose(1, 2)
        if feature.representation == "tokens_normed":
            tokens = find_final_norm(self._module)(tokens)  # type: ignore[misc]  (it offers it)
        return tokens.float()


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
    last = len(info) - 1
    return tuple(
        Layer(
            name=str(k),
            stride_px=int(info[k]["reduction"]),
            representations=outputs + (normed if k == last else ()),
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
) -> ModelCard:
    """Return the card of a network.

    Parameters
    ----------
    module
        The network.
    name, source, weights_sha256, random_seed, notes
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
    )
