"""A session on the virtual stage: complete, ended in every way, resumed."""

import json
import os
import signal
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from experiment.endings import Interrupts, SessionAborted
from experiment.gaze import FixationLimit
from experiment.keys import Keys
from experiment.row_file import RowFile, read_rows
from experiment.session import run_session
from experiment.stage import VirtualStage
from experiment.task import Lab
from stimuli.errors import InputError
from tests.experiment.apparatus import (
    FAST,
    FailingStage,
    ScriptedGaze,
    ScriptedKeys,
    make_plan,
    make_recorder,
    make_script,
    make_simulated_lab,
    window_closed,
)
from tests.experiment.displays import make_trials


@pytest.fixture
def plan():
    return make_plan(make_trials(8, n_practice=2))


def run(folder, plan, *, stage=None, seed=0, interrupts=None, config=FAST):
    lab = make_simulated_lab(plan, np.random.default_rng(seed), stage=stage, interrupts=interrupts)
    recorder, files = make_recorder(folder, plan, config=config)
    run_session(lab, make_script(plan, config=config), recorder)
    return files


def read_sidecar(files):
    return json.loads(files.sidecar.read_text(encoding="utf-8"))


def test_a_complete_session_has_one_row_per_position_in_order(tmp_path, plan):
    files = run(tmp_path, plan)
    rows = read_rows(files.rows).rows
    assert [int(row["position"]) for row in rows] == list(range(1, 11))
    assert [row["trial_id"] for row in rows] == [trial.trial_id for trial in plan.trials]
    assert [row["is_practice"] for row in rows] == ["True"] * 2 + ["False"] * 8
    assert [row["block"] for row in rows] == ["0"] * 2 + ["1"] * 4 + ["2"] * 4
    assert {row["is_simulated"] for row in rows} == {"True"}
    assert {row["resumed"] for row in rows} == {"False"}
    (segment,) = read_sidecar(files)["segments"]
    assert segment["ended_because"] == "complete"
    assert segment["n_rows"] == 10
    assert segment["started_at"] <= segment["ended_at"]


