"""Comparing models: copies tie, equal models are rarely called different, better ones are found."""

import numpy as np
import pytest

from analysis.comparison import compare_models, find_groups
from analysis.rows import select_rows
from analysis.scoring import ScoreSettings
from stimuli.errors import InputError
from tests.analysis.simulate import make_times, make_trials

QUICK = ScoreSettings(n_draws=150, n_halves=4, n_left_out_halves=0)


def study(rng, n_scenes=40, n_people=16, **keywords):
    trials = make_trials(n_scenes)
    times, truth = make_times(trials, rng, n_people=n_people, **keywords)
    return select_rows(times, trials), truth


def test_a_model_and_its_copy_always_tie_and_share_rank_and_letter(rng):
    rows, truth = study(rng, trial_sd=0.15)
    good = truth + rng.normal(0, 0.05, 160)
    found = compare_models({"good": good, "bad": -good, "copy": np.exp(good)}, rows, settings=QUICK)
    table = found.ranking.set_index("name")
    assert table.loc["good", "rank"] == table.loc["copy", "rank"] == 1
    assert table.loc["good", "group"] == table.loc["copy", "group"] == "a"
    assert table.loc["bad", ["rank", "rank_low", "rank_high", "group"]].tolist() == [3, 3, 3, "b"]
    assert table.loc["good", ["rank_low", "rank_high"]].tolist() == [1, 2]
    pair = found.pairs[(found.pairs["first"] != "bad") & (found.pairs["second"] != "bad")].iloc[0]
    assert (pair["difference_z"], pair["p"]) == (pytest.approx(0, abs=1e-12), 1.0)
    assert table.loc["bad", "r"] < 0


def test_holm_and_fdr_only_raise_p(rng):
    rows, truth = study(rng)
    models = {f"m{k}": truth + rng.normal(0, 0.05 + 0.05 * k, 160) for k in range(4)}
    holm = compare_models(models, rows, settings=QUICK).pairs
    fdr = compare_models(models, rows, settings=QUICK, correction="fdr_bh").pairs
    order = np.sort(holm["p"])
    expected = np.maximum.accumulate(order * np.arange(6, 0, -1)).clip(max=1)
    assert np.sort(holm["p_corrected"]) == pytest.approx(expected)
    assert (holm["p_corrected"] >= fdr["p_corrected"] - 1e-12).all()
    assert (fdr["p_corrected"] >= fdr["p"] - 1e-12).all()


@pytest.mark.slow
def test_two_equal_models_are_called_different_at_most_5_percent_of_the_time():
    """A quick version; benchmarks/comparison.py is the long one."""
    rng = np.random.default_rng(8)
    settings = ScoreSettings(n_draws=150, n_halves=2, n_left_out_halves=0)
    called = []
    for _ in range(60):
        rows, truth = study(rng, n_scenes=24, n_people=10)
        models = {name: truth + rng.normal(0, 0.06, 96) for name in ("a", "b")}
        called.append(compare_models(models, rows, settings=settings).pairs["is_different"].any())
    assert np.mean(called) <= 0.11  # 5 % in the long run; 6 of 60 is its 96th percentile


def test_letters_are_shared_exactly_by_those_that_cannot_be_told_apart(rng):
    names = list("pqrstu")
    pairs = [frozenset((a, b)) for k, a in enumerate(names) for b in names[k + 1 :]]
    for _ in range(30):
        different = {pair for pair in pairs if rng.random() < 0.4}
        letters = dict(zip(names, find_groups(names, different), strict=True))
        for pair in pairs:
            a, b = pair
            assert bool(set(letters[a]) & set(letters[b])) == (pair not in different)


def test_what_cannot_be_compared_is_named(rng):
    rows, truth = study(rng)
    with pytest.raises(InputError, match="1 readouts have a headline value"):
        compare_models({"a": truth, "flat": np.ones(160)}, rows, settings=QUICK)
    small, _ = study(rng, n_people=3)
    with pytest.raises(InputError, match="too few people: 3"):
        compare_models({"a": truth, "b": truth}, small, settings=QUICK)
