"""A whole study of simulated people, each through the task's own code, without a window."""

from collections.abc import Callable
from pathlib import Path

from experiment.config import SessionConfig
from experiment.launch import (
    Request,
    check_not_mixed,
    mark_simulated,
    prepare,
    run_request,
)
from experiment.observers import DESIGN, ObserverDesign
from experiment.row_file import read_rows
from stimuli.benchmark import open_benchmark
from stimuli.errors import InputError


def simulate_study(
    benchmark: Path,
    *,
    n_people: int,
    seed: int,
    config: SessionConfig,
    practice: Path | None = None,
    observer: ObserverDesign = DESIGN,
    on_person: Callable[[], None] = lambda: None,
) -> int:
    """Run simulated people ``sim-001`` and so on; return how many rows they made.

    Those that are there already are left as they are, so that an interrupted study is completed by
    the same command.

    Raises
    ------
    InputError
        No people are asked for, or the folder holds real ones.
    """
    if n_people < 1:
        raise InputError(f"n_people is {n_people}; simulate at least one person")
    opened = open_benchmark(benchmark)
    check_not_mixed(opened, is_simulated=True)
    mark_simulated(opened, is_simulated=True)
    opened = open_benchmark(benchmark)
    n_rows = 0
    for k in range(1, n_people + 1):
        request = Request(
            benchmark=benchmark,
            participant=f"sim-{k:03d}",
            session="1",
            config=config,
            display=None,
            practice=practice,
            existing="resume",
            is_simulated=True,
            observer=observer,
            seed=seed,
        )
        files = run_request(prepare(request, benchmark=opened), ask=lambda _: "resume")
        n_rows += len(read_rows(files.rows).rows)
        on_person()
    return n_rows
