"""Forged and damaged submissions are refused with the reason; honest ones are not."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.people import load_times
from analysis.records import build_record, write_score_file
from analysis.scoring import ScoreSettings, score_readouts
from analysis.submission import MAX_FILE_BYTES, check_submission
from stimuli.benchmark import Manifest, hash_file, write_benchmark
from stimuli.errors import InputError
from stimuli.table_io import write_table
from tests.analysis.simulate import make_readouts, make_responses, make_times, make_trials

ROOT = Path(__file__).parents[2]
MANIFEST = Manifest(name="tiny", version="1", source="t", licence="n", is_simulated=True)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A benchmark, a model's readouts of two layers, and the score file that they give."""
    root = tmp_path_factory.mktemp("honest")
    rng = np.random.default_rng(8)
    trials = make_trials(20)
    times, truth = make_times(trials, rng, n_people=10)
    benchmark = write_benchmark(root / "bench", manifest=MANIFEST, trials=trials)
    write_table(make_responses(times), benchmark.responses_folder / "all.csv")
    values = truth + rng.normal(0, 0.05, len(truth))
    readouts = pd.concat(
        make_readouts(trials, values * (k + 1) + k * rng.normal(size=len(truth)), layer=str(k))
        for k in range(2)
    )
    write_table(readouts, root / "m.csv")
    settings = ScoreSettings(n_draws=20, n_halves=20, seed=3)
    scores = score_readouts(
        readouts, times=load_times(benchmark), trials=benchmark.trials, settings=settings
    )
    facts = {"name": "m", "is_random_weights": False, "readouts_sha256": hash_file(root / "m.csv")}
    record = build_record(benchmark, settings=settings, command="score", model_record=facts)
    return benchmark, root / "m.csv", write_score_file(scores, record, folder=root)


def forge(honest, tmp_path, change):
    """Return a copy of the honest file, changed."""
    content = json.loads(honest[2].read_text())
    changed = change(content)
    path = tmp_path / honest[2].name
    path.write_text(json.dumps(content if changed is None else changed))
    return path


def set_in(*keys, value):
    def change(content):
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return change


def drop(*keys):
    def change(content):
        for key in keys[:-1]:
            content = content[key]
        del content[keys[-1]]

    return change


def raise_r(content):
    """Raise a headline by .2 and make everything that follows from it fit."""
    row = next(row for row in content["scores"] if row["metric"] == "partial")
    for name in ("r", "ci_low_r", "ci_high_r"):
        row[name] = min(row[name] + 0.1, 0.999)
    for name in ("split_half", "attainable", "one_vs_rest"):
        row[f"r_over_{name}"] = row["r"] / row[f"{name}_r"]


def keep_layer_0(content):
    content["scores"] = [row for row in content["scores"] if row["layer"] == "0"]


def add_a_layer(content):
    content["scores"] += [row | {"layer": "7"} for row in content["scores"] if row["layer"] == "0"]


def flatter_the_auc(content):
    content["readout_means"] = [
        {"layer": "0", "representation": None, "readout": "r", "mean": 0.99, "n_trials": 80}
    ]


def rename(content):
    for row in content["scores"]:
        row["model"] = "other"
    content["model"]["name"] = "other"


ALONE = {
    "another format": (set_in("format", value="score-9"), "format 'score-9', expected"),
    "a field is missing": (drop("command"), "command is missing"),
    "a field of another type": (set_in("is_simulated", value="no"), "is_simulated is 'no'"),
    "no seed": (drop("settings", "seed"), "settings: seed is None"),
    "endless draws": (set_in("settings", "n_draws", value=10**9), "n_draws is 1000000000"),
    "an old metric": (set_in("metric_version", value="0"), "metric_version is '0', but"),
    "a hash cut short": (
        set_in("trials_sha256", value="abc"),
        "trials_sha256 is 'abc'; expected 64",
    ),
    "a time without a zone": (
        set_in("created", value="2026-01-01T10:00:00"),
        "without a time zone",
    ),
    "no time": (set_in("created", value="yesterday"), "created is 'yesterday'"),
    "a time to come": (set_in("created", value="2999-01-01T10:00:00+00:00"), "in the future"),
    "random weights hidden": (
        set_in("model", "random_seed", value=0),
        "random weights have a seed",
    ),
    "parameters as text": (set_in("model", "n_parameters", value="86M"), "n_parameters is '86M'"),
    "another model's scores": (set_in("model", "name", value="dino"), "calls itself 'dino'"),
    "two models": (set_in("scores", 0, "model", value="n"), "scores of 2 models"),
    "another file name": (rename, "the file is called 'm-"),
    "no scores": (set_in("scores", value=[]), "it holds no scores"),
    "a column is gone": (drop("scores", 0, "r"), "r nan with the interval"),
    "an unknown metric": (set_in("scores", 0, "metric", value="best"), "'best', which fails isin"),
    "r beyond 1": (set_in("scores", 0, "r", value=1.4), "column 'r' holds .*1.4"),
    "r as text": (set_in("scores", 0, "r", value="high"), "column 'r'"),
    "a ratio that doesn't follow": (
        set_in("scores", 0, "r_over_attainable", value=0.99),
        "r_over_attainable is 0.99, but .* follows",
    ),
    "a ceiling that doesn't follow": (
        set_in("scores", 0, "attainable_r", value=0.3),
        "attainable_r is 0.3, but .* follows",
    ),
    "r outside its interval": (set_in("scores", 0, "ci_high_r", value=-0.9), "expected r inside"),
    "half an interval": (set_in("scores", 0, "ci_low_r", value=None), "the interval has one end"),
    "a row twice": (lambda c: c["scores"].append(c["scores"][0]), "occurs twice"),
    "a metric is left out": (drop("scores", 0), "metric 'partial' is missing"),
    "trials that don't add up": (set_in("scores", 2, "n_trials", value=39), "aren't 80"),
    "more scenes than trials": (set_in("scores", 0, "n_scenes", value=999), "as many trials as"),
    "rows differ": (set_in("scores", 0, "rows_sha256", value="a" * 64), "rows_sha256 differs"),
}


