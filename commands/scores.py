"""`objecthood score`: readouts and people to score files."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import progress_bar, say

if TYPE_CHECKING:
    import pandas as pd

    from analysis.scoring import ScoreSettings
    from stimuli.benchmark import Benchmark

Seed = Annotated[int, typer.Option(help="Root of all randomness of the scores.")]
Draws = Annotated[int, typer.Option(help="Bootstrap draws of people, of scenes and of both.")]


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
