"""torchvision's networks: their stages, or their encoder's blocks, by hooks that live for one call."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from model_eval.backbone import TimmBackbone
from model_eval.weights import WeightsPlace, fetch_weights
from model_eval.wrap import Facts, takes_other_sizes, wrap_network
from stimuli.benchmark import hash_file
from stimuli.errors import InputError


def load_torchvision(
    name: str, *, random_seed: int | None = None, device: str = "cpu", dtype: str = "float32"
) -> TimmBackbone:
    """Return a torchvision classifier's body.

    Parameters
    ----------
    name
        What stands after ``torchvision:``, such as ``resnet50``; its default weights are taken.
    random_seed, device, dtype
        As for timm's networks.

    Raises
    ------
    InputError
        No such classifier, its weights can't be had, or its layers aren't known here.
    """
    from torchvision.models import get_model, get_model_weights, list_models

    if name not in list_models(module=__import__("torchvision").models):
        raise InputError(f"torchvision:{name}: no such classifier; torchvision.models lists them")
    weights: Any = get_model_weights(name).DEFAULT  # type: ignore[attr-defined]  (an enum)
    sha256 = None
    if random_seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            module: Any = get_model(name, weights=None)
    else:
        place = WeightsPlace(hub_id=None, hub_files=(), url=weights.url)
        path = fetch_weights(place, name=f"torchvision:{name}")
        module = get_model(name, weights=None)
        module.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        sha256 = hash_file(path)
    transform = weights.transforms()
    size_px = int(transform.crop_size[0])
    read = StageReader(find_stages(module, name=name))
    module.eval()
    written = (
        f"torchvision:{name}" if random_seed is None else f"torchvision:{name}@random{random_seed}"
    )
    return wrap_network(
        module,
        read,
        facts=Facts(
            name=written,
            patch_px=getattr(module, "patch_size", None),
            size_px=size_px,
            is_fixed=not takes_other_sizes(module, read, size_px=size_px),
            mean=transform.mean,
            sd=transform.std,
            source="torchvision",
            weights_sha256=sha256,
            random_seed=random_seed,
        ),
        device=device,
        dtype=dtype,
    )


class StageReader:
    """Runs a network and returns the outputs of some of its modules.

    Parameters
    ----------
    stages
        The modules.
    """

    def __init__(self, stages: Sequence[nn.Module]) -> None:
        self._stages = list(stages)

    def __call__(self, module: nn.Module, batch: Tensor) -> list[Tensor]:
        """Return the stages' outputs as tokens, or as maps with channels first."""
        found: list[Any] = []
        with ExitStack() as stack:
            for stage in self._stages:
                handle = stage.register_forward_hook(lambda _m, _i, output: found.append(output))
                stack.callback(handle.remove)
            module(batch)
        # Swin keeps channels last; every other one has them first.
        is_last = type(module).__name__ == "SwinTransformer"
        return [x.permute(0, 3, 1, 2) if is_last and x.ndim == 4 else x for x in found]


def find_stages(module: nn.Module, *, name: str) -> list[nn.Module]:
    """Return the modules whose outputs are layers: residual stages, encoder blocks, or features."""
    network: Any = module
    if hasattr(network, "layer1"):
        return [getattr(network, f"layer{k}") for k in range(1, 5)]
    if hasattr(network, "encoder"):
        return list(network.encoder.layers)
    if isinstance(getattr(network, "features", None), nn.Sequential):
        return list(network.features)
    raise InputError(
        f"torchvision:{name}: its layers aren't known here; wrap it yourself (docs/models.md)"
    )
