"""`objecthood learn`: from kept pairs to scored predictions, never tested on what was learnt."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import objecthood
from model_eval.card import Feature
from model_eval.learned.pair_files import read_pairs
from model_eval.run import EvaluationOptions, evaluate_model
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.errors import InputError
from stimuli.table_io import write_table
from tests.model_eval.conftest import make_scene


def write_bench(folder, rng, *, n_scenes=24):
    """A benchmark of tiny scenes with three people."""
    dots = [((9, 9), (20, 20), 1, 1), ((9, 9), (30, 20), 1, 2)]
    tables = [
        make_scene(folder, f"{folder.name}{k}", width=40, height=32, rng=rng, dots=dots)
        for k in range(n_scenes)
    ]
    manifest = Manifest(name=folder.name, version="1", source="made up", licence="none")
    bench = write_benchmark(folder, manifest=manifest, trials=pd.concat(tables))
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
        for person in range(3)
        for trial_id, same in bench.trials[["trial_id", "same_object"]].to_numpy()
    ]
    write_table(pd.DataFrame(rows), bench.responses_folder / "all.csv")
    return bench


def run(*words):
    return CliRunner().invoke(objecthood.app, [str(word) for word in words])


def keep_pairs(bench, out, *, seed=0):
    words = ["evaluate", "test_vit", "--benchmark", bench.folder, "--out", out, "--draws", "5"]
    done = run(*words, "--random-weights", seed, "--keep-pairs", "--readouts", "cosine")
    assert done.exit_code == 0, done.exception
    (path,) = (out / "pairs").glob("*.safetensors")
    return path


@pytest.fixture
def learnable(tmp_path, rng):
    bench = write_bench(tmp_path / "bench", rng)
    return bench, tmp_path / "out", keep_pairs(bench, tmp_path / "out")


def test_kept_pairs_are_the_two_dots_vectors_from_the_same_pass(learnable):
    bench, _, path = learnable
    found = read_pairs(path)
    assert found.model == "test_vit@random0"
    assert found.feature == Feature(layer="5", representation="tokens_normed")
    assert found.trial_ids == tuple(bench.trials["trial_id"])
    options = EvaluationOptions(random_weights=0, readouts=("cosine",))
    cosine = evaluate_model("test_vit", bench, options=options).readouts["value"]
    first, second = found.vectors[:, 0], found.vectors[:, 1]
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    np.testing.assert_allclose((first * second).sum(axis=1) / lengths, cosine, atol=1e-5)
    with pytest.raises(InputError, match="no feature '3/keys'; it has '5/tokens_normed'"):
        read_pairs(path, feature="3/keys")
    with pytest.raises(InputError, match="no such file"):
        read_pairs(path.with_name("other"))
    path.with_name("other").write_bytes(b"x" * 20)
    with pytest.raises(InputError, match="not a safetensors file"):
        read_pairs(path.with_name("other"))


def test_learnt_reaction_times_are_scored_as_a_model_of_their_own(learnable):
    bench, out, path = learnable
    quick = ["--networks", "2", "--epochs", "2", "--draws", "5"]
    words = ["learn", "rt", path, "--benchmark", bench.folder, "--out", out, *quick]
    assert run(*words).exit_code == 0
    done = run(*words, "--folds", "trials", "--head", "linear")
    assert "folds over trials: the readout saw other trials of the scenes" in done.stderr
    found = [json.loads(p.read_text()) for p in sorted((out / "scores").glob("*.json"))]
    names = {record["model"]["name"] for record in found}
    assert names == {
        "test_vit@random0",
        "test_vit@random0#rt_mlp_scenes",
        "test_vit@random0#rt_linear_trials",
    }
    learned = next(r for r in found if r["model"]["name"].endswith("rt_mlp_scenes"))
    assert learned["model"]["learned"]["folds"] == "scenes"
    assert learned["scores"][0]["kind"] == "difficulty"
    table = pd.concat(map(pd.read_parquet, (out / "readouts").glob("*rt_mlp*")))
    assert set(table["trial_id"]) == set(bench.trials["trial_id"])


def test_grouping_is_learnt_elsewhere_and_says_its_accuracy(learnable, tmp_path, rng):
    bench, out, path = learnable
    other = write_bench(tmp_path / "elsewhere", rng)
    train = keep_pairs(other, tmp_path / "other_out")
    quick = ["--networks", "2", "--epochs", "2", "--draws", "5", "--json"]
    words = ["learn", "grouping", path, "--benchmark", bench.folder, "--out", out, *quick]
    done = run(*words, "--train", train, "--train-benchmark", other.folder)
    assert done.exit_code == 0, done.exception
    answer = json.loads(done.stdout)
    assert answer["n_learnt"] == answer["n_tested"] == 48
    assert 0 <= answer["accuracy"] <= 1
    done = run(*words, "--train", path, "--train-benchmark", bench.folder)
    assert "24 of its photographs are in" in str(done.exception)
    train = keep_pairs(other, tmp_path / "third_out", seed=1)
    done = run(*words, "--train", train, "--train-benchmark", other.folder)
    assert "read both out of the same model" in str(done.exception)
