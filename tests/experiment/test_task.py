"""One trial on the virtual stage: onsets, answers, and everything that can go wrong with a key."""

import itertools
from dataclasses import replace

import pytest

from experiment.endings import SessionAborted
from experiment.gaze import FixationLimit
from experiment.keys import Keys
from experiment.stage import VirtualStage, summarise_frames
from experiment.task import Lab, run_trial
from tests.experiment.apparatus import (
    FAST,
    FailingStage,
    ScriptedGaze,
    ScriptedKeys,
    make_plan,
    report,
    window_closed,
)
from tests.experiment.displays import make_trials

FRAME = 1 / 60
LIMIT = FixationLimit(x_px=100, y_px=100, radius_px=34, loss_s=0.1)


@pytest.fixture
def planned():
    plan = make_plan(make_trials(8, n_practice=2))
    return next(trial for trial in plan.trials if trial.same_object)


def key_map():
    return make_plan(make_trials(8, n_practice=2)).key_map  # same: j, different: f


class RecordingStage(VirtualStage):
    """Writes down what each flip showed."""

    def __init__(self):
        super().__init__()
        self.shown = []
        self.drawn = "blank"

    def draw_first_dot(self):
        self.drawn = "first"

    def draw_both_dots(self):
        self.drawn = "both"

    def draw_image(self, *, with_dots):
        self.drawn = "image+dots" if with_dots else "image"

    def flip(self):
        self.shown.append(self.drawn)
        self.drawn = "blank"
        return super().flip()


def run(planned, presses=(), *, at=(), config=FAST, stage=None, gaze=None, down=None):
    stage = stage or VirtualStage()
    device = ScriptedKeys(stage.now, after_onset=[presses], at=at, down=down)
    lab = Lab(stage=stage, keys=Keys(device), tracker=gaze and gaze(stage.now))
    return run_trial(
        lab,
        planned,
        pictures=None,
        fixation=LIMIT if gaze else None,
        key_map=key_map(),
        config=config,
    )


def test_the_displays_follow_each_other_for_the_configured_frames(planned):
    stage = RecordingStage()
    config = replace(FAST, fixation_s=0.5, dots_s=1.0, timeout_s=0.5)
    run(planned, config=config, stage=stage)
    assert stage.shown.count("first") == 30
    assert stage.shown.count("both") == 60
    first_image = stage.shown.index("image+dots")
    assert (
        stage.shown[first_image : first_image + 30]
        == (["image+dots"] * 6 + ["image"] * 6) * 2 + ["image+dots"] * 6
    )
    assert stage.shown[-1] == "blank"


@pytest.mark.parametrize("refresh_hz", [60, 75, 85, 100, 144, 240])
def test_durations_are_whole_frames_of_the_measured_refresh(planned, refresh_hz):
    record = run(planned, [("j", 0.4, True)], stage=VirtualStage(refresh_hz=refresh_hz))
    assert record.dots_onset_s - record.fixation_onset_s == pytest.approx(
        0.1, abs=0.51 / refresh_hz
    )
    assert record.image_onset_s - record.dots_onset_s == pytest.approx(0.1, abs=0.51 / refresh_hz)
    assert record.rt_s == pytest.approx(0.4)


@pytest.mark.parametrize("refresh_hz", [60, 75, 100, 144])
def test_the_dots_flicker_at_five_hertz_at_any_refresh(planned, refresh_hz):
    stage = RecordingStage()
    stage.refresh_hz = refresh_hz
    run(planned, config=replace(FAST, timeout_s=4.0), stage=stage)
    shown = [s == "image+dots" for s in stage.shown if s.startswith("image")]
    changes = sum(a != b for a, b in itertools.pairwise(shown))
    assert changes == 2 * 5 * 4 - 1
    assert sum(shown) / len(shown) == pytest.approx(0.5, abs=2.5 / refresh_hz)


def test_rt_runs_from_the_onset_flip_to_the_device_s_time_not_to_the_poll(planned):
    record = run(planned, [("j", 0.5003, True)])
    assert record.outcome == "correct"
    assert record.response == "same"
    assert record.key == "j"
    assert record.rt_s == pytest.approx(0.5003, abs=1e-9)
    assert record.end_s > record.image_onset_s + record.rt_s


