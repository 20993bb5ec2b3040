"""Kills sessions at random moments, resumes them, and prints what was found. Run by test_kill.

Each session is a forked child without a window; it tells through a pipe which displays it finished,
so that what it had finished when it died can be compared with what lies on disk.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from experiment.launch import Request, prepare, run_request
from experiment.row_file import read_rows
from experiment.runs import name_run
from tests.experiment.apparatus import FAST

N_KILLS = 20


def make_request(bench, participant):
    return Request(
        benchmark=bench,
        participant=participant,
        session="1",
        config=FAST,
        display=None,
        existing="resume",
        is_simulated=True,
    )


def begin(bench, participant):
    """Return a child that runs a session, and the pipe that it reports to."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    os.close(reader)
    prepared = prepare(make_request(bench, participant))
    run_request(prepared, ask=lambda _: "refuse", on_trial=lambda: os.write(writer, b"."))
    os._exit(0)


def run_and_kill(bench, participant, *, after_n, after_s):
    """Kill a session some time after it finished `after_n` displays; return how many it finished."""
    pid, reader = begin(bench, participant)
    reported = b""
    while len(reported) < after_n:
        reported += os.read(reader, after_n - len(reported))
    time.sleep(after_s)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    while data := os.read(reader, 4096):
        reported += data
    os.close(reader)
    return len(reported), os.WIFSIGNALED(status)


def list_positions(path):
    return [int(row["position"]) for row in read_rows(path).rows] if path.exists() else []


def main(bench, seed):
    rng = np.random.default_rng(seed)
    for k in range(1, N_KILLS + 1):
        participant = f"p{k}"
        # Any moment of a session: before its first display, between two, or while one is written.
        n_finished, was_killed = run_and_kill(
            bench, participant, after_n=int(rng.integers(0, 41)), after_s=rng.uniform(0, 0.003)
        )
        path = name_run(bench / "responses", participant_id=participant, session="1", run=1).rows
        before = list_positions(path)
        data = path.read_bytes() if path.exists() else b""
        run_request(prepare(make_request(bench, participant)), ask=lambda _: "refuse")
        found = {
            "was_killed": was_killed,
            "n_finished": n_finished,
            "on_disk": before,
            "after_resume": list_positions(path),
            "is_kept": path.read_bytes().startswith(data),
        }
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
