"""Both dots' vectors of all trials of a model, in one file: what learned readouts are trained on.

safetensors: an array ``layer/representation`` each, float32, shape (n_trials, 2, n_dims), first dot
first; the metadata name the model and the trials.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from model_eval.card import Feature
from model_eval.results import PairVectors
from stimuli.errors import InputError
from stimuli.table_io import name_some, replacing

FORMAT = "objecthood-pairs-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The vectors of one feature of one model.

    Attributes
    ----------
    model
        Its written name.
    feature
        Which.
    trial_ids
        The trials.
    vectors : float32 array, shape (n_trials, 2, n_dims)
        First (central) dot, second dot.
    """

    model: str
    feature: Feature
    trial_ids: tuple[str, ...]
    vectors: np.ndarray


def write_pairs(pairs: Mapping[Feature, PairVectors], path: Path, *, model: str) -> None:
    """Write a model's pairs, complete or not at all."""
    ids = next(iter(pairs.values())).trial_ids
    arrays = {
        f"{feature.layer}/{feature.representation}": np.ascontiguousarray(item.vectors)
        for feature, item in pairs.items()
    }
    metadata = {"format": FORMAT, "model": model, "trial_ids": json.dumps(ids)}
    with replacing(path) as temporary:
        save_file(arrays, temporary, metadata=metadata)


def read_pairs(path: Path, *, feature: str | None = None) -> Pairs:
    """Return one feature's pairs.

    Parameters
    ----------
    path
        From `objecthood evaluate --keep-pairs`.
    feature
        ``layer/representation``; None takes the last.

    Raises
    ------
    InputError
        No such file, another kind of file, or no such feature.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; 'objecthood evaluate --keep-pairs' writes it")
    try:
        with safe_open(path, framework="numpy") as opened:
            metadata = opened.metadata() or {}
            names = sorted(opened.keys(), key=_place)
            if metadata.get("format") != FORMAT or not names:
                raise InputError(f"{path}: not a file of pairs (format {metadata.get('format')!r})")
            chosen = names[-1] if feature is None else feature
            if chosen not in names:
                raise InputError(
                    f"{path}: no feature {chosen!r}; it has {name_some(names, limit=20)}"
                )
            vectors = opened.get_tensor(chosen)
    except SafetensorError as error:
        raise InputError(f"{path}: not a safetensors file ({error})") from None
    layer, _, representation = chosen.partition("/")
    return Pairs(
        model=metadata["model"],
        feature=Feature(layer=layer, representation=representation),
        trial_ids=tuple(json.loads(metadata["trial_ids"])),
        vectors=vectors,
    )


def _place(name: str) -> tuple[int, str]:
    layer = name.partition("/")[0]
    return (int(layer) if layer.isdecimal() else 0), name
