"""The command line as a user meets it: help, messages, exit codes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.codebook import render_codebook
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.table_io import write_table
from tests.analysis.simulate import make_readouts, make_responses, make_times, make_trials

ROOT = Path(__file__).parents[1]
MANIFEST = Manifest(name="tiny", version="1", source="test", licence="none", is_simulated=True)


def run(*words):
    """Run the command line in a process of its own."""
    command = [sys.executable, str(ROOT / "objecthood.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def assert_refused(done, *parts):
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "bench"
    trials = make_trials(12)
    times, _ = make_times(trials, np.random.default_rng(1), n_people=8)
    benchmark = write_benchmark(folder, manifest=MANIFEST, trials=trials)
    write_table(make_responses(times), benchmark.responses_folder / "all.csv")
    return benchmark


def test_help_answers_at_once_and_imports_nothing_heavy():
    fastest = np.inf
    for _ in range(3):
        start = time.perf_counter()
        done = run("--help")
        fastest = min(fastest, time.perf_counter() - start)
    assert done.returncode == 0
    # Half a second is the promise on a quiet machine; what makes it true is checked below.
    assert fastest < 2
    code = (
        "import sys, objecthood\n"
        "heavy = {'pandas', 'numpy', 'torch', 'timm', 'scipy', 'matplotlib', 'psychopy', 'pandera'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"


def leaf_commands():
    from typer.main import get_command

    import objecthood

    def walk(command, words):
        subcommands = getattr(command, "commands", None)
        if subcommands is None:
            yield words, command
            return
        for name, sub in subcommands.items():
            yield from walk(sub, [*words, name])

    return list(walk(get_command(objecthood.app), []))


@pytest.mark.parametrize(("words", "command"), leaf_commands(), ids=str)
def test_every_command_s_help_has_an_example(words, command):
    assert "Example" in (command.help or ""), words


def test_the_whole_job_from_the_command_line(bench, tmp_path):
    done = run("human", bench.folder, "--json")
    assert json.loads(done.stdout)["n_people"] == 8
    out = tmp_path / "results"
    mine = tmp_path / "mine.csv"
    write_table(make_readouts(bench.trials, range(48), model="mine"), mine)
    assert (
        run("score", mine, "--benchmark", bench.folder, "--out", out, "--draws", 20).returncode == 0
    )
    controls = ["control:condition", "control:distance"]
    done = run("evaluate", *controls, "--benchmark", bench.folder, "--out", out, "--draws", 20)
    assert done.returncode == 0, done.stderr
    assert run("leaderboard", out, "--out", tmp_path).returncode == 0
    board = pd.read_csv(tmp_path / "leaderboard.csv")
    assert set(board["model"]) == {"mine", *controls}
    done = run("figures", out, "--benchmark", bench.folder, "--out", tmp_path / "figures")
    assert done.returncode == 0, done.stderr
    pictures = [Path(line) for line in done.stdout.split("\n") if line.endswith((".pdf", ".png"))]
    assert pictures
    assert all(path.is_file() for path in pictures)


def test_one_failing_model_leaves_the_others_scores_and_a_message(bench, tmp_path):
    words = ["control:distance", "no_such_model", "control:condition"]
    done = run("evaluate", *words, "--benchmark", bench.folder, "--out", tmp_path, "--draws", 20)
    assert_refused(done, "no_such_model", "1 of 3 models failed")
    assert len(list((tmp_path / "scores").glob("*.json"))) == 2
    assert pd.read_csv(tmp_path / "failures.csv")["model"].tolist() == ["no_such_model"]


def test_bad_input_is_one_message_with_exit_code_2_and_nothing_half_written(bench, tmp_path):
    out = tmp_path / "out"
    assert_refused(run("human", tmp_path / "nowhere"), "not a benchmark folder", "objecthood demo")
    table = make_readouts(bench.trials, range(48))
    for change, parts in (
        (table.drop(index=3), ["lacks trial_id", "--allow-missing"]),
        (pd.concat([table, table.head(1)]), ["mine.csv, row 50", "occurs twice"]),
        (table.assign(trial_id=table["trial_id"] + "x"), ["not in the benchmark's trials.csv"]),
        (
            table.assign(value=table["value"].where(table.index != 2)),
            ["mine.csv, line 4", "'value'"],
        ),
    ):
        write_table(change, tmp_path / "mine.csv")
        done = run("score", tmp_path / "mine.csv", "--benchmark", bench.folder, "--out", out)
        assert_refused(done, *parts)
    empty = write_benchmark(tmp_path / "empty", manifest=MANIFEST, trials=bench.trials)
    write_table(table, tmp_path / "mine.csv")
    done = run("score", tmp_path / "mine.csv", "--benchmark", empty.folder, "--out", out)
    assert_refused(done, "no people")
    assert_refused(run("leaderboard", out, "--out", out), "no score files")
    assert not out.exists()


def test_the_code_book_is_that_of_the_schemas():
    assert (ROOT / "data" / "codebook.md").read_text(encoding="utf-8") == render_codebook()
