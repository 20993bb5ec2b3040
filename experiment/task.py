"""One trial: a central dot, both dots, then the image with both dots flickering until the answer.

Durations are whole frames of the measured refresh; onsets are the times of the flips that showed
them, as recorded, not as planned. RT runs from the flip that shows image and dots together to the
device's own time of the key (methods 1.1).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from experiment.config import SessionConfig
from experiment.endings import Interrupts, SessionAborted
from experiment.gaze import FixationLimit, FixationWatch, Tracker
from experiment.keys import Keys, Press
from experiment.pictures import Pictures
from experiment.plan import KeyMap, PlannedTrial
from experiment.stage import FrameStatistics, Stage, summarise_frames
from experiment.tables import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """The apparatus: screen, keys, tracker or none, and what may interrupt."""

    stage: Stage
    keys: Keys
    tracker: Tracker | None = None
    interrupts: Interrupts = field(default_factory=Interrupts)

    def flip(self) -> float:
        """Show what was drawn and return when; a signal or a closed window ends the session here."""
        self.interrupts.check()
        return self.stage.flip()

    def count_frames(self, duration_s: float) -> int:
        """Return a duration in whole frames of the measured refresh, at least one."""
        return max(round(duration_s * self.stage.refresh_hz), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """What happened in one presentation. Times on the session clock.

    Attributes
    ----------
    interruption
        Why the session ends here, when the outcome is "aborted".
    """

    outcome: Outcome
    response: str | None
    rt_s: float | None
    key: str | None
    n_presses: int
    held_keys: tuple[str, ...]
    started_at: str
    fixation_onset_s: float | None
    dots_onset_s: float | None
    image_onset_s: float | None
    key_time_s: float | None
    end_s: float | None
    frames: FrameStatistics
    interruption: SessionAborted | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a presentation ended: the outcome, and the press that ended it, if one did."""

    outcome: Outcome
    presses: tuple[Press, ...] = ()


def run_trial(
    lab: Lab,
    planned: PlannedTrial,
    *,
    pictures: Pictures | None,
    fixation: FixationLimit | None,
    key_map: KeyMap,
    config: SessionConfig,
) -> TrialRecord:
    """Show one display and return what happened.

    Parameters
    ----------
    lab
        Screen, keys, tracker.
    planned
        The display.
    pictures
        Its pixels; None on a virtual stage.
    fixation
        Where gaze must stay; None without a tracker.
    key_map
        Which key says what.
    config
        Durations and limits.
    """
    watch = TrialWatch(lab, planned, fixation=fixation, key_map=key_map, config=config)
    try:
        # Blank. The pictures go to the graphics card before any clock starts.
        blank_since_s = lab.flip()
        lab.stage.load(pictures)
        watch.wait_until(blank_since_s + config.inter_trial_s)

        # Drift check: gaze rests on the central dot.
        watch.check_drift()

        # Fixation: the central dot alone.
        watch.fixation_onset_s = watch.show(
            lambda _: lab.stage.draw_first_dot(), duration_s=config.fixation_s
        )

        # Both dots, without the image.
        watch.dots_onset_s = watch.show(
            lambda _: lab.stage.draw_both_dots(), duration_s=config.dots_s
        )

        # The image, both dots flickering on it, until the answer or the time-out.
        watch.show_image(duration_s=config.timeout_s)
        watch.end_with("timeout")

        # Blank again.
        watch.end_s = lab.flip()
        watch.look_for_second_key()
    except SessionAborted as interruption:
        return watch.to_record(interruption)
    finally:
        watch.stop()
    return watch.to_record(None)


