"""`objecthood cache`: what is known already, and why it is used or not."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from commands.console import print_json, print_result
from commands.model_options import (
    BatchSize,
    BenchmarkFolder,
    Curves,
    Device,
    Dots,
    Dtype,
    GeometryText,
    KeepMaps,
    KeepPairs,
    Layers,
    RandomWeights,
    ReadoutNames,
    Representations,
    ScenePairs,
    Scenes,
    split_words,
)

app = typer.Typer(no_args_is_help=True, help="Known results of images: why they are used or not.")


@app.callback()
def main() -> None:
    """Known results of images: why they are used or not."""


@app.command()
def explain(
    model: Annotated[str, typer.Argument(help="A model's name.")],
    benchmark: BenchmarkFolder,
    cache: Annotated[Path, typer.Option(help="The folder: cache below evaluate's --out.")],
    layers: Layers = "last",
    representations: Representations = "",
    readouts: ReadoutNames = "",
    geometry: GeometryText = "pad",
    dots: Dots = "contains",
    curves: Curves = False,
    scenes: Scenes = False,
    scene_pairs: ScenePairs = False,
    keep_pairs: KeepPairs = False,
    keep_maps: KeepMaps = "",
    random_weights: RandomWeights = None,
    device: Device = "auto",
    dtype: Dtype = "float32",
    batch_size: BatchSize = 1,
    is_json: Annotated[bool, typer.Option("--json", help="For a program.")] = False,
) -> None:
    """Say which images of an evaluation are known already and, for the others, what differs.

    Takes the options of `objecthood evaluate`. The model is loaded, but nothing is read.

    Example: `objecthood cache explain efficientnet-lite0 --benchmark bench --cache results/cache`
    """
    from model_eval.options import EvaluationOptions
    from model_eval.run import explain_cache
    from stimuli.benchmark import open_benchmark

    options = EvaluationOptions(
        layers=layers,
        representations=split_words(representations),
        readouts=split_words(readouts),
        has_curves=curves,
        has_scenes=scenes or scene_pairs,
        has_scene_pairs=scene_pairs,
        has_pairs=keep_pairs,
        map_trials=split_words(keep_maps),
        random_weights=random_weights,
        geometry=geometry,
        dots=dots,
        batch_size=batch_size,
        device=device,
        dtype=dtype,
    )
    found = explain_cache(model, open_benchmark(benchmark), options=options, cache=cache)
    if is_json:
        print_json({"images": [asdict(item) for item in found]})
        return
    n_hits = sum(item.is_hit for item in found)
    print_result(f"{n_hits} of {len(found)} images are known")
    reasons: dict[str, list[str]] = {}
    for item in found:
        for reason in () if item.is_hit else item.reasons or ("never read with this model",):
            reasons.setdefault(reason, []).append(item.image)
    for reason, images in reasons.items():
        print_result(f"  {len(images)} images, e.g. {images[0]}: {reason}")
