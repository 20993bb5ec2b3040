"""`objecthood evaluate` and `objecthood score`: readouts and people to score files."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import ERR, progress_bar, say
from stimuli.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.scoring import ScoreSettings
    from stimuli.benchmark import Benchmark

Seed = Annotated[int, typer.Option(help="Root of all randomness of the scores.")]
Draws = Annotated[int, typer.Option(help="Bootstrap draws of people, of scenes and of both.")]


def evaluate(
    models: Annotated[list[str], typer.Argument(help="Names; see 'objecthood models list'.")],
    benchmark: Annotated[Path, typer.Option(help="A benchmark folder.")],
    out: Annotated[Path, typer.Option(help="Folder for readouts and scores.")],
    layers: Annotated[
        str, typer.Option(help="'last', 'all', or block numbers such as 0,5,11.")
    ] = "last",
    random_weights: Annotated[
        int | None, typer.Option(help="Use random weights from this seed; said in every output.")
    ] = None,
    seed: Seed = 0,
    draws: Draws = 1000,
) -> None:
    """Read models out on a benchmark's trials and score them against its people.

    A model that fails is named and leaves the others as they are; then the exit code is 2.

    Example: `objecthood evaluate efficientnet-lite0 control:condition --benchmark bench --out results`
    """
    from analysis.scoring import ScoreSettings
    from stimuli.benchmark import open_benchmark

    opened = open_benchmark(benchmark)
    settings = ScoreSettings(seed=seed, n_draws=draws)
    failures: dict[str, str] = {}
    for name in models:
        try:
            evaluate_one(
                name,
                opened,
                out=out,
                layers=layers,
                random_weights=random_weights,
                settings=settings,
            )
        except InputError as error:
            failures[name] = str(error)
            ERR.print(f"failed: {name}: {error}", markup=False, style="red")
    report_failures(failures, n_models=len(models), out=out)


def score(
    readouts: Annotated[
        Path, typer.Argument(help="CSV or parquet: trial_id, readout, kind, value.")
    ],
    benchmark: Annotated[Path, typer.Option(help="A benchmark folder with people.")],
    out: Annotated[Path, typer.Option(help="Folder for scores.")],
    model: Annotated[
        str | None, typer.Option(help="The model's name, where the file has no model column.")
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Score readouts that lack some trials.")
    ] = False,
    seed: Seed = 0,
    draws: Draws = 1000,
) -> None:
    """Score readouts that were computed elsewhere, as if the model had been evaluated here.

    Example: `objecthood score my_model.csv --benchmark bench --out results`
    """
    from analysis.readout_files import read_readouts
    from analysis.scoring import ScoreSettings
    from stimuli.benchmark import hash_file, open_benchmark

    opened = open_benchmark(benchmark)
    table = read_readouts(readouts, trials=opened.trials, model=model, allow_missing=allow_missing)
    settings = ScoreSettings(seed=seed, n_draws=draws)
    for name, part in table.groupby("model", sort=False):
        record = {"name": name, "source": "readouts", "readouts_sha256": hash_file(readouts)}
        score_and_save(part, opened, out=out, settings=settings, model_record=record)


def evaluate_one(
    name: str,
    benchmark: "Benchmark",
    *,
    out: Path,
    layers: str,
    random_weights: int | None,
    settings: "ScoreSettings",
) -> None:
    """Read one model or control out, and write its readouts, record, skipped trials and scores."""
    from stimuli.table_io import safe_file_name, write_table

    readouts, record, skipped = _read_out(
        name, benchmark, layers=layers, random_weights=random_weights
    )
    written = str(readouts["model"].iloc[0])
    if skipped is not None and len(skipped):
        write_table(skipped, out / "skipped" / f"{safe_file_name(written)}.csv")
        counts = skipped.groupby("reason")["trial_id"].nunique()
        say(f"{written}: skipped " + ", ".join(f"{n} trials ({why})" for why, n in counts.items()))
    score_and_save(readouts, benchmark, out=out, settings=settings, model_record=record)


def score_and_save(
    readouts: "pd.DataFrame",
    benchmark: "Benchmark",
    *,
    out: Path,
    settings: "ScoreSettings",
    model_record: dict[str, object],
) -> None:
    """Write one model's readouts, score them, and write the score file."""
    from analysis.people import load_times
    from analysis.records import build_record, summarise_readouts, write_score_file
    from analysis.scoring import score_readouts
    from model_eval.tables import READOUT_KEY
    from stimuli.benchmark import hash_file
    from stimuli.table_io import safe_file_name, write_table

    times = load_times(benchmark)
    name = str(readouts["model"].iloc[0])
    kept = out / "readouts" / f"{safe_file_name(name)}.parquet"
    write_table(readouts, kept)
    n_readouts = len(readouts.drop_duplicates(READOUT_KEY))
    with progress_bar(f"scoring {name}", total=n_readouts) as advance:
        scores = score_readouts(
            readouts, times=times, trials=benchmark.trials, settings=settings, on_readout=advance
        )
    record = build_record(
        benchmark, settings=settings, command=shlex.join(sys.argv), model_record=model_record
    )
    record["readouts_sha256"] = hash_file(kept)
    record["readout_means"] = summarise_readouts(readouts)
    path = write_score_file(scores, record, folder=out)
    say(f"{name}: {n_readouts} readout{'s' if n_readouts > 1 else ''} scored, {path}")


def report_failures(failures: dict[str, str], *, n_models: int, out: Path) -> None:
    """Write failures.csv and raise where a model failed; the others' files stay."""
    import pandas as pd

    from stimuli.table_io import write_table

    if failures:
        table = pd.DataFrame({"model": list(failures), "reason": list(failures.values())})
        write_table(table, out / "failures.csv")
        raise InputError(
            f"{len(failures)} of {n_models} models failed, see {out / 'failures.csv'}; "
            "the others are done"
        )


def _read_out(
    name: str, benchmark: "Benchmark", *, layers: str, random_weights: int | None
) -> tuple["pd.DataFrame", dict[str, object], "pd.DataFrame | None"]:
    """Return readouts, what the model says of itself, and the trials that it skipped."""
    from analysis.controls import TABLE_CONTROLS, compute_control
    from analysis.people import load_times

    if name in TABLE_CONTROLS:
        readouts = compute_control(name, benchmark.trials, load_times(benchmark))
        return readouts, {"name": name, "source": "control", "is_random_weights": False}, None
    from model_eval.run import EvaluationOptions, evaluate_model

    options = EvaluationOptions(layers=layers, random_weights=random_weights)
    n_images = int(benchmark.trials["image"].nunique())
    with progress_bar(f"reading out {name}", total=n_images) as advance:
        done = evaluate_model(name, benchmark, options=options, on_progress=_count(advance))
    return done.readouts, dict(done.model_record), done.skipped


def _count(advance: Callable[[], None]) -> Callable[[int, int], None]:
    return lambda _done, _total: advance()