def test_the_other_key_is_wrong_and_no_key_is_a_timeout(planned):
    wrong = run(planned, [("f", 0.3, True)])
    assert (wrong.outcome, wrong.response) == ("wrong", "different")
    late = run(planned)
    assert (late.outcome, late.response, late.rt_s, late.key) == ("timeout", None, None, None)
    assert late.end_s - late.image_onset_s == pytest.approx(1.0, abs=FRAME / 2)


def test_a_press_during_fixation_or_dots_is_early_and_ends_the_trial(planned):
    for time_s in (0.12, 0.2):
        record = run(planned, at=[report("j", time_s)])
        assert record.outcome == "early"
        assert record.rt_s is None
        assert record.image_onset_s is None
        assert record.key_time_s == time_s


def test_a_press_just_before_onset_that_is_read_after_it_is_early(planned):
    record = run(planned, [("j", -0.002, True)])
    assert record.outcome == "early"
    assert record.image_onset_s is not None
    assert record.rt_s is None


def test_a_press_before_the_trial_is_forgotten(planned):
    record = run(planned, [("j", 0.3, True)], at=[report("f", 0.01)])
    assert record.outcome == "correct"


def test_a_key_held_from_before_does_not_answer_but_is_recorded(planned):
    stage = VirtualStage()
    held = report("j", -1.0, is_released=False)
    device = ScriptedKeys(stage.now, at=[held], after_onset=[[]])
    keys = Keys(device)
    keys.poll()
    lab = Lab(stage=stage, keys=keys)
    record = run_trial(lab, planned, pictures=None, fixation=None, key_map=key_map(), config=FAST)
    assert record.outcome == "timeout"
    assert record.held_keys == ("j",)
    assert record.n_presses == 0


def test_the_repeat_of_a_held_key_is_no_answer(planned):
    stage = VirtualStage()
    device = ScriptedKeys(
        stage.now,
        at=[report("j", -1.0, is_released=False)],
        after_onset=[[("j", 0.1, False), ("j", 0.13, False), ("f", 0.5, True)]],
    )
    keys = Keys(device)
    keys.poll()
    lab = Lab(stage=stage, keys=keys)
    record = run_trial(lab, planned, pictures=None, fixation=None, key_map=key_map(), config=FAST)
    assert (record.outcome, record.key) == ("wrong", "f")
    assert record.rt_s == pytest.approx(0.5)


def test_both_keys_in_one_frame_are_recorded_as_both_and_count_as_wrong(planned):
    record = run(planned, [("f", 0.5041, True), ("j", 0.504, True)])
    assert record.outcome == "wrong"
    assert record.key == "j+f"
    assert record.response is None
    assert record.rt_s == pytest.approx(0.504)
    assert record.n_presses == 2


def test_both_keys_within_a_frame_count_as_both_whichever_poll_reads_them(planned):
    frame_edge_s = 24 * FRAME
    record = run(planned, [("j", frame_edge_s - 0.001, True), ("f", frame_edge_s + 0.001, True)])
    assert (record.outcome, record.key, record.n_presses) == ("wrong", "j+f", 2)
    record = run(planned, [("j", 0.403, True), ("f", 0.403 + 1.1 * FRAME, True)])
    assert (record.outcome, record.key) == ("correct", "j")


def test_the_first_of_two_keys_in_different_frames_is_the_answer(planned):
    record = run(planned, [("j", 0.40, True), ("f", 0.45, True)])
    assert (record.outcome, record.key) == ("correct", "j")


def test_other_keys_are_ignored(planned):
    record = run(planned, [("x", 0.2, True), ("space", 0.25, True), ("j", 0.3, True)])
    assert (record.outcome, record.key, record.n_presses) == ("correct", "j", 1)


def test_the_quit_key_ends_the_session_with_an_aborted_row(planned):
    record = run(planned, [("escape", 0.2, True)])
    assert record.outcome == "aborted"
    assert record.interruption.reason == "quit key"
    assert record.rt_s is None


def test_a_closed_window_is_an_aborted_row_too(planned):
    record = run(planned, stage=FailingStage(at_flip=12, error=window_closed()))
    assert record.outcome == "aborted"
    assert record.interruption.reason == "window closed"


