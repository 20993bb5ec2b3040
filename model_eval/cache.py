"""Results of images, kept by content: an interrupted run continues, and nothing stale is ever used.

The key of an image's result is the hash of everything that it depends on: the model's weights and
preprocessing, geometry, features and readouts, device and dtype, versions of code and libraries, the
bytes of image and mask, and the image's trials. Each entry also holds these parts in words, so that
`explain_entry` can say which of them differs. A model whose weights have no known hash isn't cached.

::

    <folder>/<model>/<image>-<key>.json
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import model_eval
import stimuli
from model_eval.card import Feature, ModelCard
from model_eval.map_files import describe_map, parse_map
from model_eval.reduce import Plan
from model_eval.results import (
    CurveSum,
    ImageResult,
    NormCounts,
    PairVectors,
    SceneValue,
    SkippedTrial,
    TrialValues,
)
from stimuli.errors import InputError
from stimuli.table_io import read_json, safe_file_name, write_text

FORMAT = "objecthood-image-result-1"
_KEY_LENGTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Where one image's result of one run lies, and what it depends on.

    Attributes
    ----------
    path
        The file, whether it is there or not.
    parts
        What the result depends on, by name.
    """

    path: Path
    parts: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why an image's result can be taken from the cache or not.

    Attributes
    ----------
    image
        The image's file name.
    is_hit
        Whether it can.
    reasons
        For a miss: what differs from the nearest entry of this model and image; empty where there is
        none.
    """

    image: str
    is_hit: bool
    reasons: tuple[str, ...]


def describe_model(card: ModelCard) -> dict[str, Any] | None:
    """Return what identifies a model's numbers; None where its weights have no known hash."""
    is_known = (
        card.weights_sha256 is not None or card.random_seed is not None or card.source == "control"
    )
    # What code of one's own does with the weights isn't told by their hash.
    if not is_known or card.source == "wrapped":
        return None
    return {
        "model": card.name,
        "weights": card.weights_sha256 or f"random, seed {card.random_seed}",
        "preprocessing": None if card.preprocessing is None else asdict(card.preprocessing),
        "prefix tokens": card.n_prefix,
        "input": asdict(card.needs),
    }


