"""Keys, gaze and labs that do as they are told, on the virtual stage."""

from dataclasses import asdict, replace

from experiment.config import SessionConfig, tabulate_config
from experiment.endings import SessionAborted
from experiment.instructions import read_instructions
from experiment.keys import KeyReport, Keys, SimulatedPerson
from experiment.observers import DESIGN, draw_observer
from experiment.plan import Identity, plan_session
from experiment.recorder import Recorder
from experiment.runs import name_run
from experiment.session import Script
from experiment.stage import VirtualStage
from experiment.task import Lab

FAST = SessionConfig(
    fixation_s=0.1,
    dots_s=0.1,
    timeout_s=1.0,
    inter_trial_s=0.05,
    feedback_s=0.05,
    n_key_practice=1,
    n_practice=2,
    n_blocks=2,
)
APPARATUS = {
    "refresh_hz": 60.0,
    "keyboard": "simulated",
    "tracker": None,
    "despite": None,
    "is_simulated": True,
}


class ScriptedKeys:
    """Reports key events at fixed times.

    Parameters
    ----------
    clock
        The stage's clock.
    after_onset
        (key, seconds after the image's onset, released at once?) for each display in turn.
    at
        Reports at absolute times.
    """

    name = "scripted"
    is_simulated = True

    def __init__(self, clock, *, after_onset=(), at=(), down=None):
        self.clock = clock
        self.after_onset = list(after_onset)
        self.pending = list(at)
        self.down = down
        self.onsets = []

    def read(self):
        now = self.clock()
        due = [report for report in self.pending if report.time_s <= now]
        self.pending = [report for report in self.pending if report.time_s > now]
        return due

    def find_down(self):
        return self.down

    def notice_page(self, key):
        self.pending.append(report(key, self.clock() + 0.05))

    def notice_display(self, _planned, onset_s):
        self.onsets.append(onset_s)
        if self.after_onset:
            for key, delay_s, is_released in self.after_onset.pop(0):
                self.pending.append(report(key, onset_s + delay_s, is_released=is_released))

    def close(self):
        pass


def report(key, time_s, *, is_released=True):
    return KeyReport(key=key, time_s=time_s, is_released=is_released)


class ScriptedGaze:
    """Gaze at a place that changes with time: [(from second, place or None), ...]."""

    name = "scripted gaze"

    def __init__(self, clock, places):
        self.clock = clock
        self.places = places
        self.labels = []

    def read_gaze(self):
        now = self.clock()
        return [place for since_s, place in self.places if since_s <= now][-1]

    def calibrate(self):
        pass

    def start_trial(self, label):
        self.labels.append(label)

    def stop_trial(self):
        self.labels.append("stop")

    def close(self):
        pass


class FailingStage(VirtualStage):
    """Ends or breaks at a flip, as a closed window or a lost driver does."""

    def __init__(self, *, at_flip, error):
        super().__init__()
        self.at_flip = at_flip
        self.error = error

    def flip(self):
        time_s = super().flip()
        if self._n_flips == self.at_flip:
            raise self.error
        return time_s


def window_closed():
    return SessionAborted("window closed")


def make_plan(trials, *, participant="7", number=7, session="1", config=FAST):
    identity = Identity(participant_id=participant, session=session, number=number)
    return plan_session(trials, identity, config=config)


def make_simulated_lab(plan, rng, *, stage=None, interrupts=None):
    stage = stage or VirtualStage()
    person = SimulatedPerson(
        observer=draw_observer(replace(DESIGN, timeout_s=FAST.timeout_s), rng),
        difficulty_by_trial={},
        key_map=plan.key_map,
        rng=rng,
        clock=stage.now,
    )
    extra = {} if interrupts is None else {"interrupts": interrupts}
    return Lab(stage=stage, keys=Keys(person), **extra)


def make_script(plan, *, config=FAST, language="en", find_fixation=lambda _: None):
    return Script(
        plan=plan,
        config=config,
        words=read_instructions(language),
        find_pictures=lambda _: None,
        find_fixation=find_fixation,
    )


def make_recorder(folder, plan, *, config=FAST, run=1, about=None):
    identity = plan.identity
    files = name_run(
        folder, participant_id=identity.participant_id, session=identity.session, run=run
    )
    about = about or {
        "trials_sha256": "x",
        "trial_ids": [trial.trial_id for trial in plan.trials],
        "blocks": [trial.block for trial in plan.trials],
        "key_map": asdict(plan.key_map),
        "list_number": plan.list_number,
        "number": identity.number,
        "config": tabulate_config(config),
    }
    return Recorder(files, about, plan=plan, apparatus=APPARATUS), files
