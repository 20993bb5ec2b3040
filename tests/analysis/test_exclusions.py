"""Declared exclusion rules: each counted once, read from a file, refused when they make no sense."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.exclusions import (
    ANALYSED,
    FLAGGED,
    FLAGGED_PREFIX,
    PUBLISHED_RULES,
    Rule,
    apply_rules,
    read_rules,
)
from analysis.people import analyse_people, choose_rules, declare_rules, load_times
from analysis.records import build_record
from analysis.scoring import ScoreSettings, score_readouts
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.errors import InputError
from stimuli.table_io import write_table
from tests.analysis.simulate import make_readouts, make_responses, make_times, make_trials

MANIFEST = Manifest(name="t", version="1", source="test", licence="none", is_simulated=True)


def respond(outcome="correct", *, person="p1", trial="s0_0", rt_s=0.8, is_practice=False):
    return {
        "participant_id": person,
        "session": "1",
        "trial_id": trial,
        "is_practice": is_practice,
        "outcome": outcome,
        "response": "same",
        "rt_s": rt_s,
        "is_simulated": True,
    }


def count(done):
    return done.ledger.pivot(index="participant_id", columns="rule", values="n_presentations")


def with_rules(*rules):
    return (*PUBLISHED_RULES, *rules)


def test_each_presentation_is_counted_once_under_its_first_rule():
    rows = [
        respond(),
        respond(trial="s0_1"),
        respond("wrong", trial="s0_2"),
        respond("wrong", trial="s0_3", is_practice=True),
        respond("timeout", trial="s1_0", rt_s=np.nan),
        respond("early", person="p2"),
    ]
    done = apply_rules(pd.DataFrame(rows))
    counts = count(done)
    assert counts.loc["p1", ["practice", "wrong", "timeout", ANALYSED]].tolist() == [1, 1, 1, 2]
    assert counts.loc["p2", ["early", ANALYSED]].tolist() == [1, 0]
    assert done.analysed["trial_id"].tolist() == ["s0_0", "s0_1"]


def test_outliers_within_a_person_are_flagged_and_kept_or_excluded_as_declared():
    rt_s = [0.7 + 0.01 * k for k in range(20)] + [9.0]
    rows = pd.DataFrame([respond(trial=f"t{k}", rt_s=value) for k, value in enumerate(rt_s)])
    kept = apply_rules(rows)
    assert len(kept.analysed) == 21
    assert count(kept).loc["p1", FLAGGED] == 1
    excluded = apply_rules(rows, (PUBLISHED_RULES[0], Rule(kind="rt_beyond_z", value=3.0)))
    assert len(excluded.analysed) == 20
    assert count(excluded).loc["p1", "|z| > 3 within person"] == 1


def test_z_scores_are_those_of_the_rts_that_earlier_rules_left():
    rt_s = [0.7 + 0.01 * k for k in range(20)] + [2.0, 60.0]
    rows = pd.DataFrame([respond(trial=f"t{k}", rt_s=value) for k, value in enumerate(rt_s)])
    z = Rule(kind="rt_beyond_z", value=3.0)
    alone = apply_rules(rows, (PUBLISHED_RULES[0], z))
    after_cap = apply_rules(rows, (PUBLISHED_RULES[0], Rule(kind="rt_above", value=10), z))
    assert alone.analysed["rt_s"].max() == 2.0  # 60 s hides it
    assert after_cap.analysed["rt_s"].max() < 1


def test_floor_and_cap_take_rts_beyond_them_and_their_accuracy_too():
    rows = pd.DataFrame(
        [
            respond(rt_s=0.05),
            respond("wrong", trial="t1", rt_s=0.04),
            respond(trial="t2", rt_s=0.1),
            respond("wrong", trial="t3", rt_s=0.9),
            respond(trial="t4", rt_s=7.0),
        ]
    )
    rules = with_rules(Rule(kind="rt_below", value=0.1), Rule(kind="rt_above", value=5))
    done = apply_rules(rows, rules)
    assert done.analysed["trial_id"].tolist() == ["t2"]
    assert done.answered["trial_id"].tolist() == ["t2", "t3"]
    assert count(done).loc["p1", ["wrong", "rt below 0.1 s", "rt above 5 s"]].tolist() == [2, 1, 1]


def test_people_below_an_accuracy_or_with_too_few_trials_go_as_a_whole():
    rows = [respond(trial=f"t{k}") for k in range(6)]
    rows += [respond("wrong" if k < 3 else "correct", person="p2", trial=f"t{k}") for k in range(6)]
    rows += [respond(person="p3", trial="t0")]
    rules = with_rules(
        Rule(kind="person_accuracy_below", value=0.75), Rule(kind="person_trials_below", value=2)
    )
    done = apply_rules(pd.DataFrame(rows), rules)
    assert set(done.analysed["participant_id"]) == {"p1"}
    assert set(done.answered["participant_id"]) == {"p1"}
    counts = count(done)
    assert counts.loc["p2", "person's accuracy below 0.75"] == 3
    assert counts.loc["p3", "person's analysed trials below 2"] == 1


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_ledger_adds_up_whatever_the_rules(seed):
    rng = np.random.default_rng(seed)
    n = 60
    outcome = rng.choice(["correct", "wrong", "timeout", "early"], n, p=[0.7, 0.2, 0.05, 0.05])
    rows = pd.DataFrame(
        [
            respond(
                outcome[k],
                person=f"p{rng.integers(4)}",
                trial=f"t{k}",
                rt_s=np.nan if outcome[k] == "timeout" else rng.lognormal(-0.3, 0.6),
                is_practice=bool(rng.random() < 0.1),
            )
            for k in range(n)
        ]
    )
    rules = with_rules(
        Rule(kind="rt_below", value=0.4),
        Rule(kind="rt_beyond_z", value=1.5),
        Rule(kind="person_trials_below", value=5),
        Rule(kind="rt_above", value=2.0, action="flag"),
    )
    done = apply_rules(rows, rules)
    excluding = done.ledger[~done.ledger["rule"].str.startswith(FLAGGED_PREFIX)]
    by_person = excluding.groupby("participant_id")["n_presentations"].sum()
    assert by_person.to_dict() == rows["participant_id"].value_counts().to_dict()
    assert excluding.loc[excluding["rule"] == ANALYSED, "n_presentations"].sum() == len(
        done.analysed
    )


def test_rules_that_leave_what_cannot_be_analysed_are_refused():
    rows = pd.DataFrame([respond(), respond("timeout", trial="t1", rt_s=np.nan)])
    with pytest.raises(InputError, match="1 presentations without a reaction time"):
        apply_rules(rows, (Rule(kind="practice"),))
    practice = pd.DataFrame([respond(is_practice=True)])
    with pytest.raises(InputError, match="1 practice presentations"):
        apply_rules(practice, (Rule(kind="outcome", value="wrong"),))


def test_accuracy_rules_need_recorded_errors():
    rules = with_rules(Rule(kind="person_accuracy_below", value=0.7))
    with pytest.raises(InputError, match="records no error trials"):
        apply_rules(pd.DataFrame([respond()]), rules, errors_recorded=False)


def write_rules(tmp_path, text):
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_rules_are_read_from_a_file_in_order(tmp_path):
    path = write_rules(
        tmp_path,
        'extends = "published"\n[[rule]]\nkind = "rt_below"\nvalue = 0.15\nreason = "too fast"\n'
        '[[rule]]\nkind = "rt_above"\nvalue = 4\naction = "flag"\n',
    )
    rules = read_rules(path)
    assert rules[: len(PUBLISHED_RULES)] == PUBLISHED_RULES
    assert rules[-2] == Rule(kind="rt_below", value=0.15, reason="too fast")
    assert rules[-1].name == "flagged, kept: rt above 4 s"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[rule", "not valid TOML"),
        ("", "declares no rule"),
        ('extends = "ours"', "only 'published' is known"),
        ("rules = 3", "unknown key 'rules'"),
        ('[rule]\nkind = "practice"', "two brackets"),
        ('[[rule]]\nkind = "speed"', r"rule 1: kind is 'speed'; expected one of practice"),
        ('[[rule]]\nkind = "rt_below"', "value of rt_below is None; expected seconds"),
        ('[[rule]]\nkind = "rt_below"\nvalue = "fast"', "expected seconds above 0"),
        ('[[rule]]\nkind = "rt_below"\nvalue = true', "expected seconds above 0"),
        ('[[rule]]\nkind = "person_accuracy_below"\nvalue = 75', "share between 0 and 1"),
        ('[[rule]]\nkind = "outcome"\nvalue = "correct"', "expected one of wrong, timeout"),
        ('[[rule]]\nkind = "practice"\nvalue = 1', "expected no value"),
        ('[[rule]]\nkind = "rt_above"\nvalue = 3\naction = "drop"', "action is 'drop'"),
        ('[[rule]]\nkind = "rt_above"\nvalue = 3\nwhy = "x"', "unknown key 'why'"),
        ('extends = "published"\n[[rule]]\nkind = "practice"', "declared twice"),
        (
            '[[rule]]\nkind = "rt_above"\nvalue = 1\n[[rule]]\nkind = "rt_below"\nvalue = 2',
            "floor 2 s is not below the cap 1 s",
        ),
    ],
)
def test_a_damaged_file_of_rules_is_refused_by_name(tmp_path, text, message):
    path = write_rules(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        read_rules(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_of_rules_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_rules(tmp_path / "nowhere.toml")


@pytest.fixture
def bench(tmp_path):
    rng = np.random.default_rng(4)
    trials = make_trials(20)
    times, _ = make_times(trials, rng, n_people=10, noise_sd=0.3)
    benchmark = write_benchmark(tmp_path / "bench", manifest=MANIFEST, trials=trials)
    write_table(make_responses(times), benchmark.responses_folder / "all.csv")
    return benchmark


def test_ceiling_score_and_human_table_change_their_rows_together_with_a_rule(bench, tmp_path):
    path = write_rules(
        tmp_path,
        'extends = "published"\n[[rule]]\nkind = "rt_above"\nvalue = 1.2\n'
        '[[rule]]\nkind = "person_trials_below"\nvalue = 30\n',
    )
    seen = []
    for rules in (None, str(path), "published"):
        chosen = choose_rules(bench, rules)
        people = analyse_people(bench, rules=chosen, n_halves=10)
        if rules is not None:
            declare_rules(bench, rules)
        scores = score_readouts(
            make_readouts(bench.trials, np.arange(80)),
            times=load_times(bench),
            trials=bench.trials,
            settings=ScoreSettings(n_draws=20, n_halves=10),
        )
        row = scores.set_index("metric").loc["all"]
        assert row["n_people"] == people.ceilings["all"].n_people == len(people.times.rt_s)
        assert (
            row["n_trials"] == people.ceilings["all"].n_trials == (people.human.n_people > 0).sum()
        )
        seen.append((row["n_people"], int(people.human["n_people"].sum())))
        record = build_record(bench, settings=ScoreSettings(), command="t", model_record={})
        assert ("rt above 1.2 s" in record["exclusion_rules"]) == (rules == str(path))
    assert seen[0] == seen[2]
    assert seen[1][0] < seen[0][0]
    assert seen[1][1] < seen[0][1]