def make_parts(
    plan: Plan, *, geometry: str, device: str, versions: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return what all results of a run depend on; None where the run can't be cached.

    Parameters
    ----------
    plan
        What is read of which model.
    geometry, device
        As in the options, written out.
    versions
        Of the libraries.
    """
    identity = describe_model(plan.card)
    if identity is None:
        return None
    return {
        **identity,
        "geometry": geometry,
        "dots": plan.options.dots,
        "device": device,
        "dtype": plan.options.dtype,
        "readouts": {
            f"{feature.layer} {feature.representation}": [item.name for item in items]
            for feature, items in plan.readouts.items()
        },
        "curves": plan.options.has_curves,
        "scenes": [plan.options.has_scenes, plan.options.has_scene_pairs],
        "pairs": plan.options.has_pairs,
        "code": hash_code(),
        "libraries": dict(versions),
    }


def find_entry(folder: Path, run_parts: Mapping[str, Any], image_parts: Mapping[str, Any]) -> Entry:
    """Return the entry of one image.

    Parameters
    ----------
    folder
        The cache.
    run_parts
        From `make_parts`.
    image_parts
        ``image`` (its name), and everything of the image that the result depends on.
    """
    parts = json.loads(json.dumps({**run_parts, **image_parts}))
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:_KEY_LENGTH]
    name = f"{safe_file_name(parts['image'])}-{key}.json"
    return Entry(path=folder / safe_file_name(parts["model"]) / name, parts=parts)


def read_entry(entry: Entry) -> ImageResult | None:
    """Return the stored result, or None when there is none of exactly this content."""
    if not entry.path.is_file():
        return None
    content = read_json(entry.path)
    # The whole content is compared, not only its hash: a clash can't be taken for a hit.
    if content.get("format") != FORMAT or content.get("parts") != entry.parts:
        return None
    try:
        return _parse_result(content["result"])
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{entry.path}: damaged ({type(error).__name__}: {error}); delete the file"
        ) from None


def write_entry(entry: Entry, result: ImageResult) -> None:
    """Store a result, complete or not at all. Floats keep every bit."""
    content = {"format": FORMAT, "parts": entry.parts, "result": _describe_result(result)}
    write_text(json.dumps(content, ensure_ascii=False) + "\n", entry.path)


def explain_entry(entry: Entry) -> Explanation:
    """Return whether an image's result is there, and if not, what differs from the nearest one."""
    image = str(entry.parts["image"])
    if read_entry(entry) is not None:
        return Explanation(image=image, is_hit=True, reasons=())
    stored = [
        read_json(path).get("parts", {})
        for path in sorted(entry.path.parent.glob(f"{safe_file_name(image)}-*.json"))
    ]
    differences = [_compare(parts, entry.parts) for parts in stored]
    nearest = min(differences, key=len, default=())
    return Explanation(image=image, is_hit=False, reasons=nearest)


@cache
def hash_code() -> str:
    """Return the hash of the code that readouts depend on: all of model_eval and stimuli."""
    digest = hashlib.sha256()
    for package in (model_eval, stimuli):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _compare(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[str, ...]:
    names = dict.fromkeys((*wanted, *stored))
    return tuple(
        f"{name}: stored {_shorten(stored.get(name))}, now {_shorten(wanted.get(name))}"
        for name in names
        if stored.get(name) != wanted.get(name)
    )


def _shorten(value: object, *, limit: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else f"{text[:limit]}…"


def _describe_result(result: ImageResult) -> dict[str, Any]:
    return {
        "scene_id": result.scene_id,
        "readouts": [asdict(item) for item in result.readouts],
        "skipped": [asdict(item) for item in result.skipped],
        "scenes": [asdict(item) for item in result.scenes],
        "curves": [asdict(item) for item in result.curves],
        "pairs": [
            {
                "feature": asdict(item.feature),
                "trial_ids": item.trial_ids,
                **_encode(item.vectors),
            }
            for item in result.pairs
        ],
        "maps": [{"map": describe_map(item), **_encode(item.affinity)} for item in result.maps],
        "norms": asdict(result.norms),
    }


def _parse_result(content: Mapping[str, Any]) -> ImageResult:
    return ImageResult(
        scene_id=content["scene_id"],
        readouts=[
            TrialValues(
                feature=Feature(**item["feature"]),
                readout=item["readout"],
                kind=item["kind"],
                trial_ids=tuple(item["trial_ids"]),
                numbers=tuple(item["numbers"]),
            )
            for item in content["readouts"]
        ],
        skipped={SkippedTrial(**item): None for item in content["skipped"]},
        scenes=[
            SceneValue(**{**item, "feature": Feature(**item["feature"])})
            for item in content["scenes"]
        ],
        curves=[
            CurveSum(
                **{
                    **item,
                    "feature": Feature(**item["feature"]),
                    "rates": tuple(map(tuple, item["rates"])),
                }
            )
            for item in content["curves"]
        ],
        pairs=[
            PairVectors(
                feature=Feature(**item["feature"]),
                trial_ids=tuple(item["trial_ids"]),
                vectors=_decode(item),
            )
            for item in content["pairs"]
        ],
        maps=[parse_map(item["map"], affinity=_decode(item)) for item in content["maps"]],
        norms=NormCounts(**content["norms"]),
    )


def _encode(array: np.ndarray) -> dict[str, Any]:
    return {
        "shape": array.shape,
        "float32": base64.b64encode(array.astype("<f4").tobytes()).decode(),
    }


def _decode(content: Mapping[str, Any]) -> np.ndarray:
    flat = np.frombuffer(base64.b64decode(content["float32"]), "<f4")
    return flat.reshape(content["shape"]).astype(np.float32)


def describe_image(
    *,
    image: str,
    image_sha256: str,
    mask_sha256: str | None,
    trials: Sequence[Mapping[str, Any]],
    neighbours: Sequence[str],
    maps: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what of an image its result depends on.

    Parameters
    ----------
    image, image_sha256
        File name, and hash of the bytes as they are now.
    mask_sha256
        Of the scene's mask, or None.
    trials
        Ids, dots and objects.
    neighbours
        Hashes of the other images in the same forward pass: they may change the last bits.
    maps
        Trials whose affinity maps are kept.
    """
    return {
        "image": image,
        "image bytes": image_sha256,
        "mask bytes": mask_sha256,
        "trials": [dict(row) for row in trials],
        "same batch": list(neighbours),
        "maps": list(maps),
    }
