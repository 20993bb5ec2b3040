"""`objecthood evaluate`: models to readouts and scores, one after the other or many at once."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from commands.console import ERR, progress_bar, say
from commands.model_options import (
    BatchSize,
    BenchmarkFolder,
    CacheFolder,
    Curves,
    Device,
    Dots,
    Dtype,
    GeometryText,
    KeepMaps,
    KeepPairs,
    Layers,
    Models,
    RandomWeights,
    ReadoutNames,
    Representations,
    ScenePairs,
    Scenes,
    split_words,
)
from commands.scores import Draws, Seed, score_and_save
from stimuli.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.scoring import ScoreSettings
    from model_eval.options import EvaluationOptions
    from stimuli.benchmark import Benchmark

ClusterKind = Literal["slurm", "pbs", "sge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One model to evaluate; plain values, so that it can be sent to another process."""

    name: str
    benchmark: Path
    out: Path
    options: "EvaluationOptions"
    settings: "ScoreSettings"
    cache: Path | None
    features: Path | None


def evaluate(
    models: Models,
    benchmark: BenchmarkFolder,
    out: Annotated[Path, typer.Option(help="Folder for readouts and scores.")],
    layers: Layers = "last",
    representations: Representations = "",
    readouts: ReadoutNames = "",
    geometry: GeometryText = "pad",
    dots: Dots = "contains",
    curves: Curves = False,
    scenes: Scenes = False,
    scene_pairs: ScenePairs = False,
    random_weights: RandomWeights = None,
    device: Device = "auto",
    dtype: Dtype = "float32",
    batch_size: BatchSize = 1,
    cache: CacheFolder = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Read everything anew.")] = False,
    keep_pairs: KeepPairs = False,
    keep_maps: KeepMaps = "",
    keep_features: Annotated[
        Path | None, typer.Option(help="Keep the features too (safetensors), in this folder.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Models at once on this machine.")] = 1,
    cluster: Annotated[
        ClusterKind | None, typer.Option(help="Send models to a cluster, --workers jobs.")
    ] = None,
    job_options: Annotated[
        str,
        typer.Option(help="For --cluster, e.g. 'cores=8 memory=32GB queue=gpu walltime=04:00:00'."),
    ] = "",
    print_job: Annotated[
        bool, typer.Option("--print-job", help="Print the cluster's job script and stop.")
    ] = False,
    seed: Seed = 0,
    draws: Draws = 1000,
) -> None:
    """Read models out on a benchmark's trials and score them against its people.

    A model that fails is named and leaves the others as they are; then the exit code is 2. An
    interrupted run continues where it stopped when it is started again.

    Example: `objecthood evaluate efficientnet-lite0 control:condition --benchmark bench --out results`
    """
    from analysis.scoring import ScoreSettings
    from model_eval.options import EvaluationOptions

    options = EvaluationOptions(
        layers=layers,
        representations=split_words(representations),
        readouts=split_words(readouts),
        has_curves=curves,
        has_scenes=scenes or scene_pairs,
        has_scene_pairs=scene_pairs,
        has_pairs=keep_pairs,
        map_trials=split_words(keep_maps),
        random_weights=random_weights,
        geometry=geometry,
        dots=dots,
        batch_size=batch_size,
        device=device,
        dtype=dtype,
    )
    jobs = [
        Job(
            name=name,
            benchmark=benchmark,
            out=out,
            options=options,
            settings=ScoreSettings(seed=seed, n_draws=draws),
            cache=None if no_cache else cache or out / "cache",
            features=keep_features,
        )
        for name in dict.fromkeys(models)
    ]
    if print_job or cluster is not None or workers > 1:
        from commands.cluster import run_on_cluster

        failures = run_on_cluster(
            jobs, kind=cluster, n_workers=workers, job_options=job_options, prints_only=print_job
        )
    else:
        failures = run_here(jobs)
    report_failures(failures, n_models=len(jobs), out=out)


def run_here(jobs: list[Job]) -> dict[str, str]:
    """Evaluate one model after the other; return the reasons of those that failed, by name."""
    failures: dict[str, str] = {}
    for job in jobs:
        try:
            evaluate_one(job)
        except InputError as error:
            failures[job.name] = str(error)
            ERR.print(f"failed: {job.name}: {error}", markup=False, style="red")
    return failures


def evaluate_one(job: Job) -> None:
    """Read one model or control out, and write its readouts, record, skipped trials and scores."""
    from stimuli.benchmark import open_benchmark

    benchmark = open_benchmark(job.benchmark)
    readouts, record = read_out(job, benchmark)
    score_and_save(readouts, benchmark, out=job.out, settings=job.settings, model_record=record)


def read_out(job: Job, benchmark: "Benchmark") -> tuple["pd.DataFrame", dict[str, object]]:
    """Return readouts and what the model says of itself; write what it skipped and saw of scenes."""
    from analysis.controls import TABLE_CONTROLS, compute_control
    from analysis.people import load_times

    if job.name in TABLE_CONTROLS:
        readouts = compute_control(job.name, benchmark.trials, load_times(benchmark))
        return readouts, {"name": job.name, "source": "control", "is_random_weights": False}
    from model_eval.run import Storage, evaluate_model
    from stimuli.table_io import safe_file_name, write_table

    n_images = int(benchmark.trials["image"].nunique())
    with progress_bar(f"reading out {job.name}", total=n_images) as advance:
        done = evaluate_model(
            job.name,
            benchmark,
            options=job.options,
            on_progress=_count(advance),
            storage=Storage(cache=job.cache, features=job.features),
        )
    written = str(done.model_record["name"])
    tables = {"skipped": done.skipped, "scenes": done.scenes, "summaries": done.summaries}
    for folder, table in tables.items():
        if len(table):
            write_table(table, job.out / folder / f"{safe_file_name(written)}.csv")
    if done.pairs:
        from model_eval.learned.pair_files import write_pairs

        path = job.out / "pairs" / f"{safe_file_name(written)}.safetensors"
        write_pairs(done.pairs, path, model=written)
    if done.maps:
        from model_eval.map_files import write_maps

        path = job.out / "maps" / f"{safe_file_name(written)}.npz"
        write_maps(done.maps, path, model=written, geometry=done.model_record["geometry"])
    _say_what_happened(written, done.skipped, done.model_record)
    return done.readouts, dict(done.model_record)


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


def _say_what_happened(name: str, skipped: "pd.DataFrame", record: dict[str, object]) -> None:
    if len(skipped):
        counts = skipped.groupby("reason")["trial_id"].nunique()
        say(f"{name}: skipped " + ", ".join(f"{n} trials ({why})" for why, n in counts.items()))
    if record["n_images_from_cache"]:
        say(f"{name}: {record['n_images_from_cache']} of {record['n_images']} images known already")


def _count(advance: Callable[[], None]) -> Callable[[int, int], None]:
    """Move a progress bar that counts images by what each batch brings."""
    shown = 0

    def on_progress(done: int, _total: int) -> None:
        nonlocal shown
        for _ in range(done - shown):
            advance()
        shown = done

    return on_progress
