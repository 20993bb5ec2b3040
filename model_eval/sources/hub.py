"""Hugging Face transformers and open_clip, by the names that they use themselves.

Outputs of blocks and stages only, before any final norm; queries, keys and attention are for timm's
networks. No code of a repository is run, and transformers' weights are read from safetensors only.
"""

import inspect
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from model_eval.backbone import TimmBackbone
from model_eval.weights import WeightsPlace, fetch_repository, fetch_weights
from model_eval.wrap import IMAGENET_MEAN, IMAGENET_SD, Facts, takes_other_sizes, wrap_network
from stimuli.benchmark import hash_file
from stimuli.errors import InputError


def load_transformers(
    name: str, *, random_seed: int | None = None, device: str = "cpu", dtype: str = "float32"
) -> TimmBackbone:
    """Return a vision model of the Hugging Face hub, or of a folder that `save_pretrained` wrote.

    Parameters
    ----------
    name
        Repository or folder, what stands after ``hf:``.
    random_seed, device, dtype
        As for timm's networks.

    Raises
    ------
    InputError
        transformers isn't installed, the weights can't be had, or it is no vision model.
    """
    _check_installed("transformers", name=f"hf:{name}")
    from transformers import AutoConfig, AutoModel

    folder = Path(name) if Path(name).is_dir() else fetch_repository(name)
    weights = sorted(folder.glob("*.safetensors"))
    if not weights and random_seed is None:
        raise InputError(f"hf:{name}: no *.safetensors in {folder}; pickled weights aren't read")
    try:
        config = AutoConfig.from_pretrained(folder)
        if random_seed is None:
            module = AutoModel.from_pretrained(folder, use_safetensors=True)
        else:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(random_seed)
                module = AutoModel.from_config(config)
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"hf:{name}: {_first_line(error)}") from error
    config = getattr(config, "vision_config", config)
    mean, sd = _read_processor(folder)
    written = f"hf:{Path(name).name if Path(name).is_dir() else name}"
    return wrap_network(
        getattr(module, "vision_model", module),
        _read_hidden_states,
        facts=Facts(
            name=written if random_seed is None else f"{written}@random{random_seed}",
            patch_px=getattr(config, "patch_size", None),
            size_px=int(getattr(config, "image_size", 224)),
            mean=mean,
            sd=sd,
            source="transformers",
            weights_sha256=None if random_seed is not None else _hash_all(weights),
            random_seed=random_seed,
        ),
        device=device,
        dtype=dtype,
    )


def load_open_clip(
    name: str, *, random_seed: int | None = None, device: str = "cpu", dtype: str = "float32"
) -> TimmBackbone:
    """Return the image tower of an open_clip model.

    Parameters
    ----------
    name
        ``ARCHITECTURE/TAG``, such as ``ViT-B-32/laion2b_s34b_b79k``; with random weights the
        architecture alone.
    random_seed, device, dtype
        As for timm's networks.

    Raises
    ------
    InputError
        open_clip isn't installed, knows no such model, or its weights can't be had.
    """
    _check_installed("open_clip", name=f"open_clip:{name}")
    import open_clip

    architecture, _, tag = name.partition("/")
    if architecture not in open_clip.list_models():
        raise InputError(
            f"open_clip:{name}: no such architecture; open_clip.list_models() lists them"
        )
    if random_seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            model: Any = open_clip.create_model(architecture, require_pretrained=False)
        path, written = None, f"open_clip:{architecture}@random{random_seed}"
    else:
        path = fetch_weights(_find_open_clip(architecture, tag), name=f"open_clip:{name}")
        model = open_clip.create_model(architecture, pretrained=str(path))
        written = f"open_clip:{name}"
    config = open_clip.get_model_preprocess_cfg(model)
    tower = model.visual.eval()
    size_px = int(config["size"][0])
    return wrap_network(
        tower,
        _read_intermediates,
        facts=Facts(
            name=written,
            size_px=size_px,
            is_fixed=not takes_other_sizes(tower, _read_intermediates, size_px=size_px),
            mean=config["mean"],
            sd=config["std"],
            source="open_clip",
            weights_sha256=None if path is None else hash_file(path),
            random_seed=random_seed,
        ),
        device=device,
        dtype=dtype,
    )


def _read_hidden_states(module: nn.Module, batch: Tensor) -> list[Tensor]:
    """Return the outputs of all blocks or stages; the first hidden state is the embedding."""
    settings: dict[str, Any] = {"output_hidden_states": True}
    if "interpolate_pos_encoding" in inspect.signature(module.forward).parameters:
        settings["interpolate_pos_encoding"] = True
    return list(module(pixel_values=batch, **settings).hidden_states[1:])


def _read_intermediates(module: nn.Module, batch: Tensor) -> list[Tensor]:
    tower: Any = module
    return tower.forward_intermediates(batch, intermediates_only=True)["image_intermediates"]


def _read_processor(folder: Path) -> tuple[Any, Any]:
    """Return mean and SD of a model's own preprocessing; ImageNet's where it states none."""
    from transformers import AutoImageProcessor

    if not (folder / "preprocessor_config.json").is_file():
        return IMAGENET_MEAN, IMAGENET_SD
    processor: Any = AutoImageProcessor.from_pretrained(folder)
    return processor.image_mean, processor.image_std


def _find_open_clip(architecture: str, tag: str) -> WeightsPlace:
    import open_clip

    tags = open_clip.list_pretrained_tags_by_model(architecture)
    if tag not in tags:
        raise InputError(
            f"open_clip:{architecture}/{tag}: expected one of its trainings, {', '.join(tags) or 'none'}"
            "; or use --random-weights SEED"
        )
    config = open_clip.get_pretrained_cfg(architecture, tag)
    hub, _, file = (config.get("hf_hub") or "").rpartition("/")
    names = (file,) if file else ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
    url = None if hub else config.get("url") or None
    return WeightsPlace(hub_id=hub or None, hub_files=names if hub else (), url=url)


def _hash_all(paths: list[Path]) -> str:
    """Return the hash of a file, or of the hashes of several."""
    hashes = [hash_file(path) for path in paths]
    return hashes[0] if len(hashes) == 1 else "+".join(hashes)


def _check_installed(package: str, *, name: str) -> None:
    if find_spec(package) is None:
        raise InputError(
            f"{name}: needs {package}; install the extra: pip install 'objecthood[hub]'"
        )


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
