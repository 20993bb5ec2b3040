"""Models of one's own: a checkpoint in a timm architecture, a Python file, an installed package."""

import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path
from pickle import UnpicklingError  # noqa: TID251 (only the error's name)
from typing import Any

import timm
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from timm.data.config import resolve_model_data_config
from torch import Tensor, nn

from model_eval.backbone import TimmBackbone, describe_network
from model_eval.card import About, parse_about
from model_eval.source import FeatureSource
from model_eval.sources.timm_models import create_network
from stimuli.benchmark import hash_file
from stimuli.errors import InputError
from stimuli.table_io import name_some, read_json

ENTRY_POINTS = "objecthood.models"
# Where training scripts put the weights inside a checkpoint, and what they put before their names.
_CONTAINERS = ("state_dict", "model", "teacher", "student", "module", "state_dict_ema", "model_ema")
_PREFIXES = ("module.", "backbone.", "model.", "encoder.", "teacher.", "student.", "visual.")
_HEADS = ("head.", "fc.", "classifier.", "head_dist.", "fc_norm.")


def load_checkpoint(name: str, *, device: str = "cpu", dtype: str = "float32") -> TimmBackbone:
    """Return a timm architecture with weights of one's own.

    Parameters
    ----------
    name
        ``ARCHITECTURE=PATH``, what stands after ``checkpoint:``. The file is safetensors, or a state
        dict that `torch.load` reads with `weights_only` (no code of the file is ever run). A JSON file
        of the same name beside it may state family, objective, training_data, year and licence.
    device, dtype
        Where it runs, and in what.

    Raises
    ------
    InputError
        No such architecture or file, a file of another kind, or weights that don't fit exactly
        (a classifier head may be missing or left over).
    """
    architecture, equals, path_text = name.partition("=")
    path = Path(path_text).expanduser()
    if not equals or not timm.is_model(architecture):
        raise InputError(
            f"checkpoint:{name}: expected checkpoint:ARCHITECTURE=PATH with a timm architecture, e.g. "
            "checkpoint:vit_small_patch16_224=mine.safetensors"
        )
    state = read_state(path)
    module, is_fixed = create_network(architecture)
    fit_state(module, state, where=f"{path} in {architecture}")
    card = describe_network(
        module,
        name=f"checkpoint:{architecture}={path.name}",
        source="checkpoint",
        config=resolve_model_data_config(module),
        is_fixed=is_fixed,
        weights_sha256=hash_file(path),
        about=_read_about(path.with_suffix(".json")),
        notes=(f"preprocessing is that of timm's {architecture}",),
    )
    return TimmBackbone(module, card, device=device, dtype=dtype)


def read_state(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint by name, unwrapped from what training scripts put around them.

    Raises
    ------
    InputError
        No such file, or one that can't be read without running code from it.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such checkpoint")
    try:
        if path.suffix == ".safetensors":
            state: Any = load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, UnpicklingError, RuntimeError, EOFError) as error:
        raise InputError(
            f"{path}: not a safetensors file, nor a state dict that can be read without running code "
            f"from it ({str(error).splitlines()[0]}). Save it with torch.save(model.state_dict(), …) "
            "or as safetensors"
        ) from None
    while isinstance(state, dict) and any(isinstance(state.get(k), dict) for k in _CONTAINERS):
        state = next(state[k] for k in _CONTAINERS if isinstance(state.get(k), dict))
    if not isinstance(state, dict) or not all(isinstance(v, Tensor) for v in state.values()):
        raise InputError(f"{path}: expected tensors by name (a state dict), found something else")
    return {_strip_prefixes(key): value for key, value in state.items()}


def fit_state(module: nn.Module, state: dict[str, Tensor], *, where: str) -> None:
    """Load a state dict into a network, exactly.

    Raises
    ------
    InputError
        A weight is missing, left over or of another shape; names some.
    """
    wanted = module.state_dict()
    missing = [key for key in wanted if key not in state]
    extra = [key for key in state if key not in wanted and not key.startswith(_HEADS)]
    shapes = [
        f"{key}: {tuple(state[key].shape)}, expected {tuple(wanted[key].shape)}"
        for key in wanted
        if key in state and state[key].shape != wanted[key].shape
    ]
    if missing or extra or shapes:
        parts = [
            f"missing {name_some(missing, limit=3)}" if missing else "",
            f"left over {name_some(extra, limit=3)}" if extra else "",
            f"of another shape {name_some(shapes, limit=2)}" if shapes else "",
        ]
        raise InputError(
            f"{where}: the weights don't fit: {'; '.join(part for part in parts if part)}. Name the "
            "architecture that they were trained in"
        )
    module.load_state_dict({key: state[key] for key in wanted})


def load_file_model(name: str) -> FeatureSource:
    """Return what a function of a Python file builds.

    Parameters
    ----------
    name
        ``PATH.py:FUNCTION``. The function takes nothing and returns what `wrap_module` returns, or
        anything with `card` and `read`.

    Raises
    ------
    InputError
        No such file or function, it fails, or it returns something else.
    """
    path_text, _, function = name.rpartition(":")
    path = Path(path_text).expanduser()
    if not path.is_file():
        raise InputError(f"{name}: no such file, {path}; expected my_model.py:build")
    spec = importlib.util.spec_from_file_location(f"objecthood_model_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{name}: {path} isn't a Python file")
    module = importlib.util.module_from_spec(spec)
    # The file may import its neighbours, as it could where it was written.
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent.resolve()))
    build = getattr(module, function, None)
    if not callable(build):
        raise InputError(f"{name}: {path} has no function {function!r}")
    return _check_source(build(), name=name)


def load_entry_point(name: str) -> FeatureSource:
    """Return the model that an installed package offers under the group ``objecthood.models``.

    Raises
    ------
    InputError
        None is called so; the known ones are named.
    """
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in found:
        raise InputError(
            f"entry:{name}: no installed package offers it; installed: {name_some(found) or 'none'}"
        )
    return _check_source(found[name].load()(), name=f"entry:{name}")


def _read_about(path: Path) -> About | None:
    return parse_about(read_json(path), where=str(path)) if path.is_file() else None


def _check_source(built: object, *, name: str) -> FeatureSource:
    if not (hasattr(built, "card") and hasattr(built, "read")):
        raise InputError(
            f"{name}: it built a {type(built).__name__}; expected what "
            "model_eval.wrap.wrap_module returns (docs/models.md)"
        )
    return built  # type: ignore[return-value]  (checked by its parts)


def _strip_prefixes(key: str) -> str:
    while key.startswith(_PREFIXES):
        key = key.partition(".")[2]
    return key
