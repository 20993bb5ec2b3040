"""The deeper statistics: mixed models, explained variance, comparisons, layers, power."""

from pathlib import Path
from typing import Annotated

import typer

from commands.console import print_result, progress_bar, say

Results = Annotated[
    Path, typer.Argument(help="Folder with readouts/, as 'evaluate' wrote it, or one file.")
]
Bench = Annotated[Path, typer.Option(help="A benchmark folder with people.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder for the tables [default: statistics in the results folder]."),
]
Seed = Annotated[int, typer.Option(help="Root of all randomness.")]


def explain(results: Results, benchmark: Bench, out: Out = None, seed: Seed = 0) -> None:
    """Say whether readouts explain RTs: mixed models, and explained variance on unseen scenes.

    Writes mixed.csv (ln RT by person, scene, trial, condition, distance and readout) and
    explained.csv (what the readout explains on unseen scenes, of what can be explained).

    Example: `objecthood explain results --benchmark bench/adeli2023`
    """
    import pandas as pd

    from analysis.explained import FoldSettings, explain_readouts
    from analysis.mixed_scores import score_mixed
    from analysis.people import load_times
    from analysis.results import group_by_rows, read_results
    from stimuli.benchmark import open_benchmark
    from stimuli.table_io import write_table

    out = choose_folder(results, out)
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


def compare(
    results: Results,
    benchmark: Bench,
    out: Out = None,
    all_layers: Annotated[
        bool, typer.Option("--all-layers", help="Compare all layers, not just the last ones.")
    ] = False,
    fdr: Annotated[
        bool, typer.Option("--fdr", help="Correct pairs by Benjamini-Hochberg, not by Holm.")
    ] = False,
    seed: Seed = 0,
    draws: Annotated[int, typer.Option(help="Bootstrap draws of each kind.")] = 1000,
) -> None:
    """Compare readouts pair by pair: rank intervals, and groups that can't be separated.

    Paired over people and scenes, by the headline metric, readouts on the same trials among
    themselves, each at its last layer as on the board; writes ranking.csv and pairs.csv. In the
    results folder the board finds them.

    Example: `objecthood compare results --benchmark bench/adeli2023`
    """
    import pandas as pd

    from analysis.comparison import compare_models
    from analysis.people import load_times
    from analysis.results import group_by_rows, keep_last_layers, name_key, read_results
    from analysis.scoring import ScoreSettings
    from model_eval.tables import READOUT_KEY
    from stimuli.benchmark import open_benchmark
    from stimuli.errors import InputError
    from stimuli.table_io import write_table

    out = choose_folder(results, out)
    opened = open_benchmark(benchmark)
    readouts = read_results(results, opened.trials)
    readouts = readouts if all_layers else keep_last_layers(readouts)
    sets = group_by_rows(readouts, times=load_times(opened), trials=opened.trials)
    rankings, pairs = [], []
    for one in sets:
        named = {name_key(key): values for key, values in one.difficulty.items()}
        keys = pd.DataFrame(list(one.difficulty), columns=READOUT_KEY).assign(name=list(named))
        try:
            found = compare_models(
                named,
                one.rows,
                settings=ScoreSettings(seed=seed, n_draws=draws),
                correction="fdr_bh" if fdr else "holm",
            )
        except InputError as error:
            say(f"{len(one.rows.trial_ids)} trials: {error}")
            continue
        sizes = {"n_trials": len(one.rows.trial_ids), "rows_sha256": one.rows.sha256}
        rankings.append(keys.merge(found.ranking, on="name").sort_values("rank").assign(**sizes))
        pairs.append(found.pairs.assign(**sizes))
    if not rankings:
        raise InputError(f"{results}: no two readouts on the same trials can be compared")
    write_table(pd.concat(rankings, ignore_index=True), out / "ranking.csv")
    write_table(pd.concat(pairs, ignore_index=True), out / "pairs.csv")
    for ranking in rankings:
        print_result(f"{ranking['n_trials'].iloc[0]} trials")
        for row in ranking.itertuples():
            print_result(
                f"  {row.rank:>3} [{row.rank_low}-{row.rank_high}] {row.group:<6} "
                f"r = {row.r:+.3f}  {row.name}"
            )
    say(f"a shared letter: not separable; wrote ranking.csv and pairs.csv into {out}")


def layers(results: Results, benchmark: Bench, out: Out = None, seed: Seed = 0) -> None:
    """Score the best layer honestly: chosen on some scenes, scored on the others.

    Writes layers.csv, with the naive score (chosen and scored on the same scenes) and its optimism.

    Example: `objecthood layers results --benchmark bench/adeli2023`
    """
    import numpy as np
    import pandas as pd

    from analysis.layers import find_best_layer
    from analysis.people import load_times
    from analysis.results import group_by_rows, read_results
    from stimuli.benchmark import open_benchmark
    from stimuli.errors import InputError
    from stimuli.table_io import write_table

    out = choose_folder(results, out)
    opened = open_benchmark(benchmark)
    readouts = read_results(results, opened.trials)
    records = []
    for one in group_by_rows(readouts, times=load_times(opened), trials=opened.trials):
        by_layer: dict[tuple[str, ...], dict[str, np.ndarray]] = {}
        for (model, layer, representation, readout), values in one.difficulty.items():
            by_layer.setdefault((model, representation, readout), {})[layer] = values
        for (model, representation, readout), difficulty in by_layer.items():
            if len(difficulty) < 2:
                continue
            found = find_best_layer(difficulty, one.rows, rng=np.random.default_rng(seed))
            records.append(
                {
                    "model": model,
                    "representation": representation,
                    "readout": readout,
                    "n_layers": found.n_layers,
                    "cross_fitted_r": found.cross_fitted_r,
                    "cross_fitted_sd": found.cross_fitted_sd,
                    "naive_layer": found.naive_layer,
                    "naive_r": found.naive_r,
                    "optimism": found.optimism,
                    "chosen_share_of_naive_layer": found.chosen_share[found.naive_layer],
                    "n_trials": len(one.rows.trial_ids),
                    "n_scenes": found.n_scenes,
                }
            )
    if not records:
        raise InputError(
            f"{results}: no readout has several layers on the same trials; evaluate with --layers all"
        )
    write_table(pd.DataFrame(records), out / "layers.csv")
    for row in records:
        print_result(
            f"{row['model']}: {row['readout']}: cross-fitted r = {row['cross_fitted_r']:+.3f}; "
            f"layer {row['naive_layer']} naively {row['naive_r']:+.3f}, "
            f"optimism {row['optimism']:+.3f}"
        )
    say(f"wrote layers.csv into {out}")


def choose_folder(results: Path, out: Path | None) -> Path:
    """Return where statistics are written: as asked for, or with the results, where the board looks.

    Raises
    ------
    InputError
        The results are one file, and no folder was named.
    """
    from analysis.results import STATISTICS_FOLDER
    from stimuli.errors import InputError

    if out is not None:
        return out
    if results.is_file():
        raise InputError(f"{results} is a file; name a folder for the tables with --out")
    return results / STATISTICS_FOLDER
