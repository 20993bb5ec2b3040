"""timm's networks: pretrained, or with random weights from a seed."""

from pathlib import Path
from typing import Any

import timm
import torch
from safetensors import SafetensorError
from timm.data.config import resolve_model_data_config
from timm.models import is_model, split_model_name_tag

from model_eval.backbone import TimmBackbone, describe_network
from model_eval.catalogue import find_about
from model_eval.weights import fetch_weights, find_place
from stimuli.benchmark import hash_file
from stimuli.errors import InputError

# How a timm network is told to take any image size; each family has its own way, or none.
_ANY_SIZE: tuple[dict[str, Any], ...] = ({"dynamic_img_size": True}, {})


def is_timm_name(name: str) -> bool:
    """Return whether timm knows the architecture and, if given, the tag."""
    architecture, tag = split_model_name_tag(name)
    return is_model(architecture) and (not tag or f"{architecture}.{tag}" in _pretrained_names())


def load_timm(
    name: str, *, random_seed: int | None, device: str = "cpu", dtype: str = "float32"
) -> TimmBackbone:
    """Return a timm network.

    Parameters
    ----------
    name
        An architecture, with a tag or without (then timm's default weights).
    random_seed
        Random weights from this seed; None asks for the pretrained ones.
    device, dtype
        Where it runs, and in what.

    Raises
    ------
    InputError
        The weights aren't here and can't be fetched, or don't fit.
    """
    architecture, _ = split_model_name_tag(name)
    if random_seed is not None:
        module, is_fixed = create_random(architecture, random_seed)
        sha256, written = None, f"{architecture}@random{random_seed}"
    else:
        place = find_place(name)
        path = fetch_weights(place, name=name)
        module, is_fixed = _create_from_file(name, path)
        sha256 = hash_file(path)
        written = f"{architecture}.{place.tag}" if place.tag else architecture
    card = describe_network(
        module,
        name=written,
        source="timm",
        config=resolve_model_data_config(module),
        is_fixed=is_fixed,
        weights_sha256=sha256,
        random_seed=random_seed,
        about=find_about(written) if random_seed is None else None,
        notes=() if random_seed is None else (f"RANDOM weights, seed {random_seed}: untrained",),
    )
    return TimmBackbone(module, card, device=device, dtype=dtype)


def create_random(architecture: str, seed: int) -> tuple[torch.nn.Module, bool]:
    """Return an untrained network, the same for the same seed, and whether its input size is fixed.

    torch's generator is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return create_network(architecture, pretrained=False)


def _create_from_file(name: str, path: Path) -> tuple[torch.nn.Module, bool]:
    try:
        return create_network(name, pretrained=True, pretrained_cfg_overlay={"file": str(path)})
    except (RuntimeError, KeyError, OSError, SafetensorError) as error:
        raise InputError(
            f"{name}: the weights in {path} don't fit ({str(error).splitlines()[0]}); delete the file "
            "and fetch it anew"
        ) from error


def create_network(name: str, **settings: Any) -> tuple[torch.nn.Module, bool]:  # noqa: ANN401 (timm's own)
    """Create a network that takes any image size, where its family can."""
    for extra in _ANY_SIZE:
        try:
            module: Any = timm.create_model(name, num_classes=0, **settings, **extra)
        except TypeError as error:
            if not extra or "dynamic_img_size" not in str(error):
                raise
            continue
        is_fixed = not extra and bool(module.pretrained_cfg.get("fixed_input_size"))
        return module, is_fixed
    raise AssertionError("the last way has no extra settings")


def _pretrained_names() -> set[str]:
    return set(timm.list_pretrained())
