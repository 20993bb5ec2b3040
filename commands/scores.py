"""`objecthood score`: readouts and people to score files."""

import shlex
import sys
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorableReadouts:
    """Readouts from wherever, and what is known of their model."""

    readouts: "pd.DataFrame"
    model_record: dict[str, object]


def score_and_save(
    readouts: "pd.DataFrame",
    benchmark: "Benchmark",
    *,
    out: Path,
    settings: "ScoreSettings",
    model_record: dict[str, object],
) -> None:
    """Score one model's readouts and write them and the score file."""
    from analysis.scored import score_model
    from model_eval.tables import READOUT_KEY

    name = str(readouts["model"].iloc[0])
    n_readouts = len(readouts.drop_duplicates(READOUT_KEY))
    with progress_bar(f"scoring {name}", total=n_readouts) as advance:
        scored = score_model(
            ScorableReadouts(readouts=readouts, model_record=model_record),
            benchmark,
            settings=settings,
            command=shlex.join(sys.argv),
            on_readout=advance,
        )
    path = scored.save(out)
    say(f"{name}: {n_readouts} readout{'s' if n_readouts > 1 else ''} scored, {path}")
