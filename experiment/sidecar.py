"""The JSON beside a run's rows: all that made it, and how each stretch of it began and ended."""

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiment.config import SessionConfig, tabulate_config
from experiment.endings import Ending
from experiment.plan import SessionPlan
from experiment.row_file import FinishedRows
from stimuli.benchmark import Benchmark
from stimuli.errors import InputError
from stimuli.provenance import find_commit, find_versions
from stimuli.table_io import name_some, read_json, replacing, write_json

FORMAT = "objecthood-session-1"
_PACKAGES = ("objecthood", "psychopy", "psychtoolbox", "pyglet", "numpy", "pandas", "pillow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One stretch of a run, from a start or a resume to whatever ended it.

    Attributes
    ----------
    number
        0, then one more for each resume.
    n_rows_before
        Rows that were there when it began.
    gap_s
        Wall clock from the last row's trial to this start; None for the first.
    ended_because
        In words; None while it runs. "died" is written by the next start, when no end was.
    apparatus
        Display, measured refresh, keyboard, tracker, machine, versions, check, observer.
    """

    number: int
    started_at: str
    n_rows_before: int
    gap_s: float | None
    ended_at: str | None = None
    ended_because: Ending | None = None
    detail: str = ""
    n_rows: int = 0
    apparatus: Mapping[str, Any]


def describe_run(
    benchmark: Benchmark, plan: SessionPlan, *, config: SessionConfig, run: int, seed_note: str
) -> dict[str, Any]:
    """Return what a sidecar says of a run as a whole; it stays the same in every segment."""
    return {
        "format": FORMAT,
        "participant_id": plan.identity.participant_id,
        "session": plan.identity.session,
        "number": plan.identity.number,
        "run": run,
        "list_number": plan.list_number,
        "key_map": asdict(plan.key_map),
        "benchmark": benchmark.manifest.name,
        "benchmark_version": benchmark.manifest.version,
        "trials_sha256": benchmark.trials_sha256,
        "order": seed_note,
        "config": tabulate_config(config),
        "trial_ids": [trial.trial_id for trial in plan.trials],
        "blocks": [trial.block for trial in plan.trials],
    }


def describe_machine() -> dict[str, Any]:
    """Return the computer and the code of this segment."""
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "command": sys.argv,
        "commit": find_commit(),
        "versions": find_versions(_PACKAGES),
    }


def open_segment(
    *, number: int, finished: FinishedRows | None, apparatus: Mapping[str, Any]
) -> Segment:
    """Return a segment that begins now."""
    now = datetime.now(UTC)
    rows = finished.rows if finished else ()
    gap_s = None
    if rows:
        gap_s = (now - datetime.fromisoformat(rows[-1]["started_at"])).total_seconds()
    return Segment(
        number=number,
        started_at=now.isoformat(timespec="milliseconds"),
        n_rows_before=len(rows),
        gap_s=gap_s,
        apparatus=apparatus,
    )


def mend_segments(segments: list[dict[str, Any]], finished: FinishedRows | None) -> None:
    """Say of the segments whose end was never written that they died, and how many rows they left."""
    for segment in segments:
        if segment.get("ended_because") is None:
            number = str(segment.get("number"))
            rows = finished.rows if finished else ()
            segment["ended_because"] = "died"
            segment["detail"] = "no end was written: the program or the machine died"
            segment["n_rows"] = sum(row["segment"] == number for row in rows)


def close_segment(segment: Segment, *, because: Ending, detail: str, n_rows: int) -> Segment:
    """Return a segment that ends now."""
    return replace(
        segment,
        ended_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        ended_because=because,
        detail=detail,
        n_rows=n_rows,
    )


def write_sidecar(path: Path, about: Mapping[str, Any], segments: list[Mapping[str, Any]]) -> None:
    """Write the sidecar, complete or not at all, and wait until it is on the disk."""
    with replacing(path) as temporary:
        write_json({**about, "segments": segments}, temporary)
        handle = os.open(temporary, os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_segments(path: Path) -> list[dict[str, Any]]:
    """Return the segments of a sidecar; none when the sidecar was never written."""
    if not path.is_file():
        return []
    segments = read_json(path).get("segments")
    if not isinstance(segments, list):
        raise InputError(f"{path}: no list of segments; it was changed by hand. Restore it")
    return segments


def check_same_run(path: Path, about: Mapping[str, Any]) -> None:
    """Raise unless a run can go on as it began: same displays, same order, same configuration.

    Raises
    ------
    InputError
        Names what differs.
    """
    if not path.is_file():
        return
    before = read_json(path)
    plain = {key: _plain(value) for key, value in about.items()}
    keys = ("trials_sha256", "trial_ids", "blocks", "key_map", "list_number", "number")
    different = [key for key in keys if before.get(key) != plain[key]]
    settings: Any = before.get("config")
    if isinstance(settings, dict):
        different += sorted(
            f"config {key}" for key in plain["config"] if settings.get(key) != plain["config"][key]
        )
    if different:
        raise InputError(
            f"{path}: this run began with other values of {name_some(different)}, so it can't be "
            "resumed as planned. Use the configuration and the trial table it began with, or restart"
        )


def check_rows_match(path: Path, finished: FinishedRows, plan: SessionPlan) -> None:
    """Raise unless each row's display is the one planned for its position.

    Raises
    ------
    InputError
        Names the first row that isn't.
    """
    planned = {str(trial.position): trial.trial_id for trial in plan.trials}
    for number, row in enumerate(finished.rows, start=2):
        if planned.get(row["position"]) != row["trial_id"]:
            raise InputError(
                f"{path}, row {number}: trial {row['trial_id']!r} at position {row['position']}, "
                f"where {planned.get(row['position'])!r} is planned; the trial table or the plan "
                "changed since. Restore them, or restart the session"
            )


def _plain(value: Any) -> Any:  # noqa: ANN401 (JSON holds anything)
    """Return a value as JSON would give it back: tuples are lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
