"""Any network as a source of features, from a function that says how to get its tokens or maps.

What the function gives is looked at once, on a grey image, to find layers, strides and prefix tokens;
each later batch is checked against that. Everything else (geometry, cache keys, readouts) is as for
timm's networks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from model_eval.backbone import TimmBackbone, describe_network
from model_eval.card import About
from stimuli.errors import InputError

# Takes the network and a batch, float32, shape (n, 3, height, width); gives one tensor per layer, or a
# mapping or a single one: tokens (n, n_tokens, n_dims), prefix tokens first, or a map (n, n_dims,
# rows, columns).
ReadFunction = Callable[[nn.Module, Tensor], Any]
IMAGENET_MEAN, IMAGENET_SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What must be said of a network that can't say it itself.

    Attributes
    ----------
    name
        What all outputs call it.
    patch_px
        Patch size, for networks that give tokens; maps show their stride themselves.
    size_px
        The square that it was trained with.
    is_fixed
        It takes that square and nothing else.
    mean, sd, interpolation
        Preprocessing: (value / 255 - mean) / sd.
    source
        What kind of model the record calls it.
    weights_sha256
        Hash of the weights, where they come from a file.
    random_seed
        Of random weights, which are said in every output.
    about
        Family, objective, training data, year, licence, for boards and figures.
    """

    name: str
    patch_px: int | None = None
    size_px: int = 224
    is_fixed: bool = False
    mean: Sequence[float] = IMAGENET_MEAN
    sd: Sequence[float] = IMAGENET_SD
    interpolation: str = "bicubic"
    source: str = "wrapped"
    weights_sha256: str | None = None
    random_seed: int | None = None
    about: About = field(default_factory=About)


def wrap_module(
    module: nn.Module,
    read: ReadFunction,
    *,
    name: str,
    patch_px: int | None = None,
    size_px: int = 224,
    is_fixed: bool = False,
    mean: Sequence[float] = IMAGENET_MEAN,
    sd: Sequence[float] = IMAGENET_SD,
    about: About | None = None,
) -> TimmBackbone:
    """Return a network of one's own as a source of features, on the device where it is.

    Its results are never taken from a cache, since what code of one's own does can't be known from a
    hash of its weights.

    Parameters
    ----------
    module
        The network.
    read
        From network and batch to its layers' outputs, first to last.
    name, patch_px, size_px, is_fixed, mean, sd, about
        As in `Facts`.

    Raises
    ------
    InputError
        What `read` gives is neither tokens nor maps, or fits no patch grid.

    Examples
    --------
    >>> net = nn.Conv2d(3, 8, kernel_size=16, stride=16)
    >>> model = wrap_module(net, lambda net, batch: net(batch), name="mine")
    >>> model.card.layers[0].stride_px
    16
    """
    facts = Facts(
        name=name,
        patch_px=patch_px,
        size_px=size_px,
        is_fixed=is_fixed,
        mean=mean,
        sd=sd,
        about=about or About(),
    )
    parameter = next(module.parameters(), torch.zeros(1))
    return wrap_network(module, read, facts=facts, device=str(parameter.device))


def wrap_network(
    module: nn.Module,
    read: ReadFunction,
    *,
    facts: Facts,
    device: str = "cpu",
    dtype: str = "float32",
) -> TimmBackbone:
    """Return a network as a source of features; see `wrap_module`."""
    adapter = Adapter(module.eval(), read, facts)
    config = {
        "mean": tuple(facts.mean),
        "std": tuple(facts.sd),
        "interpolation": facts.interpolation,
        "input_size": (3, facts.size_px, facts.size_px),
    }
    seed = facts.random_seed
    card = describe_network(
        adapter,
        name=facts.name,
        source=facts.source,
        config=config,
        is_fixed=facts.is_fixed,
        weights_sha256=facts.weights_sha256,
        random_seed=seed,
        about=facts.about,
        notes=() if seed is None else (f"RANDOM weights, seed {seed}: untrained",),
    )
    return TimmBackbone(adapter, card, device=device, dtype=dtype)


