"""The deeper statistics: mixed models, explained variance, comparisons, layers, power."""

from pathlib import Path
from typing import Annotated

import typer

from commands.console import print_result, progress_bar, say

Results = Annotated[
    Path, typer.Argument(help="Folder with readouts/, as 'evaluate' wrote it, or one file.")
]
Bench = Annotated[Path, typer.Option(help="A benchmark folder with people.")]
Out = Annotated[Path, typer.Option(help="Folder for the tables.")]
Seed = Annotated[int, typer.Option(help="Root of all randomness.")]


def explain(results: Results, benchmark: Bench, out: Out, seed: Seed = 0) -> None:
    """Say whether readouts explain RTs: mixed models, and explained variance on unseen scenes.

    Writes mixed.csv (ln RT by person, scene, trial, condition, distance and readout) and
    explained.csv (what the readout explains on unseen scenes, of what can be explained).

    Example: `objecthood explain results --benchmark bench/adeli2023 --out statistics`
    """
    import pandas as pd

    from analysis.explained import FoldSettings, explain_readouts
    from analysis.mixed_scores import score_mixed
    from analysis.people import load_times
    from analysis.results import group_by_rows, read_results
    from stimuli.benchmark import open_benchmark
    from stimuli.table_io import write_table

    opened = open_benchmark(benchmark)
    readouts = read_results(results, opened.trials)
    sets = group_by_rows(readouts, times=load_times(opened), trials=opened.trials)
    mixed, explained = [], []
    total = 2 * sum(len(one.difficulty) for one in sets)
    with progress_bar("explaining RTs", total=total) as advance:
        for one in sets:
            mixed.append(score_mixed(one.difficulty, one.rows, on_readout=advance))
            explained.append(
                explain_readouts(
                    one.difficulty,
                    one.rows,
                    settings=FoldSettings(seed=seed),
                    on_readout=advance,
                )
            )
    write_table(pd.concat(mixed, ignore_index=True), out / "mixed.csv")
    write_table(pd.concat(explained, ignore_index=True), out / "explained.csv")
    for _, row in pd.concat(mixed).iterrows():
        what = f"{row['model']}: {row['readout']}"
        if pd.isna(row["estimate"]):
            say(f"{what}: no mixed model ({row['note']})")
        else:
            print_result(
                f"{what}: {row['percent_per_sd']:+.2f} % of RT per SD, t({row['df']:.0f}) = "
                f"{row['t']:.2f}, p = {row['p']:.2g}, delta AIC {row['delta_aic']:.1f}"
            )
    say(f"wrote mixed.csv and explained.csv into {out}")
