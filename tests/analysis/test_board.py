"""Score files, the leaderboard and the figures that are made of them."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.board_page import render_board_page
from analysis.board_text import render_latex, render_markdown
from analysis.figures.draw_all import draw_all
from analysis.figures.models_and_ceiling import draw_models_and_ceiling, tabulate_models
from analysis.leaderboard import build_leaderboard
from analysis.people import analyse_people, load_times, summarise_people, write_people
from analysis.records import build_record, read_score_files, write_score_file
from analysis.scoring import ScoreSettings, score_readouts
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.errors import InputError
from stimuli.table_io import write_table
from tests.analysis.simulate import make_readouts, make_responses, make_times, make_trials

QUICK = ScoreSettings(n_draws=60, n_halves=30, seed=3)
MANIFEST = Manifest(name="tiny", version="1", source="test", licence="none", is_simulated=True)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A benchmark with people, and score files of three models and a control."""
    root = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(5)
    trials = make_trials(30)
    times, truth = make_times(trials, rng, n_people=16, trial_sd=0.15)
    benchmark = write_benchmark(root / "bench", manifest=MANIFEST, trials=trials)
    write_table(make_responses(times), benchmark.responses_folder / "all.csv")
    noise = rng.normal(size=len(trials))
    layered = [make_readouts(trials, truth * k + noise, model="b|c", layer=str(k)) for k in (9, 0)]
    for readouts in (
        make_readouts(trials, truth, model="good"),
        make_readouts(trials, -truth, model="anti"),
        pd.concat(layered),
        make_readouts(trials, np.ones(len(trials)), model="flat"),
        make_readouts(trials.iloc[:40], noise[:40], model="some"),
    ):
        scores = score_readouts(
            readouts, times=load_times(benchmark), trials=benchmark.trials, settings=QUICK
        )
        model_record = {"name": scores["model"].iloc[0], "is_random_weights": False}
        record = build_record(benchmark, settings=QUICK, command="test", model_record=model_record)
        write_score_file(scores, record, folder=root / "results")
    return benchmark, root / "results"


def test_a_score_file_holds_what_is_needed_to_compute_it_again(study):
    _, record, scores = read_score_files(study[1])[0]
    for key in ("trials_sha256", "metric_version", "settings", "command", "versions", "created"):
        assert record[key]
    assert record["settings"]["seed"] == 3
    assert set(scores["metric"]) == {"partial", "all", "same", "different", "published"}


def test_the_board_ranks_by_the_headline_within_the_same_rows(study):
    board = build_leaderboard(read_score_files(study[1]))
    shown = board[board["is_shown"]].set_index("model")
    assert shown.loc["good", "rank"] == 1
    assert shown.loc["anti", "rank"] == 3
    assert shown.loc["anti", "partial_r"] < 0
    assert pd.isna(shown.loc["flat", "rank"])
    assert shown.loc["some", "rank"] == 1  # alone on its 40 trials
    assert shown.loc["some", "n_trials"] == 40


def test_the_board_shows_the_last_layer_and_never_the_best(study):
    board = build_leaderboard(read_score_files(study[1]))
    layers = board[board["model"] == "b|c"].set_index("layer")
    assert layers.loc["9", "partial_r"] > layers.loc["0", "partial_r"]
    assert layers["is_shown"].to_dict() == {"9": False, "0": True}


def test_pages_show_every_model_escaped_and_say_that_people_are_simulated(study):
    files = read_score_files(study[1])
    board = build_leaderboard(files)
    markdown, page = render_markdown(board, files[0][1]), render_board_page(board, files)
    latex = render_latex(board, files[0][1])
    assert "b\\|c" in markdown
    for text in (markdown, page, latex):
        assert "SIMULATED" in text
        assert "good" in text
        assert "n/a" in text
    widths = {line.replace("\\|", "").count("|") for line in markdown.splitlines() if "|" in line}
    assert len(widths) == 1
    assert "://" not in page


def damaged(study, tmp_path, change):
    results = tmp_path / "results" / "scores"
    results.mkdir(parents=True)
    for path, _, _ in read_score_files(study[1]):
        (results / path.name).write_bytes(path.read_bytes())
    victim = sorted(results.iterdir())[1]
    content = json.loads(victim.read_text())
    victim.write_text(json.dumps(change(content)))
    return tmp_path / "results", victim.name


