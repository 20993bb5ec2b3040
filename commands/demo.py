"""`objecthood demo`: the whole job on built-in data, offline."""

from pathlib import Path
from typing import Annotated

import typer

from commands.console import print_result, progress_bar, say
from commands.evaluate import evaluate
from commands.human import human
from commands.publish import figures, leaderboard
from commands.stats import compare

MODELS = ["control:condition", "control:distance", "control:colour", "efficientnet-lite0"]
RANDOM_MODEL = "vit_tiny_patch16_224"


def demo(
    out: Annotated[Path, typer.Option(help="Folder to make; must be new or empty.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Root of all randomness.")] = 0,
) -> None:
    """Run everything on built-in data: scenes, simulated people, models, board, figures.

    Needs no network. The people are simulated, and every output says so.

    Example: `objecthood demo --out demo`
    """
    from experiment.demo import N_PEOPLE, N_SCENES, make_demo_benchmark
    from stimuli.errors import InputError

    if out.is_dir() and any(out.iterdir()):
        raise InputError(f"--out {out}: is not empty; name a new folder, or delete it first")
    bench, results = out / "benchmark", out / "results"
    say(f"making {N_SCENES} scenes with dot pairs, and {N_PEOPLE} SIMULATED people")
    with progress_bar("making scenes", total=N_SCENES) as advance:
        make_demo_benchmark(bench, seed=seed, on_scene=advance)
    human(bench)
    evaluate(MODELS, benchmark=bench, out=results, keep_maps="examples")
    evaluate([RANDOM_MODEL], benchmark=bench, out=results, random_weights=0, keep_maps="examples")
    compare(results, benchmark=bench)
    figures(results, benchmark=bench, out=out / "figures")
    leaderboard(results, out=out, benchmark=bench)
    print_board(out / "leaderboard.md")
    print_result(str((out / "leaderboard.html").resolve()))


def print_board(path: Path) -> None:
    """Print the board's Markdown table to the terminal."""
    print_result(path.read_text(encoding="utf-8"))
