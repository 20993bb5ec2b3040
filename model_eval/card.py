"""What a model says of itself, and which of its features are read.

Light on purpose (no torch): the command line and the sources of models share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from stimuli.errors import InputError
from stimuli.geometry import InputNeeds
from stimuli.table_io import name_some


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One thing to read: what (`representation`) of which block or stage (`layer`).

    Representations: ``tokens`` (a block's output, before any final norm), ``tokens_normed`` (the last
    block's output after the model's final norm), ``map`` (a stage of a network without tokens),
    ``queries``, ``keys``, ``values`` (as projected, all heads one after the other), the same with
    ``_head3`` (one head), ``attention`` (as the block uses it).
    """

    layer: str
    representation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A block or stage, counted from 0, with its stride in input pixels and what it offers."""

    name: str
    stride_px: int
    representations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessing:
    """How pixels become numbers: (value / 255 - mean) / sd per channel; padding is 0 after that.

    Zero after normalisation is the published form (Adeli 2023 code): padding has the mean colour.

    Attributes
    ----------
    mean, sd
        Per channel, on the 0 to 1 scale.
    interpolation
        Pillow's name of the filter for geometries that resize.
    """

    mean: tuple[float, float, float]
    sd: tuple[float, float, float]
    interpolation: str = "bicubic"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Where a model stands in the field: what boards and figures group models by. None is unknown.

    Attributes
    ----------
    family
        The published model, e.g. DINOv2; one colour in every figure.
    objective
        What it was trained for.
    training_data
        On which images.
    year
        Of publication.
    licence
        Of the weights.
    """

    family: str | None = None
    objective: str | None = None
    training_data: str | None = None
    year: int | None = None
    licence: str | None = None


ABOUT_NAMES = tuple(item.name for item in fields(About))


def parse_about(content: Mapping[str, Any], *, where: str) -> About:
    """Return what a JSON object says of a model; other names in it are left alone.

    Raises
    ------
    InputError
        The year isn't a whole number, or another fact isn't text.
    """
    given = {name: content[name] for name in ABOUT_NAMES if content.get(name) is not None}
    for name, value in given.items():
        wanted = int if name == "year" else str
        if type(value) is not wanted:
            kind = "a whole number" if name == "year" else "text"
            raise InputError(f"{where}: {name} is {value!r}; expected {kind}")
    return About(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """The facts of a loaded model.

    Attributes
    ----------
    name
        The name that all outputs carry; random weights are part of it.
    source
        Where it comes from: timm, package, control, ...
    needs
        What its input must be.
    layers
        In order; the last one is the default.
    preprocessing
        None for sources that don't read pixels as numbers of a network.
    n_prefix
        Tokens before the patches (CLS, registers); None for networks without tokens.
    n_parameters
        Weights, or None.
    weights_sha256
        Hash of the weights' file; None for random weights and for sources without weights.
    random_seed
        The seed of random weights, else None.
    notes
        What a reader of a score should know.
    about
        Family, objective, data, year, licence; empty for untrained networks.
    """

    name: str
    source: str
    needs: InputNeeds
    layers: tuple[Layer, ...]
    preprocessing: Preprocessing | None = None
    n_prefix: int | None = None
    n_parameters: int | None = None
    weights_sha256: str | None = None
    random_seed: int | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    about: About = field(default_factory=About)

    def layer(self, name: str) -> Layer:
        """Return the layer of that name."""
        return next(layer for layer in self.layers if layer.name == name)


def name_head(name: str, head: int) -> str:
    """Return the name of one head's part of a representation, e.g. ``keys_head3``."""
    return f"{name}_head{head}"


def split_head(representation: str) -> tuple[str, int | None]:
    """Return a representation's name and its head, if it is one head's.

    >>> split_head("keys_head3"), split_head("keys")
    (('keys', 3), ('keys', None))
    """
    name, mark, head = representation.rpartition("_head")
    return (name, int(head)) if mark and head.isdecimal() else (representation, None)


def describe_card(card: ModelCard) -> dict[str, Any]:
    """Return a card's facts for a JSON record."""
    content = asdict(card)
    content |= content.pop("about")
    content["is_random_weights"] = card.random_seed is not None
    content["layers"] = [layer.name for layer in card.layers]
    content["representations"] = sorted(
        {name for layer in card.layers for name in layer.representations if "_head" not in name}
    )
    content["strides_px"] = [layer.stride_px for layer in card.layers]
    return content


def choose_features(
    card: ModelCard, *, layers: str, representations: Sequence[str] = ()
) -> tuple[Feature, ...]:
    """Return what to read of a model.

    Parameters
    ----------
    card
        The model.
    layers
        ``last``, ``all``, or block numbers such as ``0,3,11``.
    representations
        Names; none means each layer's output: of the last block after the final norm (what users of
        the model get), and with more layers than that, before the norm too. ``keys_heads`` means
        each head of the keys by itself, likewise for queries and values.

    Raises
    ------
    InputError
        A layer or representation that the model doesn't have.
    """
    chosen = _choose_layers(card, layers)
    representations = _expand_heads(card, representations)
    offered = {name for layer in card.layers for name in layer.representations}
    unknown = [name for name in representations if name not in offered]
    if unknown:
        raise InputError(
            f"{card.name}: no representation {name_some(unknown)}; it has "
            f"{name_some(sorted(name for name in offered if '_head' not in name), limit=20)}"
        )
    features = [
        Feature(layer=layer.name, representation=name)
        for layer in chosen
        for name in (representations or _default_representations(layer, is_alone=len(chosen) == 1))
        if name in layer.representations
    ]
    if not features:
        raise InputError(
            f"{card.name}: {name_some(representations)} isn't to be had at layer {layers!r}; "
            "use --layers all"
        )
    return tuple(features)


def _expand_heads(card: ModelCard, names: Sequence[str]) -> tuple[str, ...]:
    """Replace e.g. ``keys_heads`` by ``keys_head0``, ``keys_head1`` ..."""
    expanded: list[str] = []
    for name in names:
        stem = name.removesuffix("_heads")
        heads = [
            found
            for layer in card.layers
            for found in layer.representations
            if name != stem and split_head(found)[0] == stem and found != stem
        ]
        expanded.extend(dict.fromkeys(heads) if heads else [name])
    return tuple(expanded)


def _choose_layers(card: ModelCard, layers: str) -> list[Layer]:
    if layers == "all":
        return list(card.layers)
    if layers == "last":
        return [card.layers[-1]]
    known = [layer.name for layer in card.layers]
    wanted = [word.strip() for word in layers.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InputError(
            f"{card.name}: no layer {name_some(unknown)}; expected 'last', 'all' or numbers from "
            f"{known[0]} to {known[-1]}, such as {known[0]},{known[-1]}"
        )
    return [layer for layer in card.layers if layer.name in wanted]


def _default_representations(layer: Layer, *, is_alone: bool) -> tuple[str, ...]:
    outputs = tuple(n for n in layer.representations if n in {"tokens", "tokens_normed", "map"})
    return outputs[-1:] if is_alone else outputs
