"""What goes on inside a block's attention: queries, keys, values, and what attention works on.

Queries, keys and values are the block's projections with their bias, before any query or key norm and
before rotary position embedding, all heads one after the other: what the published code reads (Adeli
2023: a hook on `qkv`). Attention is taken where the block calls PyTorch's attention, after norm,
rotary embedding and position bias, so that it is what the model used.

Hooks live as long as the `with` block and no longer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from model_eval.view import AttentionInput

PROJECTIONS = ("queries", "keys", "values")
_NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
_SIGNATURE = Signature(
    [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD, default=None) for n in _NAMES]
)
# Takes block number, which projection, and a tensor of shape (n_images, n_tokens, n_dims).
TakeProjection = Callable[[int, str, Tensor], None]


def find_attentions(module: nn.Module) -> list[nn.Module] | None:
    """Return the attention of each block, or None for a network whose blocks don't have one each."""
    blocks: Any = getattr(module, "blocks", None)
    if not isinstance(blocks, (nn.Sequential, nn.ModuleList)) or not len(blocks):
        return None
    found = [getattr(block, "attn", None) for block in blocks]
    if not all(
        isinstance(attention, nn.Module) and _has_projections(attention) for attention in found
    ):
        return None
    return [attention for attention in found if attention is not None]


def count_heads(attention: nn.Module) -> int:
    """Return the number of heads that queries, keys and values each have."""
    return int(getattr(attention, "num_kv_heads", None) or attention.num_heads)  # type: ignore[arg-type]


@contextmanager
def watching_projections(
    attentions: Sequence[nn.Module], wanted: dict[int, set[str]], take: TakeProjection
) -> Iterator[None]:
    """Hand out projections while the network runs inside the block.

    Parameters
    ----------
    attentions
        From `find_attentions`.
    wanted
        Of each block number, which of `PROJECTIONS`.
    take
        Called with each as it is computed.
    """
    with ExitStack() as stack:
        for number, names in wanted.items():
            for handle in _hook(attentions[number], number, names=names, take=take):
                stack.callback(handle.remove)
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionCall:
    """What one call of PyTorch's attention got.

    Attributes
    ----------
    number
        Which call of the forward pass, from 0.
    queries, keys : tensors, shape (n_images, n_heads, n_tokens, n_dims)
    bias : tensor that broadcasts to (n_images, n_heads, n_tokens, n_tokens), or None
        Added before the softmax.
    scale
        Factor of the products.
    """

    number: int
    queries: Tensor
    keys: Tensor
    bias: Tensor | None
    scale: float


class AttentionWatch(TorchFunctionMode):
    """Hands out what each call of PyTorch's attention gets, while it is active.

    Parameters
    ----------
    take
        Called with each call.
    """

    def __init__(self, take: Callable[[AttentionCall], None]) -> None:
        super().__init__()
        self._take = take
        self.n_calls = 0

    def __torch_function__(  # noqa: PLR0917 (torch's form)
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 (whatever the function returns)
        """Look at attention calls, and let everything run as it is."""
        del types
        kwargs = kwargs or {}
        if func is functional.scaled_dot_product_attention:
            bound = _SIGNATURE.bind(*args, **kwargs).arguments
            self._take(_describe_call(self.n_calls, bound))
            self.n_calls += 1
        return func(*args, **kwargs)


def split_images(call: AttentionCall, *, n_prefix: int) -> list[AttentionInput]:
    """Return each image's part of a call."""
    bias = call.bias
    if bias is not None:
        shape = (len(call.queries), *([1] * (3 - bias.ndim)), *bias.shape[-3:])
        bias = bias.expand(*shape) if bias.ndim == 4 else bias.reshape(shape[1:]).expand(*shape)
    return [
        AttentionInput(
            queries=queries,
            keys=keys,
            scale=call.scale,
            bias=None if bias is None else bias[k],
            n_prefix=n_prefix,
        )
        for k, (queries, keys) in enumerate(zip(call.queries, call.keys, strict=True))
    ]


def _has_projections(attention: nn.Module) -> bool:
    separate = all(isinstance(getattr(attention, f"{x}_proj", None), nn.Module) for x in "qkv")
    return separate or isinstance(getattr(attention, "qkv", None), nn.Linear)


def _describe_call(number: int, given: Mapping[str, Any]) -> AttentionCall:
    query, mask = given["query"], given.get("attn_mask")
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, -torch.inf)
    scale = given.get("scale")
    return AttentionCall(
        number=number,
        queries=query,
        keys=given["key"],
        bias=mask,
        scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
    )


def _hook(
    attention: Any,  # noqa: ANN401 (timm's, untyped)
    number: int,
    *,
    names: set[str],
    take: TakeProjection,
) -> Iterator[Any]:
    """Register the hooks of one block and yield their handles."""

    def take_thirds(output: Tensor) -> None:
        for name, part in zip(PROJECTIONS, output.chunk(3, dim=-1), strict=True):
            if name in names:
                take(number, name, part)

    if isinstance(getattr(attention, "qkv", None), nn.Linear):
        if getattr(attention, "q_bias", None) is None:
            yield attention.qkv.register_forward_hook(lambda _m, _i, output: take_thirds(output))
        else:
            # BEiT and EVA apply the weights without calling the module, so they are applied anew.
            yield attention.register_forward_pre_hook(
                lambda module, inputs: take_thirds(_project(module, inputs[0]))
            )
        return
    for letter, name in zip("qkv", PROJECTIONS, strict=True):
        if name in names:
            yield getattr(attention, f"{letter}_proj").register_forward_hook(
                lambda _m, _i, output, name=name: take(number, name, output)
            )


def _project(attention: Any, tokens: Tensor) -> Tensor:  # noqa: ANN401 (timm's, untyped)
    bias = torch.cat((attention.q_bias, attention.k_bias, attention.v_bias))
    return functional.linear(tokens, attention.qkv.weight, bias)
