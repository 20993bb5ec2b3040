"""SIGKILL at random moments, and disks that are full: every finished trial is there exactly once."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiment.row_file import read_rows
from tests.experiment.displays import make_benchmark

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_twenty_sessions_killed_at_random_moments_lose_nothing_and_repeat_nothing(tmp_path, capsys):
    bench = make_benchmark(tmp_path / "b", n_scenes=40, width_px=200, height_px=200).folder
    script = ROOT / "tests" / "experiment" / "kill_sessions.py"
    done = subprocess.run(
        [sys.executable, str(script), str(bench), "1"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(cases) == 20
    for case in cases:
        n_on_disk = len(case["on_disk"])
        assert case["on_disk"] == list(range(1, n_on_disk + 1))
        # A row is on disk before it is reported: killed in between, there is one more.
        assert case["n_finished"] <= n_on_disk <= case["n_finished"] + 1
        assert case["after_resume"] == list(range(1, 43))
        assert case["is_kept"]
    n_killed_within = sum(case["was_killed"] and len(case["on_disk"]) < 42 for case in cases)
    with capsys.disabled():
        sys.stdout.write(
            f"\n20 sessions killed, {n_killed_within} of them before their last trial, "
            f"after {sorted(len(case['on_disk']) for case in cases)} of 42 trials\n"
        )
    assert n_killed_within >= 15


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of 300 kB; needs the right to mount."""
    place = tmp_path / "small disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root; test_row_file fails the writes instead")
    options = ["-t", "tmpfs", "-o", "size=300k", "tmpfs", str(place)]
    if subprocess.run([mount, *options], check=False, capture_output=True).returncode:
        pytest.skip("no right to mount a tmpfs here; test_row_file fails the writes instead")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_session_on_a_full_disk_keeps_every_trial_says_so_and_goes_on_later(small_disk, tmp_path):
    bench = small_disk / "b"
    shutil.copytree(
        make_benchmark(tmp_path / "b", n_scenes=40, width_px=200, height_px=200).folder,
        bench,
        ignore=shutil.ignore_patterns("images"),
    )
    config = tmp_path / "fast.json"
    config.write_text(
        json.dumps({"fixation_s": 0.1, "dots_s": 0.1, "n_practice": 2, "n_blocks": 2}),
        encoding="utf-8",
    )
    command = [
        sys.executable, str(ROOT / "objecthood.py"), "session", "run", str(bench),
        "--participant", "7", "--simulate", "--no-window", "--config", str(config),
    ]  # fmt: skip
    ballast = small_disk / "ballast"
    n_free = shutil.disk_usage(small_disk).free
    # Room for the reserve, the sidecar and some rows, which the long reason makes large.
    reason = "a test of full disks; " * 70
    ballast.write_bytes(b"x" * (n_free - 64 * 1024 - 24 * 1024))
    env = {**os.environ, "HOME": str(tmp_path)}

    def run(*options):
        return subprocess.run(
            [*command, *options], env=env, capture_output=True, text=True, check=False
        )

    full = run("--despite", reason)
    assert full.returncode == 3, full.stderr
    assert "fail  disk" in full.stderr
    assert "the disk is full" in full.stderr
    assert "the last included" in full.stderr
    assert "--existing resume" in full.stderr
    (path,) = (bench / "responses").glob("*.csv")
    n_rows = len(read_rows(path).rows)
    assert 0 < n_rows < 42
    sidecar = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert sidecar["segments"][0]["ended_because"] == "storage failed"
    assert sidecar["segments"][0]["n_rows"] == n_rows
    ballast.unlink()
    again = run("--despite", reason, "--existing", "resume")
    assert again.returncode == 0, again.stderr
    rows = read_rows(path).rows
    assert [int(row["position"]) for row in rows] == list(range(1, 43))
    assert [row["resumed"] for row in rows] == ["False"] * n_rows + ["True"] * (42 - n_rows)
