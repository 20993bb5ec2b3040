"""`objecthood models`: what can be evaluated."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import print_json, print_result, say
from commands.model_options import Device, Dtype, GeometryText, Models, RandomWeights

if TYPE_CHECKING:
    from model_eval.listing import Listed

app = typer.Typer(no_args_is_help=True, help="Models: what can be evaluated.")

_SHOWN = 40
_MARKS = {True: "ok", False: "WRONG", None: "note"}


@app.command(name="list")
def list_(
    pattern: Annotated[
        str | None, typer.Argument(help="Part of a name, or a pattern such as '*dinov2*'.")
    ] = None,
    catalogue: Annotated[
        bool,
        typer.Option(
            "--catalogue", help="Those that the field compares: objective, data, licence."
        ),
    ] = False,
    is_json: Annotated[bool, typer.Option("--json", help="For a program.")] = False,
) -> None:
    """Say what can be evaluated, and whether its weights are on this machine.

    Without a pattern: what is ready now. Any timm architecture also runs with --random-weights.

    Example: `objecthood models list dinov2`
    """
    from model_eval.listing import list_models

    found = list_models(pattern)
    if catalogue:
        _print_catalogue(found, is_json=is_json)
        return
    if is_json:
        print_json({"models": [asdict(item) | {"is_ready": item.is_ready} for item in found]})
        return
    shown = [item for item in found if pattern is not None or item.is_ready]
    for item in shown[:_SHOWN]:
        print_result(f"{item.name:<50} {item.source:<8} {item.weights}")
    _say_rest(n_found=len(found), n_shown=min(len(shown), _SHOWN), pattern=pattern)


def _print_catalogue(found: "list[Listed]", *, is_json: bool) -> None:
    """Print the catalogue's rows of the models that were found."""
    from model_eval.catalogue import read_catalogue

    listed = {item.name: item for item in found}
    rows = [
        row | asdict(listed[row["name"]])
        for row in read_catalogue().to_dict("records")
        if row["name"] in listed
    ]
    if is_json:
        print_json({"models": rows})
        return
    for row in rows:
        print_result(
            f"{row['name']:<46} {row['family']:<22} {row['objective']:<40} {row['training_data']:<22} "
            f"{row['year']}  {row['licence']:<16} {row['stride_px']:>2}/{row['size_px']:<4} {row['weights']}"
        )


def _say_rest(*, n_found: int, n_shown: int, pattern: str | None) -> None:
    if n_found == 0:
        say(f"no model fits {pattern!r}; try a shorter part of its name")
    elif n_shown < n_found:
        wanted = (
            "name a part of it to see it" if pattern is None else "a longer pattern shows fewer"
        )
        say(f"{n_found - n_shown} more; {wanted}")


@app.command()
def check(
    models: Models,
    geometry: GeometryText = "pad",
    random_weights: RandomWeights = None,
    device: Device = "auto",
    dtype: Dtype = "float32",
    is_json: Annotated[bool, typer.Option("--json", help="For a program.")] = False,
) -> None:
    """Send coded images through a model and say whether every dot lands on its own patch.

    Reports grid, stride, prefix tokens, final norm, outlying tokens, and whether two runs and two
    batch sizes agree. Ends with exit code 2 when something is wrong.

    Example: `objecthood models check vit_small_patch14_dinov2`
    """
    import numpy as np

    from model_eval.check import check_model, raise_if_failed
    from model_eval.sources.find import load_model

    reports = []
    for name in models:
        source = load_model(name, random_seed=random_weights, device=device, dtype=dtype)
        reports.append(check_model(source, geometry=geometry, rng=np.random.default_rng(0)))
        if not is_json:
            print_result(reports[-1].model)
            for line in reports[-1].lines:
                print_result(f"  {_MARKS[line.has_passed]:<6}  {line.name}: {line.detail}")
    if is_json:
        print_json({"checks": [asdict(report) for report in reports]})
    for report in reports:
        raise_if_failed(report)
