"""Counterbalancing, order, and what is shown next."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.plan import (
    Done,
    Identity,
    choose_keys,
    choose_list,
    choose_next,
    clean_label,
    find_number,
    plan_session,
)
from stimuli.errors import InputError, TableError
from tests.experiment.apparatus import FAST, make_plan
from tests.experiment.displays import make_trials

CONFIG = replace(FAST, n_practice=0, n_blocks=4)


def test_over_400_people_every_display_is_shown_equally_often_and_keys_are_balanced():
    trials = make_trials(16)
    shown, keys_by_list, orders = Counter(), Counter(), set()
    for number in range(1, 401):
        plan = make_plan(trials, participant=f"p{number}", number=number, config=CONFIG)
        shown.update(trial.trial_id for trial in plan.trials)
        keys_by_list[plan.list_number, plan.key_map.same] += 1
        orders.add(tuple(trial.scene_id for trial in plan.trials))
    assert set(shown.values()) == {100}
    assert set(keys_by_list.values()) == {50}
    assert len(keys_by_list) == 8
    assert len(orders) == 400


@given(n_people=st.integers(1, 40))
def test_after_any_number_of_people_displays_are_within_one_showing_of_each_other(n_people):
    identities = [
        Identity(participant_id=str(k), session="1", number=k) for k in range(1, n_people + 1)
    ]
    counts = Counter(dict.fromkeys(range(4), 0))
    counts.update(choose_list(identity, n_lists=4) for identity in identities)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_the_same_participant_always_gets_the_same_order():
    trials = make_trials(16)
    assert make_plan(trials, config=CONFIG) == make_plan(trials, config=CONFIG)


def test_the_order_depends_on_participant_and_session():
    trials = make_trials(16)
    first = make_plan(trials, config=CONFIG)
    assert first.trials != make_plan(trials, participant="11", config=CONFIG).trials
    second = make_plan(trials, session="2", config=CONFIG)
    assert [t.scene_id for t in first.trials] != [t.scene_id for t in second.trials]


def test_a_second_session_shows_each_scene_in_another_condition_and_keeps_the_keys():
    trials = make_trials(16)
    first, second = (make_plan(trials, session=s, config=CONFIG) for s in ("1", "2"))
    assert not {t.trial_id for t in first.trials} & {t.trial_id for t in second.trials}
    assert first.key_map == second.key_map


def test_blocks_are_fixed_sets_of_scenes_with_equally_many_of_each_condition():
    trials = make_trials(16)
    for number in (1, 2, 3):
        plan = make_plan(trials, participant=str(number), number=number, config=CONFIG)
        for block in range(1, 5):
            shown = [t for t in plan.trials if t.block == block]
            numbers = sorted(int(t.scene_id[1:]) for t in shown)
            assert numbers == list(range(numbers[0], numbers[0] + 4))
            assert numbers[0] % 4 == 0
            assert sum(t.same_object for t in shown) == 2


def test_scenes_are_shuffled_within_blocks_and_blocks_among_themselves():
    trials = make_trials(64)
    plan = make_plan(trials, config=CONFIG)
    numbers = [int(t.scene_id[1:]) for t in plan.trials]
    assert numbers != sorted(numbers)
    firsts = [min(numbers[k : k + 16]) for k in range(0, 64, 16)]
    assert sorted(firsts) == [0, 16, 32, 48]
    assert any(
        make_plan(trials, participant=str(k), config=CONFIG).trials[0].scene_id[1:] >= "016"
        for k in range(5)
    )
    fixed = make_plan(trials, config=replace(CONFIG, shuffle_blocks=False))
    assert max(int(t.scene_id[1:]) for t in fixed.trials[:16]) == 15


def test_practice_comes_first_from_its_own_displays_one_per_scene():
    plan = make_plan(make_trials(8, n_practice=6), config=replace(FAST, n_practice=5))
    practice = [t for t in plan.trials if t.is_practice]
    assert [t.position for t in practice] == [1, 2, 3, 4, 5]
    assert {t.block for t in practice} == {0}
    assert len({t.scene_id for t in practice}) == 5
    assert {t.scene_id for t in practice} <= {f"s{k:03d}" for k in range(8, 14)}
    assert not any(t.scene_id >= "s008" for t in plan.trials if not t.is_practice)


def test_practice_can_come_from_another_benchmark():
    identity = Identity(participant_id="1", session="1", number=1)
    other = make_trials(3)
    other["scene_id"] = "x" + other["scene_id"]
    plan = plan_session(
        make_trials(8), identity, config=replace(FAST, n_practice=2), practice=other
    )
    assert all(t.scene_id.startswith("x") for t in plan.trials if t.is_practice)


def test_no_practice_displays_is_an_error_with_two_remedies():
    with pytest.raises(InputError, match=r"--practice FOLDER.*--practice none"):
        make_plan(make_trials(8), config=replace(FAST, n_practice=2))


def test_too_few_displays_for_the_blocks_are_refused():
    with pytest.raises(InputError, match="2 displays don't fill 4 blocks"):
        make_plan(make_trials(2), config=CONFIG)


def test_a_table_of_practice_only_is_refused():
    with pytest.raises(InputError, match="no test displays"):
        make_plan(make_trials(0, n_practice=4))


def test_half_named_lists_are_refused_by_the_plan():
    trials = make_trials(8)
    trials.loc[3, "list_id"] = "a"
    with pytest.raises(TableError, match="have no list_id"):
        make_plan(trials, config=CONFIG)


@pytest.mark.parametrize(
    ("participant", "taken", "number"),
    [("07", [], 7), ("sub-007", [], 7), ("Zoë", [], 1), ("Zoë", [1, 5], 6), ("2024-P12", [], 12)],
)
def test_the_number_is_the_last_digits_of_the_id_or_the_next_free_one(participant, taken, number):
    assert find_number(participant, taken=taken) == number


def test_participant_zero_is_refused():
    with pytest.raises(InputError, match="count people from 1"):
        find_number("p0")


def test_labels_are_composed_and_control_characters_refused():
    assert clean_label(" Zoe\u0308 ", what="id") == "Zoë"
    with pytest.raises(InputError, match="holds a control character"):
        clean_label("a\nb", what="id")
    with pytest.raises(InputError, match="the id is empty"):
        clean_label("  ", what="the id")


def test_keys_change_once_all_lists_were_used():
    same = [
        choose_keys(
            Identity(participant_id="x", session="1", number=n), keys=("f", "j"), n_lists=4
        ).same
        for n in range(1, 17)
    ]
    assert same == ["f"] * 4 + ["j"] * 4 + ["f"] * 4 + ["j"] * 4


def play(plan, config, outcome_of):
    """Go through a session; return positions in the order shown."""
    done, positions = [], []
    while (planned := choose_next(plan, done, config=config)) is not None:
        outcome = outcome_of(planned, positions.count(planned.position))
        positions.append(planned.position)
        done.append(Done(position=planned.position, outcome=outcome))
        assert len(positions) < 1000
    return positions


def test_every_position_is_shown_once_in_order():
    plan = make_plan(make_trials(8, n_practice=2))
    assert play(plan, FAST, lambda *_: "wrong") == list(range(1, 11))


def test_an_aborted_presentation_is_shown_again_at_once():
    plan = make_plan(make_trials(8, n_practice=2))
    shown = play(
        plan,
        FAST,
        lambda planned, before: "aborted" if (planned.position, before) == (4, 0) else "correct",
    )
    assert shown == [1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10]


def test_a_gaze_break_is_shown_again_at_the_end_of_its_block_if_so_configured():
    config = replace(FAST, n_practice=0, repeat_outcomes=("gaze_break",), max_presentations=3)
    plan = make_plan(make_trials(8), config=config)
    breaks = {(2, 0), (2, 1), (2, 2), (6, 0)}
    shown = play(
        plan,
        config,
        lambda planned, before: "gaze_break" if (planned.position, before) in breaks else "correct",
    )
    assert shown == [1, 2, 3, 4, 2, 2, 5, 6, 7, 8, 6]
    assert play(plan, FAST, lambda *_: "gaze_break") == list(range(1, 9))


def test_practice_ends_at_its_criterion_and_is_repeated_until_then():
    config = replace(
        FAST, n_practice=4, practice_criterion=0.75, practice_window=4, practice_rounds=3
    )
    plan = make_plan(make_trials(8, n_practice=4), config=config)
    n_practice = sum(trial.is_practice for trial in plan.trials)
    assert n_practice == 12
    assert play(plan, config, lambda *_: "correct")[:5] == [1, 2, 3, 4, 13]
    late = play(plan, config, lambda p, _: "correct" if p.position >= 4 else "wrong")
    assert late[:7] == [1, 2, 3, 4, 5, 6, 13]
    never = play(plan, config, lambda *_: "wrong")
    assert never[:13] == list(range(1, 14))


@given(st.data())
def test_resuming_anywhere_shows_what_would_have_been_shown(data):
    """What comes next depends on the rows alone, so cutting a session in two changes nothing."""
    config = replace(FAST, repeat_outcomes=("gaze_break", "early"))
    plan = make_plan(make_trials(8, n_practice=2), config=config)
    done = []
    outcomes = st.sampled_from(["correct", "wrong", "gaze_break", "early", "aborted", "timeout"])
    while (planned := choose_next(plan, done, config=config)) is not None and len(done) < 60:
        done.append(Done(position=planned.position, outcome=data.draw(outcomes)))
    if planned is None:
        finished = Counter(d.position for d in done if d.outcome != "aborted")
        assert set(finished) == {trial.position for trial in plan.trials}
        assert max(finished.values()) <= config.max_presentations