class TrialWatch:
    """Keeps a trial's times, and notices what ends it: an answer, an early press, a gaze break."""

    def __init__(
        self,
        lab: Lab,
        planned: PlannedTrial,
        *,
        fixation: FixationLimit | None,
        key_map: KeyMap,
        config: SessionConfig,
    ) -> None:
        self.fixation_onset_s: float | None = None
        self.dots_onset_s: float | None = None
        self.image_onset_s: float | None = None
        self.end_s: float | None = None
        self._lab = lab
        self._planned = planned
        self._key_map = key_map
        self._config = config
        self._fixation = FixationWatch(fixation) if fixation and lab.tracker else None
        self._flips_s: list[float] = []
        self._onset_index: int | None = None
        self._n_presses = 0
        self._ended: Ended | None = None
        self._started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        lab.keys.poll()
        self._held = lab.keys.find_held((key_map.same, key_map.different))

    def wait_until(self, time_s: float) -> None:
        """Leave the screen as it is until `time_s`; nothing that is pressed meanwhile counts."""
        while self._lab.stage.now() < time_s:
            self._lab.flip()
            self._look_for_quit(self._lab.keys.poll())

    def check_drift(self) -> None:
        """Show the central dot until gaze rests on it; without a tracker, do nothing.

        Raises
        ------
        SessionAborted
            Gaze doesn't get there.
        """
        tracker, fixation = self._lab.tracker, self._fixation
        if tracker is None or fixation is None:
            return
        tracker.start_trial(self._planned.trial_id)
        begin_s = inside_since_s = self._lab.stage.now()
        while True:
            self._lab.stage.draw_first_dot()
            now_s = self._lab.flip()
            self._look_for_quit(self._lab.keys.poll())
            if not fixation.is_inside(tracker.read_gaze()):
                inside_since_s = now_s
            if now_s - inside_since_s >= self._config.drift_check_s:
                return
            if now_s - begin_s > self._config.drift_check_limit_s:
                raise SessionAborted(
                    "drift check failed",
                    f"gaze did not rest within {self._config.gaze_limit_deg:g} degrees of the "
                    f"central dot for {self._config.drift_check_s:g} s in "
                    f"{self._config.drift_check_limit_s:g} s. Calibrate the tracker and resume",
                )

    def show(self, draw: Callable[[int], None], *, duration_s: float) -> float | None:
        """Show something for whole frames and return its onset; None if the trial has ended."""
        onset_s: float | None = None
        for frame in range(self._lab.count_frames(duration_s)):
            if self._ended:
                return onset_s
            draw(frame)
            now_s = self._lab.flip()
            self._flips_s.append(now_s)
            if frame == 0:
                onset_s = now_s
            self._look(now_s)
        return onset_s

    def show_image(self, *, duration_s: float) -> None:
        """Show the image with both dots flickering until something ends the trial."""
        if self._ended:
            return
        half_cycles_per_frame = 2 * self._config.flicker_hz / self._lab.stage.refresh_hz

        def draw(frame: int) -> None:
            is_on = int(frame * half_cycles_per_frame + 1e-9) % 2 == 0
            self._lab.stage.draw_image(with_dots=is_on)

        draw(0)
        self.image_onset_s = self._lab.flip()
        self._onset_index = len(self._flips_s)
        self._flips_s.append(self.image_onset_s)
        self._lab.keys.device.notice_display(self._planned, self.image_onset_s)
        self._look(self.image_onset_s)
        for frame in range(1, self._lab.count_frames(duration_s)):
            if self._ended:
                return
            draw(frame)
            now_s = self._lab.flip()
            self._flips_s.append(now_s)
            self._look(now_s)

    def end_with(self, outcome: Outcome) -> None:
        """End the trial unless something has ended it already."""
        self._ended = self._ended or Ended(outcome=outcome)

    def look_for_second_key(self) -> None:
        """Notice a second key that was pressed within one frame of the answer, by the device's time.

        Two keys of one frame can be read in two polls; which it is must not hang on the poll.
        """
        presses = self._lab.keys.poll()
        self._look_for_quit(presses)
        if self._ended is None or not self._ended.presses:
            return
        last_s = self._ended.presses[0].time_s + 1 / self._lab.stage.refresh_hz
        also = self._find_answers(p for p in presses if p.time_s <= last_s)
        if also:
            self._n_presses += len(also)
            self._ended = self._judge(self._ended.presses + also)

    def stop(self) -> None:
        """Stop recording gaze."""
        if self._lab.tracker is not None:
            self._lab.tracker.stop_trial()

    def to_record(self, interruption: SessionAborted | None) -> TrialRecord:
        """Return what happened."""
        ended = self._ended
        if interruption is not None or ended is None:
            ended = Ended(outcome="aborted")
        response, rt_s = self._read_answer(ended)
        return TrialRecord(
            outcome=ended.outcome,
            response=response,
            rt_s=rt_s,
            key="+".join(press.key for press in ended.presses) or None,
            n_presses=self._n_presses,
            held_keys=self._held,
            started_at=self._started_at,
            fixation_onset_s=self.fixation_onset_s,
            dots_onset_s=self.dots_onset_s,
            image_onset_s=self.image_onset_s,
            key_time_s=ended.presses[0].time_s if ended.presses else None,
            end_s=self.end_s,
            frames=summarise_frames(
                self._flips_s,
                onset_index=self._onset_index,
                refresh_hz=self._lab.stage.refresh_hz,
                dropped_ratio=self._config.dropped_frame_ratio,
            ),
            interruption=interruption,
        )

    def _read_answer(self, ended: Ended) -> tuple[str | None, float | None]:
        """Return what was said and when; two keys say nothing, but have a time."""
        if ended.outcome not in {"correct", "wrong"} or self.image_onset_s is None:
            return None, None
        first = ended.presses[0]
        response = self._key_map.response_to(first.key) if len(ended.presses) == 1 else None
        return response, first.time_s - self.image_onset_s

    def _look(self, now_s: float) -> None:
        """Notice what this frame brought."""
        presses = self._lab.keys.poll()
        self._look_for_quit(presses)
        answers = self._find_answers(presses)
        self._n_presses += len(answers)
        if answers:
            self._ended = self._judge(answers)
        elif self._has_broken_fixation(now_s):
            self._ended = Ended(outcome="gaze_break")

    def _find_answers(self, presses: Iterable[Press]) -> tuple[Press, ...]:
        return tuple(p for p in presses if self._key_map.response_to(p.key) is not None)

    def _has_broken_fixation(self, now_s: float) -> bool:
        if self._fixation is None or self._lab.tracker is None:
            return False
        return self._fixation.is_broken(self._lab.tracker.read_gaze(), now_s)

    def _judge(self, presses: tuple[Press, ...]) -> Ended:
        """Early, right or wrong; two keys in one frame are no answer, and wrong."""
        onset_s = self.image_onset_s
        if onset_s is None or presses[0].time_s <= onset_s:
            return Ended(outcome="early", presses=presses)
        is_right = self._key_map.response_to(presses[0].key) == self._planned.correct_response
        is_correct = is_right and len(presses) == 1
        return Ended(outcome="correct" if is_correct else "wrong", presses=presses)

    def _look_for_quit(self, presses: list[Press]) -> None:
        if any(press.key == self._config.quit_key for press in presses):
            raise SessionAborted("quit key")
