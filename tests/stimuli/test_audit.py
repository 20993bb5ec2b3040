"""The audit passes a sound design and fails each bad one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from stimuli.audit import LIMITS, Audit, Check, Evidence, audit_trials, judge_cheat
from stimuli.cheats import CheatScore
from stimuli.tables import CELLS

NO_OBJECTS = pd.DataFrame()


def nothing(_):
    return None


EVIDENCE = Evidence(load_pixels=nothing, load_labels=nothing, objects=NO_OBJECTS, dot_radius_px=8.0)


def make_trials(n_scenes, *, seed=0):
    """Displays whose second dots lie anywhere on their rings; distances are matched per scene."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(n_scenes):
        off = dict(zip(("close", "far"), rng.uniform(-7, 7, size=2), strict=True))
        for k, (same, condition) in enumerate(CELLS):
            angle = rng.uniform(0, 2 * np.pi)
            distance = (104.5 if condition == "close" else 204.5) + off[condition]
            distance += rng.uniform(-0.5, 0.5)
            rows.append(
                {
                    "trial_id": f"{s}_{k}", "scene_id": f"s{s}", "image": None,
                    "width_px": 640, "height_px": 480, "dot1_x_px": 320.5, "dot1_y_px": 240.5,
                    "dot2_x_px": 320.5 + distance * np.cos(angle),
                    "dot2_y_px": 240.5 + distance * np.sin(angle),
                    "same_object": same, "distance_condition": condition, "distance_px": distance,
                    "object1_id": 1, "object2_id": 1 if same else 2,
                    "list_id": str((s + k) % 4 + 1), "trials_version": "1",
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def place(trials, distance, angle):
    return trials.assign(
        distance_px=distance,
        dot2_x_px=trials["dot1_x_px"] + distance * np.cos(angle),
        dot2_y_px=trials["dot1_y_px"] + distance * np.sin(angle),
    )


def directions(trials):
    return np.arctan2(
        trials["dot2_y_px"] - trials["dot1_y_px"], trials["dot2_x_px"] - trials["dot1_x_px"]
    )


def audit(trials, evidence=EVIDENCE):
    return audit_trials(trials, evidence, rng=np.random.default_rng(0))


def verdicts(found):
    return {(item.check, item.subject): item.verdict for item in found.checks}


def verdict_of(found, check, word):
    (verdict,) = {v for (name, subject), v in verdicts(found).items()
                  if name == check and word in subject}  # fmt: skip
    return verdict


@pytest.fixture(scope="module")
def sound():
    return make_trials(60)


def test_a_sound_design_passes_and_says_what_it_could_not_see(sound):
    found = audit(sound)
    assert found.verdict == "pass"
    lacking = {item.subject for item in found.checks if item.verdict == "not available"}
    assert {"colour", "edges", "category", "size", "objects"} <= lacking


def test_same_pairs_that_are_always_closer_fail(sound):
    closer = np.where(sound["same_object"], -5.0, 5.0)
    found = audit(place(sound, sound["distance_px"] + closer, directions(sound)))
    assert found.verdict == "fail"
    assert verdict_of(found, "distances matched", "close: mean") == "fail"
    assert verdict_of(found, "distances matched", "far: overlap") == "fail"
    assert verdict_of(found, "cheats", "distance only") == "fail"


def test_same_pairs_that_are_equally_far_in_the_mean_but_never_vary_fail(sound):
    middle = np.where(sound["distance_condition"] == "close", 104.5, 204.5)
    distance = np.where(sound["same_object"], middle, sound["distance_px"])
    found = audit(place(sound, pd.Series(distance), directions(sound)))
    assert verdict_of(found, "distances matched", "close: overlap") == "fail"


def test_same_dots_that_always_lie_below_fail(sound):
    angle = np.abs(directions(sound)) * np.where(sound["same_object"], 1, -1)
    found = audit(place(sound, sound["distance_px"], angle))
    assert verdict_of(found, "cheats", "position only") == "fail"
    assert verdict_of(found, "cheats", "angle only") == "fail"
    assert verdict_of(found, "angles alike", "overlap") == "fail"


def test_first_dots_off_centre_on_same_displays_fail_for_eccentricity(sound):
    shift = np.where(sound["same_object"], 60.0, 0.0)
    found = audit(sound.assign(dot1_x_px=sound["dot1_x_px"] + shift))
    assert verdict_of(found, "cheats", "eccentricity only") == "fail"


def test_a_missing_cell_fails(sound):
    assert verdict_of(audit(sound.iloc[1:]), "four cells per scene", "scenes") == "fail"


def test_a_list_that_shows_one_cell_more_often_fails(sound):
    lists = np.where(sound["same_object"], "1", "2")
    assert verdict_of(audit(sound.assign(list_id=lists)), "cells per list", "list 1") == "fail"


def test_a_table_without_lists_says_so(sound):
    found = audit(sound.assign(list_id=pd.NA))
    assert verdict_of(found, "cells per list", "lists") == "not available"


def test_practice_displays_are_left_out(sound):
    practice = sound.head(1).assign(list_id="practice", trial_id="p", scene_id="p")
    found = audit(pd.concat([sound, practice], ignore_index=True))
    assert verdict_of(found, "four cells per scene", "scenes") == "pass"


def test_dots_that_cover_each_other_fail(sound):
    distance = sound["distance_px"].where(sound.index != 0, 10.0)
    found = audit(place(sound, distance, directions(sound)))
    assert verdict_of(found, "dots apart", "overlap") == "fail"


@pytest.mark.parametrize(("y_px", "verdict"), [(8.0, "pass"), (6.0, "warn"), (3.0, "fail")])
def test_a_dot_near_the_images_border_is_judged_in_radii(sound, y_px, verdict):
    found = audit(sound.assign(dot2_y_px=sound["dot2_y_px"].where(sound.index != 5, y_px)))
    assert verdict_of(found, "dots off borders", "image") == verdict


def masked(labels):
    return replace(EVIDENCE, load_labels=lambda _: labels)


def test_a_dot_off_its_object_fails(sound):
    everywhere = np.ones((480, 640), dtype=np.int32)
    found = audit(sound.assign(object2_id=1), masked(everywhere))
    assert verdict_of(found, "dots on their objects", "dot off") == "pass"
    found = audit(sound, masked(everywhere))
    assert verdict_of(found, "dots on their objects", "dot off") == "fail"


@pytest.mark.parametrize(("width_px", "verdict"), [(9, "pass"), (6, "warn"), (3, "fail")])
def test_a_dot_near_its_objects_border_is_judged_in_radii(sound, width_px, verdict):
    labels = np.ones((480, 640), dtype=np.int32)
    labels[:, 320 + width_px :] = 2
    trials = sound.assign(object2_id=1, dot2_x_px=320.5, dot2_y_px=240.5)
    found = audit(trials, masked(labels))
    assert verdict_of(found, "dots off borders", "object") == verdict


def objects_of(trials, categories):
    return pd.DataFrame(
        [
            {"scene_id": scene, "object_id": k, "category": category, "area_px": 1000 * k}
            for scene in trials["scene_id"].unique()
            for k, category in enumerate(categories, start=1)
        ]
    )


def test_a_category_that_tells_same_from_different_only_warns_as_it_lies_in_the_photographs(sound):
    evidence = replace(EVIDENCE, objects=objects_of(sound, ["cat", "mat"]))
    found = audit(sound, evidence)
    assert verdict_of(found, "cheats", "category") == "warn"
    assert verdict_of(found, "cheats", "size") == "warn"
    assert {score.cheat: score.auc for score in found.cheats}["category"] == 1.0


def test_one_category_under_nearly_all_dots_warns(sound):
    found = audit(sound, replace(EVIDENCE, objects=objects_of(sound, ["cat", "cat"])))
    assert verdict_of(found, "use of objects", "commonest category") == "warn"
    assert verdict_of(found, "use of objects", "most used object") == "pass"


def test_colour_and_edges_are_seen_in_the_images(sound):
    """Same dots lie left of the middle, on grey; different ones right, on white."""
    pixels = np.full((480, 640, 3), 90, dtype=np.uint8)
    pixels[:, 340:] = 250
    angle = directions(sound)
    leftward = np.arctan2(np.sin(angle) / 2, np.abs(np.cos(angle)) + 0.3)
    angle = np.where(sound["same_object"], np.pi - leftward, leftward)
    trials = place(sound, sound["distance_px"], angle).head(80)
    found = audit(trials, replace(EVIDENCE, load_pixels=lambda _: pixels))
    aucs = {score.cheat: score.auc for score in found.cheats}
    assert aucs["colour"] > 0.95
    assert aucs["edges"] > 0.95
    assert verdict_of(found, "cheats", "colour only") == "warn"


def score_of(auc, low):
    return CheatScore(
        cheat="x", auc=auc, auc_low=low, auc_high=1.0, accuracy=0.5, accuracy_low=0.5,
        accuracy_high=0.5, n_trials=8, n_scenes=2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("auc", "low", "verdict"),
    [(0.54, 0.52, "pass"), (0.58, 0.51, "warn"), (0.58, 0.49, "pass"), (0.61, 0.51, "fail"),
     (0.9, 0.5, "pass"), (0.3, 0.2, "pass")],
)  # fmt: skip
def test_a_cheat_is_judged_by_its_auc_and_its_interval(auc, low, verdict):
    assert judge_cheat("distance", score_of(auc, low), LIMITS).verdict == verdict


def test_the_overall_verdict_is_the_worst(sound):
    def check(verdict):
        return Check(check="c", subject="s", value=1.0, expected="", verdict=verdict)

    for worst, others in (("pass", ["not available"]), ("warn", ["pass"]), ("fail", ["warn"])):
        checks = tuple(check(v) for v in [*others, worst, *others])
        assert Audit(checks=checks, cheats=()).verdict == worst


def test_the_audit_is_reproducible_by_seed(sound):
    pd.testing.assert_frame_equal(audit(sound).table, audit(sound).table)


def test_the_text_names_value_interval_and_expectation(sound):
    line = next(x for x in audit(sound).text.splitlines() if "distance only" in x)
    assert line.startswith("pass")
    assert "AUC = 0." in line
    assert "[0." in line
    assert "60 scenes" in line
