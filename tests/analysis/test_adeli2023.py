"""The published data: every number of methods 1.2 and 1.7, and the import's checks."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import percentileofscore, spearmanr
from sklearn.metrics import roc_auc_score

from analysis.adeli2023 import find_participants, import_adeli2023, integrate_roc
from analysis.ceiling_curve import compute_ceiling_curve
from analysis.controls import compute_control
from analysis.metrics import N_HALVES
from analysis.people import analyse_people, summarise_people
from analysis.person_tables import bin_reaction_times, summarise_persons
from analysis.rows import select_rows
from analysis.scoring import ScoreSettings, score_readouts
from stimuli.adeli2023 import name_trials, read_published_table, tabulate_trials
from stimuli.benchmark import open_benchmark
from stimuli.errors import InputError, TableError
from stimuli.table_io import write_table
from tests.analysis.simulate import make_readouts

pytestmark = pytest.mark.shared
QUICK = ScoreSettings(n_draws=100, n_halves=N_HALVES, seed=0)


@pytest.fixture(scope="module")
def source(shared):
    return shared / "adeli2023"


@pytest.fixture(scope="module")
def panoptic(shared):
    return shared / "coco128/panoptic_segmentation/annotations/panoptic_val2017.json"


@pytest.fixture(scope="module")
def imported(shared, source, panoptic, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published") / "bench"
    images = shared / "coco128/images/val2017"
    report = import_adeli2023(source, out=folder, image_folders=[images], panoptic=[panoptic])
    return open_benchmark(folder), report


@pytest.fixture(scope="module")
def people(imported):
    return analyse_people(imported[0])


@pytest.fixture(scope="module")
def published(imported, people):
    """Scores of the published readouts and of the controls."""
    benchmark = imported[0]
    readouts = [pd.read_parquet(benchmark.folder / "published_readouts.parquet")]
    readouts += [
        compute_control(name, benchmark.trials, people.times)
        for name in ("control:condition", "control:distance", "control:leak")
    ]
    same = benchmark.trials["same_object"].map({True: 0.0, False: 1.0})
    readouts.append(make_readouts(benchmark.trials, same, model="same or different"))
    scores = score_readouts(
        pd.concat(readouts), times=people.times, trials=benchmark.trials, settings=QUICK
    )
    return scores.set_index(["model", "representation", "readout", "metric"])


def test_counts_and_reaction_times(people, imported):
    summary = summarise_people(people, imported[0])
    assert (summary["n_people"], summary["n_trials"], summary["n_correct_rts"]) == (72, 1020, 15480)
    assert summary["rt_ms"] == pytest.approx({"min": 5, "median": 813, "max": 4623})
    assert summary["accuracy"] is None
    assert people.human["n_people"].agg(["min", "median", "max"]).tolist() == [3, 15, 26]


@pytest.mark.golden
def test_condition_means_and_errors(people):
    table = people.conditions.set_index("condition") * 1000
    means = [841.7, 873.8, 921.9, 922.2]
    sems = [7.3, 7.2, 7.7, 8.1]
    assert table["mean_rt_s"].tolist() == pytest.approx(means, abs=0.1)
    assert table["sem_rt_s"].tolist() == pytest.approx(sems, abs=0.05)


@pytest.mark.golden
def test_different_is_slower_than_same_by_the_published_auc(people, imported):
    trials = imported[0].trials
    for distance, expected in (("close", 0.714), ("far", 0.621)):
        at = trials["distance_condition"].eq(distance)
        got = roc_auc_score(~trials.loc[at, "same_object"], people.human.loc[at, "mean_rt_s"])
        assert got == pytest.approx(expected, abs=0.001)


@pytest.mark.golden
def test_ceilings(people):
    whole = people.ceilings["all"]
    assert whole.split_half_r == pytest.approx(0.417, abs=0.004)
    assert whole.split_half_sd == pytest.approx(0.034, abs=0.003)
    assert whole.spearman_brown_r == pytest.approx(0.588, abs=0.004)
    assert whole.one_vs_rest_r == pytest.approx(0.292, abs=0.001)
    assert whole.one_vs_rest_sem == pytest.approx(0.011, abs=0.001)
    within = {
        "same close": 0.316,
        "same far": 0.424,
        "different close": 0.403,
        "different far": 0.326,
    }
    for name, expected in within.items():
        assert people.ceilings[name].split_half_r == pytest.approx(expected, abs=0.01)


def test_percentiles_are_the_published_ones(source, people, imported):
    path = source / "test_data_grouping_with_all_beh.xls"
    table = pd.read_excel(path, engine="calamine")
    published = table.set_index(name_trials(table))["subs_mean_p"]
    ours = people.human.set_index("trial_id")["mean_rt_percentile"]
    difference = ours - published.reindex(ours.index)
    assert difference.abs().max() < 1e-6
    one = find_participants(table)[0]
    own = table.loc[table[one] > 0, one]
    expected = [percentileofscore(own, rt, kind="rank") for rt in own]
    assert table.loc[own.index, f"{one}_p"].tolist() == pytest.approx(expected)


@pytest.mark.golden
@pytest.mark.parametrize(
    ("model", "representation", "readout", "metric", "expected"),
    [
        ("published:dinov2_vitb14", "keys", "spread_steps", "all", 0.233),
        ("published:dinov2_vitb14", "keys", "spread_steps", "same", 0.230),
        ("published:dinov2_vitb14", "keys", "spread_steps", "published", 0.195),
        ("published:dinov2_vitb14", "queries", "object_auc_dot2", "all", 0.153),
        ("published:dinov2_vitb14", "queries", "object_auc_dot2", "same", 0.220),
        ("control:distance", None, "distance", "all", 0.080),
        ("control:distance", None, "distance", "same", 0.165),
        ("control:distance", None, "distance", "published", 0.068),
        ("control:condition", None, "condition mean", "published", 0.250),
        ("same or different", None, "r", "published", 0.246),
        ("control:leak", None, "condition and other trials", "published", 0.368),
    ],
)
def test_published_correlations(published, model, representation, readout, metric, expected):
    rows = published.reset_index()
    at = rows["model"].eq(model) & rows["readout"].eq(readout) & rows["metric"].eq(metric)
    if representation is not None:
        at &= rows["representation"].eq(representation)
    (row,) = rows[at].itertuples()
    assert row.r == pytest.approx(expected, abs=0.002)
    assert row.ci_low_r < row.r < row.ci_high_r


@pytest.mark.golden
@pytest.mark.parametrize(
    ("model", "readout", "expected"),
    [
        ("published:dinov2_vitb14", "spread_steps", 0.47),
        ("control:distance", "distance", 0.16),
        ("control:condition", "condition mean", 0.60),
        ("same or different", "r", 0.59),
        ("control:leak", "condition and other trials", 0.88),
    ],
)
def test_published_normalised_scores(published, model, readout, expected):
    rows = published.reset_index()
    at = rows["model"].eq(model) & rows["readout"].eq(readout) & rows["metric"].eq("published")
    assert rows.loc[at, "r_over_split_half"].iloc[0] == pytest.approx(expected, abs=0.01)


@pytest.mark.golden
def test_a_perfect_model_would_score_above_one_on_the_published_scale(people):
    published = people.ceilings["published"]
    assert published.attainable_r / published.split_half_r == pytest.approx(1.55, abs=0.01)


@pytest.mark.golden
def test_published_object_centric_areas(source):
    curves = np.load(source / "published_readouts/dinov2_vitb14_test_14_q.npy")[:1020]
    assert integrate_roc(curves).mean() == pytest.approx(0.888, abs=0.0005)
    mean = curves.mean(axis=0)[None]
    assert integrate_roc(mean)[0] == pytest.approx(0.884, abs=0.0005)


def test_images_and_masks_are_counted_and_nothing_contradicts_the_design(imported):
    benchmark, report = imported
    assert report.counts["n_trials_with_image"] == 152
    assert report.counts["n_trials_with_mask"] == 32
    assert report.counts["n_trials_with_objects"] == 32
    assert report.misfits == []
    assert "120 trials" not in report.text
    masked = benchmark.trials[benchmark.trials["object1_id"].notna()]
    assert ((masked["object1_id"] == masked["object2_id"]) == masked["same_object"]).all()


def test_without_any_image_the_people_still_count(source, tmp_path):
    for name in ("test_data_grouping.xls", "test_data_grouping_with_all_beh.xls"):
        (tmp_path / "src").mkdir(exist_ok=True)
        (tmp_path / "src" / name).write_bytes((source / name).read_bytes())
    report = import_adeli2023(tmp_path / "src", out=tmp_path / "bench")
    assert report.counts["n_trials_with_image"] == 0
    assert report.counts["n_responses"] == 15480


def test_dots_are_pixel_centres_and_their_distance_is_the_table_s(source):
    table = read_published_table(source / "test_data_grouping.xls")
    trials = tabulate_trials(table, source="published")
    first = trials.iloc[0]
    assert (first["dot1_x_px"], first["dot1_y_px"]) == (316.5, 251.5)
    distance = np.hypot(
        trials["dot1_x_px"] - trials["dot2_x_px"], trials["dot1_y_px"] - trials["dot2_y_px"]
    )
    # The source's distances are up to a pixel off its own dots in a few rows.
    off = (distance - trials["distance_px"]).abs()
    assert off.max() < 1
    assert (off > 0.01).mean() < 0.05
    assert spearmanr(distance, trials["distance_px"]).statistic > 0.9999


def test_bad_sources_are_refused_by_name(source, tmp_path):
    with pytest.raises(InputError, match="objecthood data fetch adeli2023"):
        import_adeli2023(tmp_path, out=tmp_path / "b")
    with pytest.raises(InputError, match="no such folder"):
        import_adeli2023(source, out=tmp_path / "b", image_folders=[tmp_path / "x"])
    with pytest.raises(InputError, match="--panoptic"):
        import_adeli2023(source, out=tmp_path / "b", panoptic=[tmp_path / "x.json"])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(InputError, match="is not empty"):
        import_adeli2023(source, out=tmp_path / "full")
    (tmp_path / "test_data_grouping.xls").write_text("no spreadsheet")
    with pytest.raises(InputError, match="not a readable spreadsheet"):
        import_adeli2023(tmp_path, out=tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_damaged_tables_are_refused_by_row(source):
    table = read_published_table(source / "test_data_grouping.xls")
    broken = table.assign(first_dot_xy=["here", *table["first_dot_xy"][1:]])
    with pytest.raises(TableError, match="row 1: column 'first_dot_xy' holds 'here'"):
        tabulate_trials(broken, source="t")
    outside = table.assign(second_dot_xy=["[900, 10]", *table["second_dot_xy"][1:]])
    with pytest.raises(TableError, match="dot 2 inside the image"):
        tabulate_trials(outside, source="t")
    with pytest.raises(TableError, match="trial_id"):
        tabulate_trials(pd.concat([table, table.head(1)], ignore_index=True), source="t")


def test_an_image_whose_size_contradicts_the_table_is_refused(source, shared, tmp_path):
    other = shared / "coco128/images/val2017/000000000776.jpg"  # upright; the trial is not
    name = "16_289393.jpg"
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / name).write_bytes(other.read_bytes())
    sources = tmp_path / "src"
    sources.mkdir()
    for table in ("test_data_grouping.xls", "test_data_grouping_with_all_beh.xls"):
        (sources / table).write_bytes((source / table).read_bytes())
    with pytest.raises(InputError, match=rf"{name}: \d+x\d+ px, but trial '16_289393_same_close'"):
        import_adeli2023(sources, out=tmp_path / "b", image_folders=[tmp_path / "wrong"])
    assert not (tmp_path / "b").exists()


def test_published_readouts_of_another_length_are_refused(source, tmp_path):
    from analysis.adeli2023 import read_published_readouts

    folder = tmp_path / "published_readouts"
    folder.mkdir()
    np.save(folder / "dinov2_vitb14_test_14_k_0.8_0.02.npy", np.ones(5))
    with pytest.raises(TableError, match="5 values for 1020 trials"):
        read_published_readouts(tmp_path, pd.Series(range(1020)))


def test_the_written_tables_read_back(imported, tmp_path):
    benchmark = imported[0]
    write_table(benchmark.trials, tmp_path / "trials.csv")
    again = (tmp_path / "trials.csv").read_bytes()
    assert again == (benchmark.folder / "trials.csv").read_bytes()


def test_the_largest_groups_of_people_reach_the_published_split_half(imported, people):
    rows = select_rows(people.times, imported[0].trials)
    table = compute_ceiling_curve(rows, rng=np.random.default_rng(1), sizes=(36,), n_draws=100)
    assert table["mean_r"].iloc[0] == pytest.approx(0.417, abs=0.012)


def test_the_published_people_s_mean_rts_and_quantiles(imported, people):
    table = summarise_persons(people.times, pd.DataFrame(), errors_recorded=False)
    assert table["n_rts"].sum() == 15480
    assert table["accuracy"].isna().all()
    bins = bin_reaction_times(people.times, imported[0].trials)
    assert bins["n"].sum() == 15480