def test_an_honest_file_is_accepted_at_every_depth(honest):
    benchmark, readouts, path = honest
    assert check_submission(path).reasons == ()
    verdict = check_submission(path, benchmark=benchmark, readouts=readouts)
    assert verdict.reasons == ()
    assert verdict.model == "m"
    assert verdict.checked[-1] == "scored again"


@pytest.mark.parametrize("kind", ALONE)
def test_a_file_that_contradicts_itself_is_refused_with_the_reason(honest, tmp_path, kind):
    change, reason = ALONE[kind]
    verdict = check_submission(forge(honest, tmp_path, change))
    assert verdict.reasons
    assert any(pd.Series([text]).str.contains(reason).item() for text in verdict.reasons), verdict


def test_damaged_files_are_refused(honest, tmp_path):
    path = tmp_path / honest[2].name
    for content, reason in (("{", "not valid JSON"), ("[1]", "expected a JSON object")):
        path.write_text(content)
        assert reason in check_submission(path).reasons[0]
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert "a score file has at most" in check_submission(path).reasons[0]
    assert "no such file" in check_submission(tmp_path / "nowhere.json").reasons[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (set_in("benchmark", value="other"), "benchmark is 'other', but the benchmark's is 'tiny'"),
        (set_in("benchmark_version", value="2"), "benchmark_version is '2'"),
        (set_in("is_simulated", value=False), "is_simulated is False, but"),
        (set_in("trials_sha256", value="a" * 64), "trials_sha256 is 'aaaa"),
        (set_in("responses_sha256", value="a" * 64), "responses_sha256 is 'aaaa"),
        (set_in("exclusion_rules", value=["none"]), "exclusion_rules is ['none'], but"),
        (set_in("scores", 0, "n_people", value=500), "n_people is 500, but the benchmark has 10"),
    ],
)
def test_a_file_of_another_benchmark_or_people_is_refused(honest, tmp_path, change, reason):
    path = forge(honest, tmp_path, change)
    assert check_submission(path).reasons == ()
    assert reason in check_submission(path, benchmark=honest[0]).reasons[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (raise_r, r"metric 'partial': r is 0\.\d+, but scoring the readouts again gives"),
        (keep_layer_0, "layer 1.* left out; all layers and readouts go in"),
        (add_a_layer, "layer 7.* is claimed, but its readouts are not in the file"),
        (set_in("model", "readouts_sha256", value="a" * 64), "send the file scored"),
        (flatter_the_auc, "readout_means .* is 0.99, but the readouts' mean is"),
        (set_in("settings", "seed", value=4), "but scoring the readouts again gives"),
    ],
)
def test_a_forgery_that_hangs_together_fails_when_scored_again(honest, tmp_path, change, reason):
    path = forge(honest, tmp_path, change)
    assert check_submission(path, benchmark=honest[0]).reasons == ()
    verdict = check_submission(path, benchmark=honest[0], readouts=honest[1])
    assert pd.Series(verdict.reasons).str.contains(reason).any(), verdict


def test_readouts_of_another_model_or_damaged_ones_are_refused(honest, tmp_path):
    benchmark, readouts, _ = honest
    path = forge(honest, tmp_path, drop("model", "readouts_sha256"))
    other = tmp_path / "other.csv"
    table = pd.read_csv(readouts, dtype={"layer": "str"})
    write_table(table.assign(model="n"), other)
    assert "none of 'm'" in check_submission(path, benchmark=benchmark, readouts=other).reasons[0]
    write_table(table.assign(trial_id="x"), other)
    assert "'x'" in check_submission(path, benchmark=benchmark, readouts=other).reasons[0]
    with pytest.raises(InputError, match="--readouts needs --benchmark"):
        check_submission(path, readouts=readouts)


def test_what_a_maintainer_should_know_is_said_but_refuses_nothing(honest, tmp_path):
    verdict = check_submission(forge(honest, tmp_path, set_in("commit", value="abc+changes")))
    assert verdict.reasons == ()
    assert any("isn't a commit" in remark for remark in verdict.remarks)
    assert any("not computed again" in remark for remark in verdict.remarks)


@pytest.mark.slow
def test_the_command_exits_2_with_all_reasons_and_0_without(honest, tmp_path):
    def run(*words):
        command = [sys.executable, str(ROOT / "objecthood.py"), "submit-check", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    benchmark, readouts, path = honest
    done = run(path, "--benchmark", benchmark.folder, "--readouts", readouts)
    assert (done.returncode, "accepted" in done.stdout) == (0, True)
    forged = forge(honest, tmp_path, set_in("metric_version", value="0"))
    done = run(forged, "--json")
    assert done.returncode == 2
    assert "metric_version" in json.loads(done.stdout)["reasons"][0]
