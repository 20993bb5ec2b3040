"""Scores: planted truth, degenerate readouts, invariances, and bad readout tables."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from analysis.baselines import predict_condition
from analysis.metrics import signed_difficulty
from analysis.rows import select_rows
from analysis.scoring import ScoreSettings, score_readouts
from stimuli.errors import TableError
from tests.analysis.simulate import make_readouts, make_times, make_trials

QUICK = ScoreSettings(n_draws=100, n_halves=50, seed=3)


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(5)
    trials = make_trials(40)
    times, truth = make_times(trials, rng, n_people=24, trial_sd=0.15, share=0.8)
    return trials, times, truth


def score(readouts, study, settings=QUICK):
    trials, times, _ = study
    table = score_readouts(readouts, times=times, trials=trials, settings=settings)
    return table.set_index(["readout", "metric"])


def test_the_readout_that_is_the_truth_scores_near_the_attainable(study):
    row = score(make_readouts(study[0], study[2]), study).loc[("r", "all")]
    assert row["r_over_attainable"] == pytest.approx(1, abs=0.08)
    assert row["ci_low_r"] < row["r"] < row["ci_high_r"]
    published = score(make_readouts(study[0], study[2]), study).loc[("r", "published")]
    assert published["r_over_attainable"] == pytest.approx(1, abs=0.08)
    assert published["r_over_split_half"] > 1.02  # the published "1" is no ceiling


def test_a_model_that_is_wrong_scores_below_zero_and_stays_there(study):
    right = score(make_readouts(study[0], study[2]), study)
    wrong = score(make_readouts(study[0], -study[2]), study)
    assert wrong["r"].to_numpy() == pytest.approx(-right["r"].to_numpy())
    assert (wrong.loc[("r", "all"), ["ci_low_r", "ci_high_r"]] < 0).all()


def test_all_same_and_different_are_scipys_spearman(study, rng):
    trials, times, _ = study
    values = rng.normal(size=len(trials))
    got = score(make_readouts(trials, values), study)
    mean = select_rows(times, trials).mean_rt_s
    same = trials["same_object"].to_numpy()
    for metric, keep in (("all", same | True), ("same", same), ("different", ~same)):
        expected = spearmanr(values[keep], mean[keep]).statistic
        assert got.loc[("r", metric), "r"] == pytest.approx(expected)


def test_the_published_form_is_the_plain_loop_over_halves(study):
    trials, times, truth = study
    row = score(make_readouts(trials, truth), study).loc[("r", "published")]
    rng = np.random.default_rng(0)
    values = []
    for _ in range(300):
        order = rng.permutation(24)
        halves = [np.nanmean(times.rt_s[part], axis=0) for part in (order[:12], order[12:])]
        values.append(np.mean([spearmanr(truth, half).statistic for half in halves]))
    assert row["r"] == pytest.approx(np.mean(values), abs=0.01)


def test_a_constant_readout_is_undefined_with_the_reason_and_not_zero(study):
    got = score(make_readouts(study[0], np.ones(len(study[0]))), study)
    assert got["r"].isna().all()
    assert got["note"].str.contains("undefined").all()


def test_people_themselves_as_a_readout_get_a_perfect_score_and_no_invented_interval(study):
    trials, times, _ = study
    mean = select_rows(times, trials).mean_rt_s
    row = score(make_readouts(trials, mean), study).loc[("r", "all")]
    assert row["r"] == pytest.approx(1)
    assert pd.isna(row["ci_low_r"])
    assert "perfect" in row["note"]
    assert row["r_over_attainable"] > 1  # flagged by the number itself, not clipped


def test_evidence_for_same_is_easy_on_same_trials_and_hard_on_different_ones():
    same = np.array([True, True, True, False, False, False])
    values = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    got = signed_difficulty(values, kind="evidence_same", is_same=same)
    assert (np.diff(got[:3]) > 0).all()
    assert (np.diff(got[3:]) < 0).all()
    assert got[:3].mean() == pytest.approx(0)
    assert got[:3].std() == pytest.approx(1)
    assert signed_difficulty(values, kind="ease", is_same=same).tolist() == (-values).tolist()
    assert signed_difficulty(values, kind="difficulty", is_same=same).tolist() == values.tolist()
    constant = signed_difficulty(np.ones(6), kind="evidence_same", is_same=same)
    assert (constant == 0).all()


def test_evidence_scores_don_t_depend_on_unit_or_on_an_offset_of_either_type(study, rng):
    trials = study[0]
    values = rng.normal(size=len(trials))
    shifted = values * 7 + np.where(trials["same_object"], 100.0, -3.0)
    first = score(make_readouts(trials, values, kind="evidence_same"), study)
    second = score(make_readouts(trials, shifted, kind="evidence_same"), study)
    assert second["r"].to_numpy() == pytest.approx(first["r"].to_numpy())


def test_the_order_of_rows_and_what_is_scored_beside_it_change_nothing(study, rng):
    trials = study[0]
    one = make_readouts(trials, rng.normal(size=len(trials)))
    other = make_readouts(trials.iloc[:100], rng.normal(size=100), readout="other")
    alone = score(one, study)
    together = score(pd.concat([other, one.sample(frac=1, random_state=1)]), study)
    pd.testing.assert_frame_equal(alone, together.loc[alone.index])


def test_one_mask_of_rows_feeds_score_ceiling_and_control(study, rng):
    trials = study[0]
    part = make_readouts(trials.iloc[:80], rng.normal(size=80))
    got = score(part, study).loc[("r", "all")]
    assert (got["n_trials"], got["n_scenes"], got["n_people"]) == (80, 20, 24)
    only = (trials.iloc[:80], study[1], None)
    times = type(study[1])(
        rt_s=study[1].rt_s[:, :80],
        participant_ids=study[1].participant_ids,
        trial_ids=study[1].trial_ids[:80],
    )
    alone = score(part, (only[0], times, None)).loc[("r", "all")]
    for name in ("r", "split_half_r", "one_vs_rest_r", "control_condition_r", "se_r"):
        assert got[name] == pytest.approx(alone[name])


def test_the_same_seed_gives_the_same_numbers_and_another_seed_other_intervals(study):
    readouts = make_readouts(study[0], study[2])
    first, again = score(readouts, study), score(readouts, study)
    pd.testing.assert_frame_equal(first, again)
    other = score(readouts, study, ScoreSettings(n_draws=100, n_halves=50, seed=4))
    assert other.loc[("r", "all"), "r"] == first.loc[("r", "all"), "r"]
    assert other.loc[("r", "all"), "se_r"] != first.loc[("r", "all"), "se_r"]


def test_leaving_the_own_scene_out_of_the_condition_means_would_turn_the_control_negative():
    """Why control:condition uses all scenes (docs/decisions/0003)."""
    rng = np.random.default_rng(8)
    trials = make_trials(60)
    times, _ = make_times(trials, rng, n_people=24)
    rows = select_rows(times, trials)
    mean = rows.mean_rt_s
    left_out = np.empty(len(mean))
    for k in range(len(mean)):
        others = (rows.cells == rows.cells[k]) & (rows.scenes != rows.scenes[k])
        left_out[k] = mean[others].mean()
    assert spearmanr(left_out, mean).statistic < -0.15
    assert spearmanr(predict_condition(rows), mean).statistic > -0.1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda t: pd.concat([t, t.head(1)]), r"row 161: trial 's0_0' occurs twice"),
        (lambda t: t.assign(trial_id=t["trial_id"].replace("s0_0", "x")), r"trial_id 'x' not in"),
        (lambda t: t.assign(value=t["value"].where(t.index != 4)), r"row 5.*value"),
        (lambda t: t.assign(value=np.where(t.index == 4, np.inf, 1.0)), r"row 5: value inf"),
        (
            lambda t: t.assign(kind=np.where(t.index == 4, "ease", "difficulty")),
            "more than one kind",
        ),
        (lambda t: t.assign(kind="strength"), r"'kind' holds 'strength'"),
        (lambda t: t.head(0), "no rows"),
        (lambda t: t.head(2), "at least 3 are needed"),
        (lambda t: t.drop(columns="value"), "column 'value' is missing"),
    ],
)
def test_a_damaged_readout_table_is_refused_by_name(study, damage, message):
    readouts = make_readouts(study[0], study[2])
    with pytest.raises(TableError, match=message):
        score(damage(readouts), study)


@pytest.mark.slow
def test_the_interval_covers_the_planted_score_about_95_percent_of_the_time():
    """A quick version; benchmarks/coverage.py is the long one, with its numbers in docs/scores.md.

    The planted score is what a much larger study of the same kind measures.
    """
    rng = np.random.default_rng(11)
    trials = make_trials(60)
    scores = []
    for _ in range(60):
        times, truth = make_times(trials, rng, n_people=20, trial_sd=0.05, scene_sd=0.03)
        readout = truth + rng.normal(0, 0.08, len(truth))
        table = score_readouts(
            make_readouts(trials, readout),
            times=times,
            trials=trials,
            settings=ScoreSettings(
                n_draws=150, n_halves=5, n_left_out_halves=0, seed=int(rng.integers(1e6))
            ),
        )
        scores.append(table.set_index("metric").loc["partial"])
    scores = pd.DataFrame(scores)
    planted = scores["r"].mean()
    covered = ((scores["ci_low_r"] < planted) & (planted < scores["ci_high_r"])).mean()
    assert 0.88 <= covered <= 1.0
    # The stated error is that of the scores over repeated studies, not much wider or narrower.
    assert scores["se_r"].mean() == pytest.approx(scores["r"].std(), rel=0.25)
