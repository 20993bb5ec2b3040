"""Where a session's files lie, who is writing them, and what earlier runs there are.

::

    responses/sub-07_ses-1_run-01.csv     one row per presentation
    responses/sub-07_ses-1_run-01.json    everything else about the run
    responses/superseded/                 runs that were restarted; never deleted, not analysed
    responses/locks/                      who is writing; a lock goes with its program, however it ends

Names in file names are the ids where these are plain; otherwise readable and told apart by a hash.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from experiment.plan import find_number
from stimuli.errors import InputError
from stimuli.table_io import read_json, safe_file_name

# What to do with an earlier run of the same session.
Existing = Literal["ask", "resume", "restart", "refuse"]
SUPERSEDED = "superseded"
LOCKS = "locks"
# Only short names that are the same on every file system, whatever it does to case and accents.
_PLAIN = re.compile(r"[a-z0-9]{1,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """The two files of a run."""

    folder: Path
    stem: str
    run: int

    @property
    def rows(self) -> Path:
        """One row per presentation."""
        return self.folder / f"{self.stem}.csv"

    @property
    def sidecar(self) -> Path:
        """Everything else."""
        return self.folder / f"{self.stem}.json"


def name_run(responses: Path, *, participant_id: str, session: str, run: int) -> RunFiles:
    """Return the files of a run in the folder `responses`."""
    stem = f"sub-{_name(participant_id)}_ses-{_name(session)}_run-{run:02d}"
    return RunFiles(folder=responses, stem=stem, run=run)


def find_current_run(responses: Path, *, participant_id: str, session: str) -> RunFiles | None:
    """Return the run of a session that isn't superseded; None if there is none."""
    runs = _find_runs(responses, participant_id=participant_id, session=session)
    return runs[-1] if runs else None


def next_run(responses: Path, *, participant_id: str, session: str) -> int:
    """Return the number of a new run: no number is used twice, superseded runs counted."""
    runs = [
        run.run
        for folder in (responses, responses / SUPERSEDED)
        for run in _find_runs(folder, participant_id=participant_id, session=session)
    ]
    return max(runs, default=0) + 1


def supersede(files: RunFiles) -> RunFiles:
    """Move a run's files aside, so that its rows are kept and not analysed; return where they are."""
    aside = RunFiles(folder=files.folder / SUPERSEDED, stem=files.stem, run=files.run)
    for path in (aside.rows, aside.sidecar):
        if path.exists():
            raise InputError(f"{path} exists already; move it away, nothing is overwritten")
    aside.folder.mkdir(exist_ok=True)
    for old, new in ((files.rows, aside.rows), (files.sidecar, aside.sidecar)):
        if old.exists():
            old.rename(new)
    return aside


def assign_number(responses: Path, participant_id: str, *, given: int | None = None) -> int:
    """Return a participant's number: as given, as before, the id's own digits, or the next free one.

    Raises
    ------
    InputError
        The number given is below 1, or another than the one the participant had before.
    """
    before = _read_numbers(responses)
    known = before.get(participant_id)
    if given is not None and given < 1:
        raise InputError(f"--number is {given}; count people from 1")
    if known is not None and given not in {None, known}:
        raise InputError(
            f"participant {participant_id!r} has number {known} in an earlier session; leave "
            f"--number {given} out, or use another id"
        )
    if known is not None:
        return known
    return given or find_number(participant_id, taken=before.values())


@contextmanager
def locking(responses: Path, participant_id: str) -> Iterator[None]:
    """Hold a participant's files while the block runs.

    The lock is the operating system's: when the program dies, it is free.

    Raises
    ------
    InputError
        Another program holds them.
    """
    path = responses / LOCKS / f"sub-{_name(participant_id)}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"participant {participant_id!r} is being run by another program ({path}); end that "
            "one first, or use another id"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _find_runs(folder: Path, *, participant_id: str, session: str) -> list[RunFiles]:
    prefix = f"sub-{_name(participant_id)}_ses-{_name(session)}_run-"
    numbers = {
        int(path.stem.removeprefix(prefix))
        for path in folder.glob(f"{prefix}*")
        if path.suffix in {".csv", ".json"} and path.stem.removeprefix(prefix).isdigit()
    }
    return [
        name_run(folder, participant_id=participant_id, session=session, run=number)
        for number in sorted(numbers)
    ]


def _read_numbers(responses: Path) -> dict[str, int]:
    """Return the number of every participant that has a sidecar."""
    numbers: dict[str, int] = {}
    for folder in (responses, responses / SUPERSEDED):
        for path in sorted(folder.glob("sub-*_ses-*_run-*.json")):
            content = read_json(path)
            name, number = content.get("participant_id"), content.get("number")
            if isinstance(name, str) and isinstance(number, int):
                numbers.setdefault(name, number)
    return numbers


def _name(label: str) -> str:
    return label if _PLAIN.fullmatch(label) else safe_file_name(label)
