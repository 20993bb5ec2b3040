"""`objecthood explain`, `compare` and `layers` as a user meets them."""

import sys

import numpy as np
import pandas as pd
import pytest

import objecthood
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.table_io import write_table
from tests.analysis.simulate import (
    make_log_times,
    make_readouts,
    make_responses,
    make_trials,
)

MANIFEST = Manifest(name="tiny", version="1", source="test", licence="none", is_simulated=True)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    root = tmp_path_factory.mktemp("stats")
    rng = np.random.default_rng(6)
    trials = make_trials(16)
    truth = rng.normal(size=64)
    times = make_log_times(trials, rng, readout_effect=0.1, readout=truth, n_people=8)
    bench = write_benchmark(root / "bench", manifest=MANIFEST, trials=trials)
    write_table(make_responses(times), bench.responses_folder / "all.csv")
    readouts = [
        make_readouts(trials, truth, model="good", layer="3"),
        make_readouts(trials, truth + rng.normal(0, 2, 64), model="good", layer="0"),
        make_readouts(trials, -truth, model="anti"),
    ]
    write_table(pd.concat(readouts), root / "results" / "readouts" / "all.parquet")
    return root


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["objecthood", *map(str, words)])
    with pytest.raises(SystemExit) as done:
        objecthood.main()
    return done.value.code or 0


def words(study, command):
    return (command, study / "results", "--benchmark", study / "bench", "--out", study / "out")


def test_explain_writes_both_tables_and_says_what_was_found(study, monkeypatch, capsys):
    assert run(monkeypatch, *words(study, "explain")) == 0
    mixed = pd.read_csv(study / "out" / "mixed.csv")
    explained = pd.read_csv(study / "out" / "explained.csv")
    assert mixed["model"].tolist() == explained["model"].tolist()
    assert (mixed.set_index("model").loc["anti", "estimate"]) < 0
    assert "per SD" in capsys.readouterr().out


def test_compare_ranks_and_tests_every_pair(study, monkeypatch, capsys):
    assert run(monkeypatch, *words(study, "compare"), "--draws", "60") == 0
    ranking = pd.read_csv(study / "out" / "ranking.csv")
    # The last layer that was written, as on the board; not the best.
    assert ranking["name"].tolist() == ["good: r, layer 0", "anti: r"]
    assert ranking["model"].tolist() == ["good", "anti"]
    assert len(pd.read_csv(study / "out" / "pairs.csv")) == 1
    assert "[2-2]" in capsys.readouterr().out


def test_compare_takes_all_layers_where_asked(study, monkeypatch):
    assert run(monkeypatch, *words(study, "compare"), "--draws", "60", "--all-layers") == 0
    ranking = pd.read_csv(study / "out" / "ranking.csv")
    assert ranking["name"].iloc[0] == "good: r, layer 3"
    assert len(pd.read_csv(study / "out" / "pairs.csv")) == 3


def test_statistics_go_where_the_board_looks_and_a_file_needs_a_folder(study, monkeypatch, capsys):
    base = ("--benchmark", study / "bench")
    assert run(monkeypatch, "compare", study / "results", *base, "--draws", "20") == 0
    assert (study / "results" / "statistics" / "ranking.csv").is_file()
    file = study / "results" / "readouts" / "all.parquet"
    assert run(monkeypatch, "layers", file, *base) == 2
    assert "name a folder for the tables with --out" in capsys.readouterr().err


def test_layers_shows_the_optimism(study, monkeypatch):
    assert run(monkeypatch, *words(study, "layers")) == 0
    (row,) = pd.read_csv(study / "out" / "layers.csv").to_dict("records")
    assert (row["model"], row["n_layers"], row["naive_layer"]) == ("good", 2, 3)


def test_a_folder_without_readouts_is_refused(study, monkeypatch, capsys):
    command = ("compare", study, "--benchmark", study / "bench", "--out", study / "out")
    assert run(monkeypatch, *command) == 2
    assert "no readouts in" in capsys.readouterr().err