def test_gaze_that_leaves_the_dot_ends_the_trial(planned):
    def gaze(clock):
        return ScriptedGaze(clock, [(0, (100, 100)), (0.9, (140, 100))])

    record = run(planned, gaze=gaze, config=replace(FAST, timeout_s=3.0))
    assert record.outcome == "gaze_break"
    assert record.end_s == pytest.approx(0.9, abs=3 * FRAME)
    assert record.response is None


def test_gaze_within_the_limit_and_a_blink_break_nothing(planned):
    def gaze(clock):
        return ScriptedGaze(clock, [(0, (130, 100)), (0.7, None), (0.75, (100, 130))])

    record = run(planned, [("j", 0.9, True)], gaze=gaze)
    assert record.outcome == "correct"


def test_a_lost_eye_breaks_once_it_lasts(planned):
    def gaze(clock):
        return ScriptedGaze(clock, [(0, (100, 100)), (0.7, None)])

    assert run(planned, gaze=gaze).outcome == "gaze_break"


def test_the_drift_check_waits_for_gaze_and_gives_up_with_the_remedy(planned):
    def late(clock):
        return ScriptedGaze(clock, [(0, (500, 500)), (1.5, (100, 100))])

    record = run(planned, [("j", 0.4, True)], gaze=late)
    assert record.outcome == "correct"
    assert record.fixation_onset_s >= 1.5 + FAST.drift_check_s

    def never(clock):
        return ScriptedGaze(clock, [(0, (500, 500))])

    record = run(planned, gaze=never)
    assert record.outcome == "aborted"
    assert record.interruption.reason == "drift check failed"
    assert "Calibrate the tracker and resume" in record.interruption.detail


def test_recording_is_named_after_the_trial_and_always_stopped(planned):
    stage = FailingStage(at_flip=50, error=window_closed())
    tracker = ScriptedGaze(stage.now, [(0, (100, 100))])
    lab = Lab(stage=stage, keys=Keys(ScriptedKeys(stage.now)), tracker=tracker)
    run_trial(lab, planned, pictures=None, fixation=LIMIT, key_map=key_map(), config=FAST)
    assert tracker.labels == [planned.trial_id, "stop"]


def test_a_trial_without_tracker_needs_no_gaze(planned):
    assert run(planned, [("j", 0.4, True)]).outcome == "correct"


def test_frame_statistics_by_hand():
    flips = [0.0, 0.016, 0.032, 0.080, 0.096]
    frames = summarise_frames(flips, onset_index=3, refresh_hz=60, dropped_ratio=1.5)
    assert frames.n_frames == 5
    assert frames.median_s == pytest.approx(0.016)
    assert frames.longest_s == pytest.approx(0.048)
    assert frames.n_dropped == 1
    assert frames.is_onset_dropped is True
    steady = summarise_frames(flips, onset_index=1, refresh_hz=60, dropped_ratio=1.5)
    assert steady.is_onset_dropped is False
    none = summarise_frames([], onset_index=None, refresh_hz=60, dropped_ratio=1.5)
    assert (none.n_frames, none.median_s, none.is_onset_dropped) == (0, None, None)


class LateStage(VirtualStage):
    """Drops one frame, at a given flip."""

    def __init__(self, late_flip):
        super().__init__()
        self.late_flip = late_flip

    def flip(self):
        if self._n_flips + 1 == self.late_flip:
            self._n_flips += 1
        return super().flip()


def test_a_dropped_frame_at_onset_is_marked_and_rt_still_runs_from_the_real_flip(planned):
    reference = run(planned, [("j", 0.4, True)])
    onset_flip = round(reference.image_onset_s * 60)
    record = run(planned, [("j", 0.4, True)], stage=LateStage(onset_flip))
    assert record.frames.is_onset_dropped is True
    assert record.frames.n_dropped == 1
    assert record.rt_s == pytest.approx(0.4)
    assert record.image_onset_s == pytest.approx(reference.image_onset_s + FRAME)


def test_session_aborted_says_reason_and_detail():
    assert str(SessionAborted("quit key")) == "quit key"
    assert str(SessionAborted("storage failed", "no room")) == "storage failed: no room"
