"""`objecthood trials` as a user meets it."""

import json
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from objecthood import app
from stimuli.errors import InputError

ROOT = Path(__file__).parents[2]


def run(*words):
    result = CliRunner().invoke(app, ["trials", *map(str, words)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    out = tmp_path_factory.mktemp("trials") / "bench"
    words = ("make", "made", "--out", out, "--design", "demo", "--max-scenes", 8, "--practice", 2)
    result = run(*words, "--blocks", 2, "--json")
    assert result.exit_code == 0
    return out, json.loads(result.stdout)


def test_make_writes_a_benchmark_and_counts_what_became_of_each_scene(bench):
    out, counts = bench
    assert counts["n_scenes_with_displays"] == 8
    assert counts["n_trials"] == 6 * 4 + 2
    assert sum(counts["without_displays"].values()) == counts["n_scenes_read"] - 8
    trials = pd.read_csv(out / "trials.csv", dtype={"list_id": str})
    assert set(trials["list_id"]) == {"1", "2", "3", "4", "practice"}
    assert set(trials["block"].dropna()) == {1, 2}


def test_a_benchmark_is_itself_a_source(bench, tmp_path):
    out, _ = bench
    words = ("make", out, "--out", tmp_path / "again", "--design", "demo", "--json")
    counts = json.loads(run(*words).stdout)
    assert counts["n_scenes_with_displays"] == 8
    assert counts["faults"] == {}


def test_audit_prints_writes_a_table_and_a_figure(bench, tmp_path):
    out, _ = bench
    result = run("audit", out, "--out", tmp_path, "--json")
    content = json.loads(result.stdout)
    assert result.exit_code == (1 if content["verdict"] == "fail" else 0)
    assert {"design_audit.csv", "design_audit.png", "design_audit.pdf"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert "distance only: AUC" in run("audit", out, "--out", tmp_path).stdout


def test_a_bad_design_ends_with_exit_code_1(bench, tmp_path):
    out, _ = bench
    shutil.copytree(out, tmp_path / "bad")
    path = tmp_path / "bad" / "trials.csv"
    trials = pd.read_csv(path, dtype=str)
    trials.loc[trials["same_object"] == "True", "distance_px"] = "5"
    trials.to_csv(path, index=False)
    result = run("audit", tmp_path / "bad", "--out", tmp_path / "audit")
    assert result.exit_code == 1
    assert "fail          overall" in result.stdout


def test_preview_writes_sheets_of_the_chosen_scenes(bench, tmp_path):
    out, _ = bench
    scene = pd.read_csv(out / "trials.csv")["scene_id"].iloc[0]
    result = run("preview", out, "--out", tmp_path / "s.png", "--scene", scene)
    assert result.stdout.strip() == str(tmp_path / "s.png")
    assert (tmp_path / "s.png").is_file()


def test_faults_are_counted_and_listed_or_refused(bench, tmp_path):
    out, _ = bench
    shutil.copytree(out, tmp_path / "source")
    mask = next((tmp_path / "source" / "masks").iterdir())
    mask.unlink()
    words = ("make", tmp_path / "source", "--design", "demo", "--out")
    counts = json.loads(run(*words, tmp_path / "skip", "--json").stdout)
    assert counts["faults"] == {"mask missing": 1}
    assert pd.read_csv(tmp_path / "skip" / "faults.csv")["where"].tolist() == [mask.stem]
    with pytest.raises(InputError, match="mask missing"):
        run(*words, tmp_path / "refuse", "--on-fault", "refuse")
    assert not (tmp_path / "refuse").exists()


def test_a_folder_that_is_not_empty_is_never_written_over(bench):
    out, _ = bench
    before = (out / "trials.csv").read_bytes()
    with pytest.raises(InputError, match="is not empty"):
        run("make", "made", "--out", out, "--design", "demo", "--max-scenes", 1)
    assert (out / "trials.csv").read_bytes() == before


def test_the_review_page_is_served_until_ctrl_c_and_then_summed_up(bench):
    out, _ = bench
    command = [sys.executable, "objecthood.py", "trials", "review", str(out), "--no-browser"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        url = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline()).group()
        with urllib.request.urlopen(url, timeout=20) as page:  # noqa: S310 (loopback)
            assert b"Review of displays" in page.read()
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "0 of 8 scenes reviewed" in text


def test_the_controlled_set_is_a_source(tmp_path):
    words = ("make", "controlled", "--out", tmp_path / "c", "--design", "demo", "--max-scenes", 6)
    assert json.loads(run(*words, "--json").stdout)["n_trials"] == 24
    trials = pd.read_csv(tmp_path / "c" / "trials.csv")
    assert trials["controlled_kind"].nunique() == 6
    assert {"same_texture", "same_class"} <= set(trials.columns)


def test_a_finished_review_is_applied(bench, tmp_path):
    out, _ = bench
    shutil.copytree(out, tmp_path / "b")
    scenes = pd.read_csv(out / "trials.csv")["scene_id"].unique()
    rows = [f"{name},keep,,," for name in scenes[1:]] + [f"{scenes[0]},reject,mask wrong,,"]
    text = "\n".join(["scene_id,verdict,reason,reviewer,reviewed_at", *rows]) + "\n"
    (tmp_path / "b" / "review.csv").write_text(text.replace(",,\n", ",,2026-01-01\n"))
    result = run("apply-review", tmp_path / "b", "--out", tmp_path / "new")
    assert "1  reject: mask wrong" in result.stdout
    assert "7 of 8 scenes are in" in result.stdout
    assert scenes[0] not in set(pd.read_csv(tmp_path / "new" / "trials.csv")["scene_id"])