@pytest.mark.parametrize(
    "key", ["benchmark", "benchmark_version", "trials_sha256", "metric_version"]
)
def test_a_board_refuses_files_of_another_version_by_name(study, tmp_path, key):
    results, name = damaged(study, tmp_path, lambda content: content | {key: "another"})
    with pytest.raises(InputError, match=rf"{name}: {key} is 'another', but .* in 4 of 5 files"):
        build_leaderboard(read_score_files(results))


def test_damaged_score_files_are_refused_by_name(study, tmp_path):
    results, name = damaged(study, tmp_path, lambda content: content | {"format": "x"})
    with pytest.raises(InputError, match=rf"{name}: format 'x'"):
        read_score_files(results)
    (results / "scores" / name).write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        read_score_files(results)
    (results / "scores" / name).write_text("[]")
    with pytest.raises(InputError, match="expected a JSON object"):
        read_score_files(results)
    with pytest.raises(InputError, match="no score files"):
        read_score_files(tmp_path / "nowhere")


def test_names_that_look_alike_don_t_overwrite_each_other(study, tmp_path):
    _, record, scores = read_score_files(study[1])[0]
    names = ["a/b", "a:b", "a\\b", "a ü", "a u", "x" * 300, "x" * 301]
    for name in names:
        write_score_file(scores.assign(model=name), record, folder=tmp_path)
    assert len(read_score_files(tmp_path)) == len(names)


def test_figures_draw_the_tables_that_they_write(study, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "no-such-backend")
    benchmark, results = study
    pictures = draw_all(read_score_files(results), benchmark, folder=tmp_path)
    assert {path.suffix for path in pictures} == {".pdf", ".svg", ".png"}
    assert all(path.stat().st_size > 1000 for path in pictures)
    models = pd.read_csv(tmp_path / "models_and_ceiling.csv")
    assert models["r"].is_monotonic_decreasing
    caption = json.loads((tmp_path / "models_and_ceiling.json").read_text())
    assert (caption["n_trials"], caption["n_people"]) == (120, 16)


def test_bars_intervals_and_band_lie_where_the_table_says(study):
    models = tabulate_models(build_leaderboard(read_score_files(study[1])))
    axes = draw_models_and_ceiling(models, is_simulated=True).axes[0]
    bars = axes.containers[0]
    assert [bar.get_width() for bar in bars] == pytest.approx(models["r"].tolist())
    band = axes.patches[-1].get_extents().transformed(axes.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx(
        (models["one_vs_rest_r"].iloc[0], models["attainable_r"].iloc[0])
    )
    assert "simulated people" in axes.get_xlabel()


def test_a_figure_without_any_headline_value_still_draws(study):
    board = build_leaderboard(read_score_files(study[1]))
    flat = board[board["model"] == "flat"]
    assert tabulate_models(flat).empty
    draw_models_and_ceiling(tabulate_models(flat), is_simulated=False)


def test_figures_of_controls_alone_still_draw(study, tmp_path):
    benchmark, results = study
    files = [file for file in read_score_files(results) if file[2]["model"].iloc[0] == "flat"]
    assert draw_all(files, benchmark, folder=tmp_path)


def test_figures_refuse_another_benchmark(study, tmp_path):
    other = write_benchmark(tmp_path / "other", manifest=MANIFEST, trials=make_trials(2))
    with pytest.raises(InputError, match="scored on another trial table"):
        draw_all(read_score_files(study[1]), other, folder=tmp_path)


def test_the_summary_of_people_says_what_it_is_and_derived_files_can_be_rebuilt(study):
    benchmark, _ = study
    people = analyse_people(benchmark, n_halves=30)
    write_people(people, benchmark)
    first = {
        name: (benchmark.folder / name).read_bytes() for name in ("human.csv", "ceilings.json")
    }
    for name in first:
        (benchmark.folder / name).unlink()
    write_people(analyse_people(benchmark, n_halves=30), benchmark)
    for name, content in first.items():
        assert (benchmark.folder / name).read_bytes() == content
    summary = summarise_people(people, benchmark)
    assert summary["is_simulated"] is True
    assert (summary["n_people"], summary["n_trials"], summary["n_correct_rts"]) == (16, 120, 1920)
    assert set(people.ceilings) >= {"partial", "published", "same close", "different far"}
