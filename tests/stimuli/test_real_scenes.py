"""On 200 COCO photographs: enough complete scenes, and a design that gives nothing away."""

import numpy as np
import pandas as pd
import pytest

from stimuli.adeli2023 import TRIALS_FILE, read_published_table, tabulate_trials
from stimuli.audit import Evidence, audit_trials
from stimuli.benchmark import Manifest, load_scene_mask, load_trial_image, read_objects
from stimuli.build import build_benchmark
from stimuli.design import PUBLISHED, SMALLER
from stimuli.faults import FaultLog
from stimuli.sources import SourceOptions, open_source, read_scenes

pytestmark = [pytest.mark.shared, pytest.mark.slow]


@pytest.fixture(scope="module", params=["published", "smaller"])
def built(request, shared, tmp_path_factory):
    faults = FaultLog()
    sets = open_source(shared / "coco128", SourceOptions())
    return build_benchmark(
        read_scenes(sets, faults),
        tmp_path_factory.mktemp("coco128") / "b",
        design=PUBLISHED if request.param == "published" else SMALLER,
        seed=1,
        manifest=Manifest(name="coco128", version="1", source="test", licence="per image"),
    )


def test_there_are_enough_complete_scenes_and_each_other_has_a_reason(built):
    trials = built.benchmark.trials
    least = 50 if trials["distance_px"].max() > 150 else 100
    assert trials["scene_id"].nunique() >= least
    assert (trials.groupby("scene_id").size() == 4).all()
    assert len(built.placement) == 200
    assert built.placement["reason"].isna().sum() == trials["scene_id"].nunique()


def test_same_and_different_are_equally_far_apart(built):
    trials = built.benchmark.trials
    for _, rows in trials.groupby("distance_condition"):
        means = rows.groupby("same_object")["distance_px"].mean()
        assert abs(means[True] - means[False]) < 1
    wide = trials.pivot(
        index=["scene_id", "distance_condition"], columns="same_object", values="distance_px"
    )
    assert (wide[True] - wide[False]).abs().max() < 1


def test_the_audit_does_not_fail(built):
    bench = built.benchmark
    is_published = bench.trials["distance_px"].max() > 150
    found = audit_trials(
        bench.trials,
        Evidence(
            load_pixels=lambda row: load_trial_image(bench, row).pixels if is_published else None,
            load_labels=lambda row: load_scene_mask(bench, row),
            objects=read_objects(bench),
            dot_radius_px=8.0,
        ),
        rng=np.random.default_rng(1),
    )
    assert found.verdict in {"pass", "warn"}
    overlaps = [item.value for item in found.checks if "overlap of the dist" in item.subject]
    assert min(overlaps) > 0.9
    aucs = {score.cheat: score.auc for score in found.cheats}
    assert aucs["distance"] < 0.55
    assert aucs["position"] < 0.6
    assert ("colour" in aucs) == is_published


def test_each_image_has_its_source_and_licence(built):
    trials = built.benchmark.trials
    assert trials["image_licence"].str.contains("http").all()
    assert trials["image_source"].str.contains("flickr").all()


def nothing(_):
    return None


@pytest.mark.golden
def test_the_published_displays_give_a_little_away(shared):
    """Findings, not requirements: distances are matched, places and eccentricity are not quite."""
    table = read_published_table(shared / "adeli2023" / TRIALS_FILE)
    trials = tabulate_trials(table, source="published")
    evidence = Evidence(
        load_pixels=nothing, load_labels=nothing, objects=pd.DataFrame(), dot_radius_px=8.0
    )
    found = audit_trials(trials, evidence, rng=np.random.default_rng(1))
    values = {item.subject: item.value for item in found.checks}
    assert values["close: mean of same minus different, px"] == pytest.approx(0.31, abs=0.01)
    assert values["far: mean of same minus different, px"] == pytest.approx(-0.49, abs=0.01)
    assert values["position only: AUC"] == pytest.approx(0.56, abs=0.02)
    assert values["eccentricity only: AUC"] == pytest.approx(0.565, abs=0.02)
    assert values["distance only: AUC"] < 0.55
    assert found.verdict == "warn"
