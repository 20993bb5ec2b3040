"""`objecthood learn`: readouts that are trained on the two dots' vectors (methods 1.6)."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from commands.console import print_json, print_result, progress_bar, say
from commands.scores import Draws, Seed, score_and_save

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from model_eval.learned.pair_files import Pairs
    from model_eval.learned.readouts import LearnedSettings
    from stimuli.benchmark import Benchmark

app = typer.Typer(no_args_is_help=True, help="Readouts trained on the dots' vectors.")

PairsFile = Annotated[
    Path, typer.Argument(help="From 'objecthood evaluate --keep-pairs': pairs/MODEL.safetensors.")
]
HeadName = Annotated[
    Literal["mlp", "linear", "symmetric"],
    typer.Option(help="mlp (published), linear, or an MLP to which the dots' order can't matter."),
]
FeatureName = Annotated[
    str | None, typer.Option(help="layer/representation; default: the last in the file.")
]
Networks = Annotated[int, typer.Option(min=1, help="Networks from other seeds, averaged.")]
Epochs = Annotated[int | None, typer.Option(min=1, help="Default: as published.")]
OutFolder = Annotated[Path, typer.Option(help="Folder for readouts and scores.")]


@app.command()
def rt(
    pairs: PairsFile,
    benchmark: Annotated[Path, typer.Option(help="The benchmark, with people.")],
    out: OutFolder,
    folds: Annotated[
        Literal["scenes", "trials"],
        typer.Option(
            help="What folds keep together. 'trials' is the published form: it lets the readout learn "
            "scenes from their other trials."
        ),
    ] = "scenes",
    head: HeadName = "mlp",
    feature: FeatureName = None,
    networks: Networks = 10,
    epochs: Epochs = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    seed: Seed = 0,
    draws: Draws = 1000,
) -> None:
    """Learn reaction times, predict those of trials that weren't learnt from, and score them.

    Example: `objecthood learn rt results/pairs/MODEL.safetensors --benchmark bench --out results`
    """
    import numpy as np

    from model_eval.learned.readouts import RT_SETTINGS, learn_reaction_times

    opened, found = _open(pairs, benchmark, feature)
    mean_rt, trials = _find_times(opened, found)
    settings = _adapt(RT_SETTINGS, head=head, networks=networks, epochs=epochs, device=device)
    settings = replace(settings, folds=folds)
    kept = [found.trial_ids.index(trial_id) for trial_id in trials["trial_id"]]
    with progress_bar(
        "learning reaction times", total=settings.n_folds * settings.n_seeds
    ) as advance:
        values = learn_reaction_times(
            found.vectors[kept],
            mean_rt,
            scene_ids=trials["scene_id"].to_numpy(),
            settings=settings,
            rng=np.random.default_rng(seed),
            on_network=advance,
        )
    if folds == "trials":
        say("folds over trials: the readout saw other trials of the scenes that it is tested on")
    name = f"learned_rt_{head}_{folds}"
    table = _tabulate(found, name, kind="difficulty", trial_ids=trials["trial_id"], values=values)
    _save(table, opened, out=out, found=found, settings=settings, seed=seed, draws=draws)


@app.command()
def grouping(
    pairs: PairsFile,
    benchmark: Annotated[Path, typer.Option(help="The benchmark, with people.")],
    train: Annotated[Path, typer.Option(help="Pairs of another benchmark, to learn from.")],
    train_benchmark: Annotated[Path, typer.Option(help="That benchmark.")],
    out: OutFolder,
    head: HeadName = "mlp",
    feature: FeatureName = None,
    networks: Networks = 10,
    epochs: Epochs = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    seed: Seed = 0,
    draws: Draws = 1000,
    is_json: Annotated[bool, typer.Option("--json", help="For a program.")] = False,
) -> None:
    """Learn same or different on another benchmark's scenes; report the accuracy here, and score.

    Example: `objecthood learn grouping results/pairs/M.safetensors --benchmark bench
    --train coco_results/pairs/M.safetensors --train-benchmark coco --out results`
    """
    import numpy as np

    from model_eval.learned.readouts import GROUPING_SETTINGS, learn_grouping

    opened, found = _open(pairs, benchmark, feature)
    wanted = f"{found.feature.layer}/{found.feature.representation}"
    other, learnt = _open(train, train_benchmark, wanted)
    _check_apart(opened, other, found=found, learnt=learnt)
    settings = _adapt(GROUPING_SETTINGS, head=head, networks=networks, epochs=epochs, device=device)
    with progress_bar("learning grouping", total=settings.n_seeds) as advance:
        done = learn_grouping(
            learnt.vectors,
            _find_same(other, learnt),
            test_tokens=found.vectors,
            test_same_object=_find_same(opened, found),
            settings=settings,
            rng=np.random.default_rng(seed),
            on_network=advance,
        )
    table = _tabulate(
        found,
        f"learned_grouping_{head}",
        kind="evidence_same",
        trial_ids=found.trial_ids,
        values=done.evidence_same,
    )
    _save(table, opened, out=out, found=found, settings=settings, seed=seed, draws=draws)
    result = {
        "model": found.model,
        "n_learnt": len(learnt.trial_ids),
        "n_tested": len(found.trial_ids),
    }
    if is_json:
        print_json({**result, "accuracy": done.accuracy})
    else:
        print_result(
            f"{found.model}: {done.accuracy:.1%} of {len(found.trial_ids)} trials right, after learning "
            f"from {len(learnt.trial_ids)} pairs of {other.manifest.name}"
        )


def _open(path: Path, folder: Path, feature: str | None) -> "tuple[Benchmark, Pairs]":
    """Return a benchmark and one feature's pairs of its trials."""
    import pandas as pd

    from model_eval.learned.pair_files import read_pairs
    from stimuli.benchmark import check_ids_match, open_benchmark

    opened = open_benchmark(folder)
    found = read_pairs(path, feature=feature)
    check_ids_match(pd.Series(found.trial_ids), opened.trials["trial_id"], source=str(path))
    return opened, found


