"""How many people and trials are needed: `objecthood power`."""

from pathlib import Path
from typing import Annotated

import typer

from commands.console import print_result, progress_bar, say

QUICK_EXPERIMENTS, QUICK_DRAWS = 20, 50


def power(
    out: Annotated[Path, typer.Option(help="Folder for power.csv and the figure.")] = Path("power"),
    people: Annotated[int, typer.Option(help="People of the study that is asked about.")] = 72,
    scenes: Annotated[int, typer.Option(help="Scenes, with four displays each.")] = 255,
    difference: Annotated[float, typer.Option(help="Between the two models' scores r.")] = 0.05,
    baseline: Annotated[float, typer.Option(help="Score r of the worse model.")] = 0.2,
    experiments: Annotated[int, typer.Option(help="Simulated experiments per size.")] = 100,
    draws: Annotated[int, typer.Option(help="Bootstrap draws in each comparison.")] = 100,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few experiments and draws: under a minute.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Root of all randomness.")] = 0,
) -> None:
    """Say how many people and trials are needed to see a difference between two models.

    Simulates studies like the published one at half, one and two times the people and scenes,
    and puts them through the comparison that real models go through. Scores are those of a
    study of the published size. Writes power.csv and power_curves.

    Example: `objecthood power --people 72 --scenes 255 --difference 0.05`
    """
    from analysis.figures.power_curves import draw_power
    from analysis.figures.save import save_figure
    from analysis.power import PowerQuestion, answer_question, estimate_power
    from stimuli.errors import InputError
    from stimuli.table_io import write_table

    if difference <= 0:
        raise InputError(f"--difference {difference}; expected how much better, above 0")
    question = PowerQuestion(
        difference=difference,
        baseline=baseline,
        n_experiments=QUICK_EXPERIMENTS if quick else experiments,
        n_draws=QUICK_DRAWS if quick else draws,
        seed=seed,
    )
    factors = (0.5, 1, 2)
    scene_factors = (1,) if quick else (0.5, 1, 2)
    sizes = [(round(people * a), round(scenes * b)) for b in scene_factors for a in factors]
    with progress_bar("simulating", total=len(sizes) * question.n_experiments) as advance:
        table = estimate_power(question, sizes, on_experiment=advance)
    write_table(table, out / "power.csv")
    drawing = draw_power(table)
    caption = {"title": "Power", "text": drawing.text, **drawing.numbers}
    save_figure(drawing.figure, "power_curves", table=table, caption=caption, folder=out)
    print_result(answer_question(table, n_people=people, n_scenes=scenes))
    say(f"seed {seed}; wrote power.csv and power_curves into {out}")
