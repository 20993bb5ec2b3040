"""Every figure of a results folder, in one call."""

from pathlib import Path

from analysis.figures import models_and_ceiling, rt_by_condition
from analysis.figures.save import save_figure
from analysis.human import summarise_conditions
from analysis.leaderboard import RecordedScores, build_leaderboard
from analysis.people import analyse_human
from stimuli.benchmark import Benchmark
from stimuli.errors import InputError

SIZES = ("n_trials", "n_scenes", "n_people")


def draw_all(files: RecordedScores, benchmark: Benchmark, *, folder: Path) -> list[Path]:
    """Write all figures and return the pictures' paths.

    Raises
    ------
    InputError
        The scores are not of this benchmark's trial table.
    """
    board = build_leaderboard(files)
    path, record, _ = files[0]
    if record["trials_sha256"] != benchmark.trials_sha256:
        raise InputError(
            f"{path}: scored on another trial table than {benchmark.folder / 'trials.csv'}; name the "
            "benchmark that was scored"
        )
    simulated = benchmark.manifest.is_simulated
    conditions = summarise_conditions(analyse_human(benchmark), benchmark.trials)
    models = models_and_ceiling.tabulate_models(board)
    caption = {"benchmark": benchmark.manifest.name, "is_simulated": simulated}
    sizes = {name: models[name].iloc[0] for name in SIZES if len(models)}
    return [
        *save_figure(
            rt_by_condition.draw_rt_by_condition(conditions, is_simulated=simulated),
            rt_by_condition.NAME,
            table=conditions,
            caption=caption | {"n_trials": int(conditions["n_trials"].sum()), "error_bars": "SEM"},
            folder=folder,
        ),
        *save_figure(
            models_and_ceiling.draw_models_and_ceiling(models, is_simulated=simulated),
            models_and_ceiling.NAME,
            table=models,
            caption=caption | {"n_models": len(models)} | sizes,
            folder=folder,
        ),
    ]