def _find_times(benchmark: "Benchmark", found: "Pairs") -> "tuple[np.ndarray, pd.DataFrame]":
    """Return mean RTs and rows of the trials that have both a time and vectors."""
    import numpy as np

    from analysis.people import load_times

    times = load_times(benchmark)
    counts = np.isfinite(times.rt_s).sum(axis=0)
    is_used = (counts > 0) & benchmark.trials["trial_id"].isin(found.trial_ids).to_numpy()
    means = np.nansum(times.rt_s, axis=0)[is_used] / counts[is_used]
    return means, benchmark.trials[is_used]


def _find_same(benchmark: "Benchmark", found: "Pairs") -> "np.ndarray":
    """Return whether the dots of each trial of the pairs lie on one object."""
    same = benchmark.trials.set_index("trial_id")["same_object"]
    return same.loc[list(found.trial_ids)].to_numpy(bool)


def _check_apart(
    opened: "Benchmark", other: "Benchmark", *, found: "Pairs", learnt: "Pairs"
) -> None:
    from stimuli.errors import InputError
    from stimuli.table_io import name_some

    if learnt.model != found.model:
        raise InputError(
            f"pairs to learn from are of {learnt.model!r}, the trials' of {found.model!r}; read both "
            "out of the same model"
        )
    images = set(opened.trials["image_sha256"].dropna()) & set(
        other.trials["image_sha256"].dropna()
    )
    if images:
        scenes = other.trials[other.trials["image_sha256"].isin(images)]["scene_id"].unique()
        raise InputError(
            f"{other.folder}: {len(images)} of its photographs are in {opened.folder} too (scenes "
            f"{name_some(scenes)}); a readout may not be tested on what it learnt from"
        )


def _adapt(
    settings: "LearnedSettings", *, head: str, networks: int, epochs: int | None, device: str
) -> "LearnedSettings":
    from model_eval.device import find_device

    training = settings.training if epochs is None else replace(settings.training, n_epochs=epochs)
    return replace(
        settings,
        head=head,  # type: ignore[arg-type]  (typer has checked it)
        n_seeds=networks,
        training=training,
        device=find_device(device),
    )


def _tabulate(
    found: "Pairs", readout: str, *, kind: str, trial_ids: object, values: "np.ndarray"
) -> "pd.DataFrame":
    """Return the readouts of a learned model: one of its own, so that it overwrites no other's files."""
    import pandas as pd

    from model_eval.tables import Readouts
    from stimuli.table_io import check_table

    name = f"{found.model}#{readout.removeprefix('learned_')}"
    table = pd.DataFrame(
        {
            "model": name,
            "layer": found.feature.layer,
            "representation": found.feature.representation,
            "readout": readout,
            "kind": kind,
            "trial_id": list(trial_ids),  # type: ignore[call-overload]
            "value": values,
        }
    )
    return check_table(table, Readouts, source=name)


def _save(
    table: "pd.DataFrame",
    benchmark: "Benchmark",
    *,
    out: Path,
    found: "Pairs",
    settings: "LearnedSettings",
    seed: int,
    draws: int,
) -> None:
    from dataclasses import asdict

    from analysis.scoring import ScoreSettings

    name = str(table["model"].iloc[0])
    record = {
        "name": name,
        "source": "learned readout",
        "of_model": found.model,
        "is_random_weights": "@random" in found.model,
        "learned": asdict(settings) | {"seed": seed},
    }
    scoring = ScoreSettings(seed=seed, n_draws=draws)
    score_and_save(table, benchmark, out=out, settings=scoring, model_record=record)