class ReadingStage(VirtualStage):
    """Keeps the words that were shown."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def load(self, _):
        self.texts.append("a display")

    def draw_text(self, text):
        if not self.texts or self.texts[-1] != text:
            self.texts.append(text)


def test_people_read_instructions_keys_practice_breaks_and_debrief_in_order(tmp_path, plan):
    stage = ReadingStage()
    run(tmp_path, plan, stage=stage)
    firsts = [text.splitlines()[0] for text in stage.texts]
    expected = [
        "Welcome, and thank you for taking part.",
        "Both dots on the SAME object: press J",
        "Now some practice: 2 photographs at most.",
        "Part 1 of 2",
        "That was the last one. Thank you!",
    ]
    assert [first for first in firsts if first in expected] == expected
    assert sum(first.startswith("Press the key for") for first in firsts) == 2
    assert sum(" is done. " in first for first in firsts) == 1
    feedback = [first for first in firsts if first in {"Correct", "Wrong", "Too slow"}]
    assert len(feedback) == 2  # in practice only


def test_the_wrong_key_in_key_practice_is_asked_again(tmp_path, plan):
    class Stubborn(ScriptedKeys):
        n_wrong = 2

        def notice_page(self, key):
            keys = {plan.key_map.same: plan.key_map.different}
            keys |= {b: a for a, b in keys.items()}
            if key in keys and self.n_wrong:
                self.n_wrong -= 1
                key = keys[key]
            super().notice_page(key)

    stage = ReadingStage()
    lab = Lab(stage=stage, keys=Keys(Stubborn(stage.now)))
    recorder, _ = make_recorder(tmp_path, plan)
    run_session(lab, make_script(plan), recorder)
    assert sum(text.startswith("That was the other key.") for text in stage.texts) == 2


def test_a_tone_marks_each_error_and_nothing_else(tmp_path, plan):
    stage = VirtualStage()
    device = ScriptedKeys(
        stage.now, after_onset=[[(plan.key_map.same, 0.3, True)] for _ in plan.trials]
    )
    recorder, files = make_recorder(tmp_path, plan)
    run_session(Lab(stage=stage, keys=Keys(device)), make_script(plan), recorder)
    outcomes = Counter(row["outcome"] for row in read_rows(files.rows).rows)
    assert stage.n_tones == outcomes["wrong"] > 0
    assert outcomes["wrong"] == sum(not trial.same_object for trial in plan.trials)


def test_gaze_breaks_are_told_and_shown_again_at_the_end_of_the_block(tmp_path):
    config = replace(FAST, n_practice=0, repeat_outcomes=("gaze_break",))
    plan = make_plan(make_trials(8), config=config)
    stage = ReadingStage()
    device = ScriptedKeys(stage.now, after_onset=[[(plan.key_map.same, 0.3, True)]] * 20)

    class GlancingAway(ScriptedGaze):
        def read_gaze(self):
            is_second = len(device.onsets) == 2 and self.clock() - device.onsets[1] < 0.1
            return (500, 100) if is_second else (100, 100)

    gaze = GlancingAway(stage.now, [])
    limit = FixationLimit(x_px=100, y_px=100, radius_px=30, loss_s=0.1)
    recorder, files = make_recorder(tmp_path, plan, config=config)
    lab = Lab(stage=stage, keys=Keys(device), tracker=gaze)
    run_session(lab, make_script(plan, config=config, find_fixation=lambda _: limit), recorder)
    rows = read_rows(files.rows).rows
    (broken,) = [row for row in rows if row["outcome"] == "gaze_break"]
    again = [row for row in rows if row["position"] == broken["position"]]
    assert [row["presentation"] for row in again] == ["1", "2"]
    assert rows.index(again[1]) == 4  # behind the four of its block
    assert "Please keep looking at the dot in the middle" in stage.texts


FAULTS = {
    "window closed": window_closed(),
    "error": RuntimeError("the driver went away"),
}


@pytest.mark.parametrize("reason", FAULTS)
@pytest.mark.parametrize("at_flip", [5, 120, 400, 590])
def test_whatever_ends_a_session_the_rows_are_whole_and_the_sidecar_says_why(
    tmp_path, plan, reason, at_flip
):
    stage = FailingStage(at_flip=at_flip, error=FAULTS[reason])
    with pytest.raises(type(FAULTS[reason])):
        run(tmp_path, plan, stage=stage)
    recorder, files = make_recorder(tmp_path, plan)
    recorder.finish("complete")
    first, _ = read_sidecar(files)["segments"]
    assert first["ended_because"] == reason
    if reason == "error":
        assert "the driver went away" in first["detail"]
    rows = read_rows(files.rows).rows
    assert first["n_rows"] == len(rows)
    assert all(row["outcome"] != "aborted" for row in rows[:-1])


@pytest.mark.parametrize("at_flip", [5, 160, 300, 400, 590])
def test_a_resumed_session_completes_the_list_without_repeat_or_gap(tmp_path, plan, at_flip):
    with pytest.raises(SessionAborted):
        run(tmp_path, plan, stage=FailingStage(at_flip=at_flip, error=window_closed()))
    files = run(tmp_path, plan, seed=1)
    rows = read_rows(files.rows).rows
    finished = [int(row["position"]) for row in rows if row["outcome"] != "aborted"]
    assert finished == list(range(1, 11))
    resumed = [row for row in rows if row["resumed"] == "True"]
    assert {row["segment"] for row in resumed} == {"1"}
    first, second = read_sidecar(files)["segments"]
    assert second["n_rows_before"] == first["n_rows"] == len(rows) - len(resumed)
    if first["n_rows"]:
        assert second["gap_s"] >= 0


def test_a_resumed_session_says_welcome_back_and_tries_the_keys(tmp_path, plan):
    with pytest.raises(SessionAborted):
        run(tmp_path, plan, stage=FailingStage(at_flip=500, error=window_closed()))
    stage = ReadingStage()
    run(tmp_path, plan, stage=stage)
    assert stage.texts[0].startswith("Welcome back")
    assert any(text.startswith("Press the key for SAME") for text in stage.texts)


class SignallingStage(VirtualStage):
    """Sends this program a signal at a flip, as Ctrl-C or a shutdown does."""

    def __init__(self, number, at_flip=400):
        super().__init__()
        self.number = number
        self.at_flip = at_flip

    def flip(self):
        time_s = super().flip()
        if self._n_flips == self.at_flip:
            os.kill(os.getpid(), self.number)
        return time_s


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGINT, "interrupted (Ctrl-C)"), (signal.SIGTERM, "terminated (SIGTERM)")],
)
def test_a_signal_ends_the_session_between_two_flips(tmp_path, plan, number, reason):
    before = signal.getsignal(number)
    with pytest.raises(SessionAborted, match=reason.split(" ")[0]):
        run(tmp_path, plan, stage=SignallingStage(number))
    assert signal.getsignal(number) is before
    recorder, files = make_recorder(tmp_path, plan)
    recorder.finish("complete")
    assert read_sidecar(files)["segments"][0]["ended_because"] == reason


def test_a_second_ctrl_c_ends_the_program_at_once():
    interrupts = Interrupts()
    with interrupts.listening():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_the_quit_key_works_on_pages_too(tmp_path, plan):
    class Quitting(ScriptedKeys):
        def notice_page(self, _):
            super().notice_page("escape")

    stage = VirtualStage()
    recorder, files = make_recorder(tmp_path, plan)
    with pytest.raises(SessionAborted, match="quit key"):
        run_session(Lab(stage=stage, keys=Keys(Quitting(stage.now))), make_script(plan), recorder)
    assert read_sidecar(files)["segments"][0]["ended_because"] == "quit key"


def test_a_full_disk_ends_the_session_with_every_row_and_the_reason(tmp_path, plan, monkeypatch):
    real = RowFile.append

    def append(self, row):
        real(self, row)
        if row.position == 5:
            raise SessionAborted("storage failed", "the disk is full")

    monkeypatch.setattr(RowFile, "append", append)
    with pytest.raises(SessionAborted, match="the disk is full"):
        run(tmp_path, plan)
    monkeypatch.undo()
    recorder, files = make_recorder(tmp_path, plan)
    recorder.finish("complete")
    first = read_sidecar(files)["segments"][0]
    assert (first["ended_because"], first["detail"]) == ("storage failed", "the disk is full")
    assert len(read_rows(files.rows).rows) == 5


def test_a_run_that_began_otherwise_is_not_resumed(tmp_path, plan):
    about = {
        "trials_sha256": "a",
        "trial_ids": ["x"],
        "blocks": [1],
        "key_map": {"same": "f"},
        "list_number": 1,
        "number": 1,
        "config": {"timeout_s": 1.0, "keys": ("f", "j")},
    }
    recorder, files = make_recorder(tmp_path, plan, about=about)
    recorder.finish("complete")
    make_recorder(tmp_path, plan, about=about)[0].finish("complete")
    changed = about | {"trials_sha256": "b", "config": {"timeout_s": 2.0, "keys": ("f", "j")}}
    before = files.rows.read_bytes()
    with pytest.raises(InputError, match="other values of 'trials_sha256', 'config timeout_s'"):
        make_recorder(tmp_path, plan, about=changed)
    assert files.rows.read_bytes() == before


def test_rows_that_are_not_those_planned_are_refused(tmp_path, plan):
    files = run(tmp_path, plan)
    files.sidecar.unlink()
    other = make_plan(make_trials(8, n_practice=2), participant="7", session="1", number=8)
    with pytest.raises(InputError, match=r"row 2: trial .* where .* is planned"):
        make_recorder(tmp_path, other)


def test_rows_without_their_sidecar_can_still_be_resumed(tmp_path, plan):
    with pytest.raises(SessionAborted):
        run(tmp_path, plan, stage=FailingStage(at_flip=500, error=window_closed()))
    for path in tmp_path.glob("*.json"):
        path.unlink()
    files = run(tmp_path, plan)
    rows = read_rows(files.rows).rows
    finished = [int(row["position"]) for row in rows if row["outcome"] != "aborted"]
    assert finished == list(range(1, 11))
    assert rows[-1]["resumed"] == "True"
