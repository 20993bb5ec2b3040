"""A run's memory: rows and sidecar on disk, and what they say of the displays shown so far."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from experiment.endings import Ending, SessionAborted
from experiment.plan import Done, PlannedTrial, SessionPlan, count_presentations
from experiment.row_file import FinishedRows, RowFile, read_rows
from experiment.runs import RunFiles
from experiment.sidecar import (
    check_rows_match,
    check_same_run,
    close_segment,
    mend_segments,
    open_segment,
    read_segments,
    write_sidecar,
)
from experiment.tables import Outcome, ResponseRow
from experiment.task import TrialRecord


class Recorder:
    """Writes one segment of a run.

    Parameters
    ----------
    files
        The run's files; when its rows exist, the run is resumed.
    about
        What the sidecar says of the run as a whole.
    plan
        The session.
    apparatus
        What the sidecar says of this segment; `refresh_hz`, `keyboard`, `tracker`, `despite` and
        `is_simulated` also stand in each row.
    syncs_each_row
        Wait for the disk after every row; see `RowFile`.

    Raises
    ------
    InputError
        The run on disk isn't the one that is planned, or can't be read or written.
    """

    def __init__(
        self,
        files: RunFiles,
        about: Mapping[str, Any],
        *,
        plan: SessionPlan,
        apparatus: Mapping[str, Any],
        syncs_each_row: bool = True,
    ) -> None:
        self._files = files
        self._about = about
        self._plan = plan
        self._apparatus = apparatus
        finished = self._read_finished(about)
        segments = read_segments(files.sidecar)
        mend_segments(segments, finished)
        self._segments: list[Mapping[str, Any]] = list(segments)
        self._segment = open_segment(
            number=len(self._segments), finished=finished, apparatus=apparatus
        )
        self.done = _list_done(finished)
        self.n_rows_before = len(self.done)
        if finished is None:
            self._rows = RowFile.create(files.rows)
        else:
            self._rows = RowFile.reopen(files.rows, finished)
        self._rows.syncs_each_row = syncs_each_row
        self._write_sidecar()

    @property
    def is_resumed(self) -> bool:
        """Whether rows were there before."""
        return self._segment.number > 0 or self.n_rows_before > 0

    def record(self, planned: PlannedTrial, record: TrialRecord) -> None:
        """Write one presentation; it is on the disk when this returns.

        Raises
        ------
        SessionAborted
            The disk is full or gone.
        """
        self._rows.append(self._make_row(planned, record))
        self.done.append(Done(position=planned.position, outcome=record.outcome))

    def finish(self, because: Ending, detail: str = "") -> None:
        """Write why and when this segment ended, and close the files.

        Raises
        ------
        SessionAborted
            The sidecar can't be written; the rows are on disk all the same.
        """
        self._rows.close()
        self._segment = close_segment(
            self._segment,
            because=because,
            detail=detail,
            n_rows=self._rows.n_appended,
        )
        try:
            self._write_sidecar()
        except OSError as error:
            raise SessionAborted(
                "storage failed",
                f"{self._files.sidecar} can't be written ({error}); the rows in {self._files.rows} "
                f"are whole. {detail}",
            ) from error

    def _read_finished(self, about: Mapping[str, Any]) -> FinishedRows | None:
        if not self._files.rows.is_file():
            return None
        check_same_run(self._files.sidecar, about)
        finished = read_rows(self._files.rows)
        check_rows_match(self._files.rows, finished, self._plan)
        return finished

    def _write_sidecar(self) -> None:
        write_sidecar(self._files.sidecar, self._about, [*self._segments, asdict(self._segment)])

    def _make_row(self, planned: PlannedTrial, record: TrialRecord) -> ResponseRow:
        plan, apparatus = self._plan, self._apparatus
        return ResponseRow(
            participant_id=plan.identity.participant_id,
            session=plan.identity.session,
            run=self._files.run,
            list_number=plan.list_number,
            position=planned.position,
            presentation=count_presentations(self.done, planned.position) + 1,
            block=planned.block,
            is_practice=planned.is_practice,
            trial_id=planned.trial_id,
            outcome=record.outcome,
            response=record.response,
            rt_s=record.rt_s,
            key=record.key,
            same_key=plan.key_map.same,
            n_presses=record.n_presses,
            held_keys="+".join(record.held_keys) or None,
            started_at=record.started_at,
            fixation_onset_s=record.fixation_onset_s,
            dots_onset_s=record.dots_onset_s,
            image_onset_s=record.image_onset_s,
            key_time_s=record.key_time_s,
            end_s=record.end_s,
            n_frames=record.frames.n_frames,
            median_frame_s=record.frames.median_s,
            longest_frame_s=record.frames.longest_s,
            n_dropped_frames=record.frames.n_dropped,
            is_onset_dropped=record.frames.is_onset_dropped,
            refresh_hz=apparatus["refresh_hz"],
            keyboard=apparatus["keyboard"],
            tracker=apparatus["tracker"],
            resumed=self.is_resumed,
            segment=self._segment.number,
            despite=apparatus["despite"],
            is_simulated=apparatus["is_simulated"],
        )


def _list_done(finished: FinishedRows | None) -> list[Done]:
    rows = finished.rows if finished else ()
    return [
        Done(position=int(row["position"]), outcome=cast("Outcome", row["outcome"])) for row in rows
    ]
