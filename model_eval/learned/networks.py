"""Many small networks in one: their weights are stacked, and each sees its own trials.

A network is two linear layers with ReLU, as wide as a token, and an output layer [paper]; or the output
layer alone (linear). K of them are trained as one batched product, with Adam, whose steps are
element-wise, so that each takes the same course as by itself (tested against PyTorch's own layers).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, cast

import torch
from torch import Tensor

# A usual last-level cache.
CACHE_BYTES = 32 * 2**20
# What of the two tokens a network gets.
PairForm = Literal["concatenated", "symmetric"]


def combine_tokens(tokens: Tensor, form: PairForm) -> Tensor:
    """Return one vector per pair, shape (..., 2 * n_dims).

    Parameters
    ----------
    tokens : tensor, shape (..., 2, n_dims)
        First (central) dot, second dot.
    form
        ``concatenated``: as published. ``symmetric``: sum and product, so that order can't matter.
    """
    first, second = tokens.unbind(dim=-2)
    if form == "symmetric":
        return torch.cat([first + second, first * second], dim=-1)
    return torch.cat([first, second], dim=-1)


class StackedLinear(torch.autograd.Function):
    """K linear layers at once: (K, n, in) x (K, in, out) + (K, out).

    PyTorch's batched product is three times slower than K products for the gradient of wide weights on
    a CPU, where the shared dimension is the few pairs of a batch; that one is written out here.
    """

    @staticmethod
    def forward(  # noqa: PLR0917 (torch's form)
        ctx: Any,  # noqa: ANN401
        inputs: Tensor,
        weight: Tensor,
        bias: Tensor,
    ) -> Tensor:
        """Return the outputs, shape (K, n, out)."""
        ctx.save_for_backward(inputs, weight)
        return torch.baddbmm(bias[:, None, :], inputs, weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:  # noqa: ANN401 (torch's form)
        """Return the gradients of inputs (where wanted), weight and bias."""
        (grad,) = grads
        inputs, weight = ctx.saved_tensors
        of_inputs = torch.bmm(grad, weight.transpose(1, 2)) if ctx.needs_input_grad[0] else None
        if grad.device.type == "cpu":
            of_weight = torch.empty_like(weight)
            for k in range(len(weight)):
                torch.mm(inputs[k].T, grad[k], out=of_weight[k])
        else:
            of_weight = torch.bmm(inputs.transpose(1, 2), grad)
        return of_inputs, of_weight, grad.sum(dim=1)


def choose_group_size(widths: Sequence[int], *, device: str) -> int | None:
    """Return how many networks are best trained at once; None for all.

    On a CPU weights, gradients and Adam's two moments of a group should stay in its cache: twenty
    networks of 768 dimensions at once are slower than one after the other, ten of 64 ten times faster.
    """
    if torch.device(device).type != "cpu":
        return None
    n_weights = sum((n_in + 1) * n_out for n_in, n_out in pairwise(widths))
    return max(1, CACHE_BYTES // (16 * n_weights))


class StackedNetworks:
    """K networks of the same form, each with its own weights.

    Parameters
    ----------
    widths
        Inputs, hidden widths, outputs: (2d, d, d, 1) for the published one, (2d, 1) for a linear one.
    seeds
        One per network: the same seed starts from the same weights. PyTorch's default initialisation
        of a linear layer, uniform within 1 / sqrt(inputs).
    device
        Where they are.
    """

    def __init__(self, widths: Sequence[int], seeds: Sequence[int], *, device: str = "cpu") -> None:
        starts = {seed: _draw(widths, seed) for seed in dict.fromkeys(seeds)}
        n_arrays = 2 * (len(widths) - 1)
        self.parameters = [
            torch.stack([starts[seed][k] for seed in seeds]).to(device).requires_grad_()
            for k in range(n_arrays)
        ]

    def forward(self, inputs: Tensor) -> Tensor:
        """Return outputs, shape (n_networks, n_pairs, n_outputs), of (n_networks, n_pairs, n_inputs)."""
        hidden = inputs
        last = len(self.parameters) - 2
        for k in range(0, len(self.parameters), 2):
            weight, bias = self.parameters[k : k + 2]
            hidden = cast("Tensor", StackedLinear.apply(hidden, weight, bias))
            if k < last:
                hidden = hidden.relu()
        return hidden


def _draw(widths: Sequence[int], seed: int) -> list[Tensor]:
    """Weights (n_in, n_out) and biases (n_out,) of one network, layer by layer."""
    generator = torch.Generator().manual_seed(seed)
    drawn = []
    for n_in, n_out in pairwise(widths):
        bound = n_in**-0.5
        shapes = ((n_in, n_out), (n_out,))
        drawn += [(torch.rand(shape, generator=generator) * 2 - 1) * bound for shape in shapes]
    return drawn