def takes_other_sizes(module: nn.Module, read: ReadFunction, *, size_px: int) -> bool:
    """Return whether a network reads an oblong input, larger than the square it was trained with."""
    batch = torch.zeros(1, 3, size_px, 2 * size_px)
    try:
        with torch.inference_mode():
            read(module, batch)
    except (RuntimeError, AssertionError, ValueError):
        return False
    return True


class Adapter(nn.Module):
    """A network with the few things that `TimmBackbone` asks of one.

    Parameters
    ----------
    module, read, facts
        As in `wrap_network`.
    """

    def __init__(self, module: nn.Module, read: ReadFunction, facts: Facts) -> None:
        super().__init__()
        self.module = module
        self._read = read
        self._name = facts.name
        self._patch_px = facts.patch_px
        size_px = facts.size_px
        parameter = next(module.parameters(), torch.zeros(1))
        with torch.inference_mode():
            outputs = self._outputs(torch.zeros(1, 3, size_px, size_px, device=parameter.device))
        prefixes = {_count_prefix(x, facts) for x in outputs if x.ndim == 3}
        if len(prefixes) > 1:
            raise InputError(
                f"{facts.name}: layers with {sorted(prefixes)} prefix tokens; give layers that are alike"
            )
        self.num_prefix_tokens = prefixes.pop() if prefixes else None
        self.feature_info = [
            {"reduction": facts.patch_px if x.ndim == 3 else _find_stride(x, facts)}
            for x in outputs
        ]

    def forward_intermediates(
        self, batch: Tensor, *, indices: Sequence[int], **_: object
    ) -> list[Tensor]:
        """Return the wanted layers' maps, shape (n_images, n_dims, rows, columns)."""
        outputs = self._outputs(batch)
        return [self._as_map(outputs[k], batch) for k in indices]

    def forward_features(self, batch: Tensor) -> Tensor:
        """Return the last layer as the network gives it."""
        return self._outputs(batch)[-1]

    def _outputs(self, batch: Tensor) -> list[Tensor]:
        given = self._read(self.module, batch)
        if isinstance(given, Tensor):
            given = [given]
        outputs = list(given.values() if isinstance(given, Mapping) else given)
        wrong = [x for x in outputs if not isinstance(x, Tensor) or x.ndim not in {3, 4}]
        if wrong or not outputs:
            shapes = [tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__ for x in wrong]
            raise InputError(
                f"{self._name}: its read function gave {shapes or 'nothing'}; expected tensors of "
                "shape (n, n_tokens, n_dims) or (n, n_dims, rows, columns)"
            )
        return outputs

    def _as_map(self, output: Tensor, batch: Tensor) -> Tensor:
        if output.ndim == 4:
            return output
        rows, columns = (side // int(self._patch_px or 1) for side in batch.shape[2:])
        n_prefix = self.num_prefix_tokens or 0
        if output.shape[1] - n_prefix != rows * columns:
            raise InputError(
                f"{self._name}: {output.shape[1]} tokens with {n_prefix} prefix tokens, expected "
                f"{rows} x {columns} patches for an input of {batch.shape[3]}x{batch.shape[2]} px; if it "
                "takes one size only, say is_fixed=True"
            )
        patches = output[:, n_prefix:].transpose(1, 2)
        return patches.reshape(len(output), -1, rows, columns)


def _count_prefix(tokens: Tensor, facts: Facts) -> int:
    if facts.patch_px is None:
        raise InputError(
            f"{facts.name}: it gives tokens, so its patch size must be said: patch_px=16"
        )
    n_patches = (facts.size_px // facts.patch_px) ** 2
    n_prefix = tokens.shape[1] - n_patches
    if not 0 <= n_prefix < n_patches:
        raise InputError(
            f"{facts.name}: {tokens.shape[1]} tokens for {facts.size_px}x{facts.size_px} px can't be "
            f"patches of {facts.patch_px} px; correct patch_px or size_px"
        )
    return n_prefix


def _find_stride(output: Tensor, facts: Facts) -> int:
    rows, columns = output.shape[2:]
    if rows != columns or facts.size_px % rows:
        raise InputError(
            f"{facts.name}: a map of {rows} x {columns} for {facts.size_px}x{facts.size_px} px has no "
            "whole stride; maps are (n, n_dims, rows, columns)"
        )
    return facts.size_px // rows
