"""Each press counts once, with the device's time."""

import numpy as np

from experiment.keys import Keys, SimulatedPerson
from experiment.observers import DESIGN, ObserverDesign, draw_observer
from experiment.plan import KeyMap
from tests.experiment.apparatus import ScriptedKeys, make_plan, report
from tests.experiment.displays import make_trials


class Device(ScriptedKeys):
    """Gives the next of prepared readings, whatever the time."""

    def __init__(self, *readings, down=None):
        super().__init__(lambda: 0.0, down=down)
        self.readings = list(readings)

    def read(self):
        return self.readings.pop(0) if self.readings else []


def poll_all(keys, n):
    return [[(p.key, p.time_s) for p in keys.poll()] for _ in range(n)]


def test_a_press_is_reported_once_and_its_release_is_none():
    keys = Keys(Device([report("f", 1.0, is_released=False)], [report("f", 1.0)], []))
    assert poll_all(keys, 3) == [[("f", 1.0)], [], []]


def test_a_tap_between_two_readings_is_a_press():
    keys = Keys(Device([report("f", 1.0)], [report("f", 2.0)]))
    assert poll_all(keys, 2) == [[("f", 1.0)], [("f", 2.0)]]


def test_the_repeats_of_a_held_key_are_no_presses():
    down = [report("f", t, is_released=False) for t in (1.0, 1.5, 1.53)]
    keys = Keys(Device(*([d] for d in down), [report("f", 1.53)], [report("f", 3.0)]))
    assert poll_all(keys, 5) == [[("f", 1.0)], [], [], [], [("f", 3.0)]]
    assert keys.n_repeats == 2


def test_two_keys_are_in_order_of_time_whatever_order_they_are_read_in():
    keys = Keys(Device([report("j", 1.2), report("f", 1.1)]))
    assert poll_all(keys, 1) == [[("f", 1.1), ("j", 1.2)]]


def test_held_keys_are_those_that_are_down():
    keys = Keys(Device([report("f", 1.0, is_released=False)]))
    keys.poll()
    assert keys.find_held(("f", "j")) == ("f",)
    assert keys.find_held(("j",)) == ()


def test_a_lost_release_does_not_make_a_key_dead():
    device = Device([report("f", 1.0, is_released=False)], [report("f", 5.0)], down=set())
    keys = Keys(device)
    keys.poll()
    assert keys.find_held(("f", "j")) == ()
    assert poll_all(keys, 1) == [[("f", 5.0)]]


def test_a_simulated_person_answers_at_onset_plus_rt_and_reads_pages():
    plan = make_plan(make_trials(8, n_practice=2))
    now = [10.0]
    person = SimulatedPerson(
        observer=draw_observer(DESIGN, np.random.default_rng(0)),
        difficulty_by_trial={trial.trial_id: -3.0 for trial in plan.trials},
        key_map=KeyMap(same="f", different="j"),
        rng=np.random.default_rng(1),
        clock=lambda: now[0],
    )
    person.notice_page("space")
    assert person.read() == []
    now[0] = 10.31
    assert [r.key for r in person.read()] == ["space"]
    planned = plan.trials[0]
    person.notice_display(planned, 10.31)
    now[0] = 30.0
    (answer,) = person.read()
    assert 10.6 < answer.time_s < 13
    assert answer.key == ("f" if planned.same_object else "j")
    assert person.find_down() == set()


def test_a_person_who_does_not_answer_presses_nothing():
    design = ObserverDesign(blank=1.0, lapse=0.0)
    plan = make_plan(make_trials(8, n_practice=2))
    person = SimulatedPerson(
        observer=draw_observer(design, np.random.default_rng(0)),
        difficulty_by_trial={},
        key_map=plan.key_map,
        rng=np.random.default_rng(1),
        clock=lambda: 1e9,
    )
    person.notice_display(plan.trials[0], 0.0)
    assert person.read() == []
