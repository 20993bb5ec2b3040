"""`objecthood evaluate`: options arrive, failures stay apart, many models at once."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import objecthood
from analysis.scoring import ScoreSettings
from commands.cluster import parse_job_options, run_on_cluster
from commands.evaluate import Job
from model_eval.map_files import read_maps
from model_eval.options import EvaluationOptions
from stimuli.errors import InputError
from stimuli.table_io import write_table


@pytest.fixture
def peopled(small_benchmark, rng):
    """The small benchmark, with five people's reaction times."""
    rows = [
        {
            "participant_id": f"p{person}",
            "session": "1",
            "trial_id": trial_id,
            "is_practice": False,
            "outcome": "correct",
            "response": "same" if same else "different",
            "rt_s": float(0.6 + 0.4 * rng.random()),
            "is_simulated": True,
        }
        for person in range(5)
        for trial_id, same in small_benchmark.trials[["trial_id", "same_object"]].to_numpy()
    ]
    write_table(pd.DataFrame(rows), small_benchmark.responses_folder / "all.csv")
    return small_benchmark


def evaluate(peopled, out, *words):
    place = ["--benchmark", str(peopled.folder), "--out", str(out), "--draws", "5"]
    return CliRunner().invoke(objecthood.app, ["evaluate", *words, *place])


def test_options_arrive_and_a_failed_model_leaves_the_others(peopled, tmp_path):
    out = tmp_path / "out"
    words = ["--random-weights", "0", "--representations", "keys,attention", "--layers", "0,5"]
    words += ["--readouts", "widest_path", "--scene-pairs", "--curves", "--dots", "bilinear"]
    words += ["--keep-maps", "examples"]
    done = evaluate(peopled, out, "test_vit", "nonsense", *words)
    assert isinstance(done.exception, InputError)
    assert "1 of 2 models failed" in str(done.exception)
    (readouts,) = (out / "readouts").glob("test_vit*.parquet")
    table = pd.read_parquet(readouts)
    features = table[["layer", "representation"]].drop_duplicates().agg(" ".join, axis=1)
    assert features.tolist() == ["0 attention", "0 keys", "5 attention", "5 keys"]
    assert set(table["readout"]) == {"widest_path"}
    (scores,) = (out / "scores").glob("*.json")
    record = json.loads(scores.read_text())["model"]
    assert record["options"]["dots"] == "bilinear"
    assert record["is_random_weights"]
    scenes = pd.concat(map(pd.read_csv, (out / "scenes").glob("*.csv")))
    assert "object_auc_beyond_distance" in set(scenes["statistic"])
    assert len(list((out / "summaries").glob("*.csv"))) == 1
    (maps,) = (out / "maps").glob("*.npz")
    kept = read_maps(maps)
    assert kept.model == "test_vit@random0"
    assert {trial_id for item in kept.maps for trial_id in item.trial_ids} == set(table["trial_id"])
    failures = pd.read_csv(out / "failures.csv")
    assert failures["model"].tolist() == ["nonsense"]


def test_the_same_command_again_takes_all_from_the_cache_unless_told_not_to(peopled, tmp_path):
    words = [peopled, tmp_path / "out", "test_vit", "--random-weights", "0"]
    assert "known already" not in evaluate(*words).stderr
    assert "2 of 2 images known already" in evaluate(*words).stderr
    assert "known already" not in evaluate(*words, "--no-cache").stderr


@pytest.mark.slow
def test_many_models_at_once_leave_what_one_after_the_other_leaves(peopled, tmp_path):
    words = ["control:colour", "nonsense", "control:texture", "--readouts", "cosine"]
    done = evaluate(peopled, tmp_path / "many", *words, "--workers", "2")
    assert "1 of 3 models failed" in str(done.exception)
    evaluate(peopled, tmp_path / "one", *words)
    for path in (tmp_path / "one" / "readouts").iterdir():
        other = tmp_path / "many" / "readouts" / path.name
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(other))
    failures = pd.read_csv(tmp_path / "many" / "failures.csv")
    assert failures["model"].tolist() == ["nonsense"]


@pytest.mark.parametrize(
    ("kind", "marks"),
    [
        ("slurm", ["#SBATCH -p gpu", "#SBATCH --cpus-per-task=8", "#SBATCH -t 04:00:00"]),
        ("pbs", ["#PBS -q gpu", "#PBS -l select=1:ncpus=8", "#PBS -l walltime=04:00:00"]),
        ("sge", ["#$ -q gpu", "#$ -l h_rt=04:00:00"]),
    ],
)
def test_the_job_script_asks_for_what_was_said(kind, marks, peopled, tmp_path):
    options = ["--print-job", "--job-options", "cores=8 memory=32GB queue=gpu"]
    done = evaluate(peopled, tmp_path / "o", "test_vit", "--cluster", kind, *options)
    assert done.exit_code == 0, done.exception
    for mark in marks:
        assert mark in done.stdout
    assert "--nthreads 8" in done.stdout
    assert not (tmp_path / "o").exists()


def test_what_a_job_cannot_be_asked_is_refused(tmp_path):
    job = Job(
        name="a",
        benchmark=tmp_path,
        out=tmp_path,
        options=EvaluationOptions(),
        settings=ScoreSettings(),
        cache=None,
        features=None,
    )
    with pytest.raises(InputError, match="isn't name=value"):
        parse_job_options("cores")
    with pytest.raises(InputError, match="cores=many isn't a whole number"):
        parse_job_options("cores=many")
    with pytest.raises(InputError, match="--print-job goes with --cluster"):
        run_on_cluster([job], kind=None, n_workers=1, prints_only=True)
    with pytest.raises(InputError, match="--cluster slurm, --job-options"):
        run_on_cluster([job], kind="slurm", n_workers=1, job_options="colour=red", prints_only=True)
