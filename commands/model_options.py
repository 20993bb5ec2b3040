"""Options that say what is read of a model and how; several commands have them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Models = Annotated[list[str], typer.Argument(help="Names; see 'objecthood models list'.")]
BenchmarkFolder = Annotated[Path, typer.Option(help="A benchmark folder.")]
Layers = Annotated[str, typer.Option(help="'last', 'all', or block numbers such as 0,5,11.")]
Representations = Annotated[
    str,
    typer.Option(
        help="Of tokens, tokens_normed, map, queries, keys, values, attention, keys_heads, "
        "keys_head3; comma between several. Empty: the layers' outputs."
    ),
]
ReadoutNames = Annotated[
    str, typer.Option(help="Names with commas, or 'all'. Empty: cosine and object AUC.")
]
GeometryText = Annotated[
    str,
    typer.Option(
        help="How images become input: pad, native, square, longest, shortest (with a size: "
        "longest:518), grid:16."
    ),
]
Dots = Annotated[
    Literal["contains", "bilinear", "published_rounding"],
    typer.Option(help="Which patches speak for a dot."),
]
Curves = Annotated[bool, typer.Option("--curves", help="Also the published areas of mean curves.")]
Scenes = Annotated[
    bool, typer.Option("--scenes", help="Also statistics per scene over all its objects.")
]
ScenePairs = Annotated[
    bool, typer.Option("--scene-pairs", help="With those that need all pairs of patches.")
]
KeepPairs = Annotated[
    bool, typer.Option("--keep-pairs", help="Keep the dots' vectors, for 'objecthood learn'.")
]
KeepMaps = Annotated[
    str,
    typer.Option(
        help="Keep affinity maps of the first dot, for figures: of 'examples' (six scenes, the same for "
        "every model), 'all', or trial ids with commas."
    ),
]
RandomWeights = Annotated[
    int | None, typer.Option(help="Use random weights from this seed; said in every output.")
]
Device = Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")]
Dtype = Annotated[str, typer.Option(help="float32, bfloat16 or float16.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Images per forward pass.")]
CacheFolder = Annotated[
    Path | None, typer.Option(help="Folder of known results; default: cache below --out.")
]


def split_words(text: str) -> tuple[str, ...]:
    """Return the words between commas.

    >>> split_words("keys, values")
    ('keys', 'values')
    """
    return tuple(word.strip() for word in text.split(",") if word.strip())
