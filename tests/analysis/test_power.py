"""Power: about alpha without a difference, more with more people, and every error fires."""

import pandas as pd
import pytest

from analysis.power import PowerQuestion, answer_question, estimate_power, wilson_interval
from analysis.simulation import Study
from stimuli.errors import InputError

STUDY = Study(n_people=24, n_scenes=40, conditions_per_scene=4, noise_sd_s=0.1)
QUESTION = PowerQuestion(difference=0.3, baseline=0.2, n_experiments=12, n_draws=30)


def test_without_a_difference_power_is_no_more_than_alpha():
    question = PowerQuestion(difference=0.0, baseline=0.2, n_experiments=40, n_draws=50)
    row = estimate_power(question, [(12, 20)], study=STUDY).iloc[0]
    assert row["power_low"] <= 0.05


def test_power_grows_with_scenes_and_sizes_do_not_disturb_each_other():
    table = estimate_power(QUESTION, [(8, 10), (16, 60)], study=STUDY)
    other_way = estimate_power(QUESTION, [(16, 60), (8, 10)], study=STUDY)
    assert table["power"][1] > table["power"][0]
    pd.testing.assert_frame_equal(table, other_way[::-1].reset_index(drop=True))


def test_wilsons_interval_holds_the_share_at_both_ends():
    assert wilson_interval(0, 20)[0] == 0
    assert wilson_interval(20, 20)[1] == 1
    assert wilson_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)


def test_the_answer_names_the_asked_size_and_the_smallest_that_suffices():
    table = pd.DataFrame(
        {
            "n_people": [10, 20],
            "n_scenes": [30, 30],
            "n_trials": [120, 120],
            "difference_r": 0.1,
            "baseline_r": 0.2,
            "power": [0.4, 0.9],
            "power_low": [0.3, 0.8],
            "power_high": [0.5, 0.95],
            "power_above_zero": [0.9, 1.0],
        }
    )
    text = answer_question(table, n_people=10, n_scenes=30)
    assert "in 40% of experiments [30%, 50%]" in text
    assert "120 (30 scenes) with 20 people" in text
    assert "no size" in answer_question(table[:1], n_people=10, n_scenes=30)


@pytest.mark.parametrize(
    ("question", "sizes", "message"),
    [
        (PowerQuestion(), [], "no sizes"),
        (PowerQuestion(), [(3, 40)], "at least 4"),
        (PowerQuestion(difference=-0.1), [(8, 10)], "expected how much better"),
        (PowerQuestion(n_experiments=0), [(8, 10)], "at least 1 experiment"),
        (PowerQuestion(n_draws=5), [(8, 10)], "20 draws"),
        (PowerQuestion(difference=0.9), [(8, 10)], "the most that any model can reach"),
    ],
)
def test_impossible_questions_are_refused(question, sizes, message):
    with pytest.raises(InputError, match=message):
        estimate_power(question, sizes, study=STUDY)
