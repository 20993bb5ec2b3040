"""Figures: their tables, where bars, bands and points lie, and what is said when one can't be drawn."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from analysis.families import list_model_facts, name_family
from analysis.figures import (
    accuracy_and_rt,
    affinity_maps,
    ceiling_by_people,
    easiest_and_hardest,
    exclusions,
    layer_curves,
    mixed_coefficients,
    models_and_ceiling,
    object_auc_and_alignment,
    persons_and_models,
    roc_curves,
    rt_by_condition,
    rt_distributions,
    task_and_design,
    years_and_families,
)
from analysis.figures.catalogue import FIGURES, choose_figures
from analysis.figures.colours import FIXED, assign_colours
from analysis.figures.draw_all import draw_figures
from analysis.figures.drawing import NotDrawn
from analysis.figures.material import load_material
from analysis.person_tables import bin_reaction_times
from analysis.published_roc import average_curves
from analysis.records import read_score_files
from analysis.statistic_tables import MixedScores
from model_eval.card import Feature
from model_eval.map_files import AffinityMap, MapFile
from stimuli.benchmark import open_benchmark
from stimuli.dots import PUBLISHED_DOT
from stimuli.errors import InputError
from stimuli.geometry import pad_to_grid


@pytest.fixture(scope="module")
def material(study):
    benchmark, results = study
    return load_material(read_score_files(results), benchmark, results=results)


@pytest.fixture(scope="module")
def drawn(material, tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    return draw_figures(material, folder=folder), folder


def test_every_figure_is_drawn_or_named_with_its_reason(drawn):
    found, _ = drawn
    assert set(found.pictures) | set(found.reasons) == {entry.name for entry in FIGURES}
    assert set(found.pictures) >= {entry.name for entry in FIGURES} - {
        "roc_curves",
        "models_on_fewer_trials",
        "years_and_families",
        "mixed_coefficients",
        "power_curves",
        "exclusions",
        "affinity_maps",
    }
    assert "published_roc.csv" in found.reasons["roc_curves"]


def test_a_figure_comes_as_pdf_svg_and_png_with_its_table_and_caption(drawn):
    found, folder = drawn
    for name, paths in found.pictures.items():
        assert [path.name for path in paths] == [f"{name}.{kind}" for kind in ("pdf", "svg", "png")]
        assert all(path.stat().st_size > 1000 for path in paths)
        assert len(pd.read_csv(folder / f"{name}.csv"))
        caption = json.loads((folder / f"{name}.json").read_text())
        assert caption["is_simulated"] is True
        assert len(caption["text"]) > 80


def test_fonts_are_embedded_and_nothing_is_left_to_the_reader_s_machine(drawn):
    pdf = drawn[0].pictures["rt_by_condition"][0].read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    svg = drawn[0].pictures["rt_by_condition"][1].read_text()
    assert "<text" not in svg  # letters are outlines


def test_the_same_tables_give_the_same_bytes(material, drawn, tmp_path):
    again = draw_figures(material, folder=tmp_path, entries=choose_figures(["rt_by_condition"]))
    for path in again.pictures["rt_by_condition"]:
        assert path.read_bytes() == (drawn[1] / path.name).read_bytes()


def test_numbers_hold_what_a_text_quotes_and_agree_with_the_tables(drawn, material):
    numbers = json.loads((drawn[1] / "numbers.json").read_text())
    conditions = material.conditions.set_index("condition")
    quoted = numbers["figures"]["rt_by_condition"]["same close"]["mean_rt_ms"]
    assert quoted == pytest.approx(conditions.loc["same close", "mean_rt_s"] * 1000)
    scores = numbers["figures"]["models_and_ceiling"]["scores"]
    table = pd.read_csv(drawn[1] / "models_and_ceiling.csv").set_index("label")
    assert {name: score["r"] for name, score in scores.items()} == pytest.approx(
        table["r"].to_dict()
    )
    assert numbers["not_drawn"] == drawn[0].reasons


def test_only_the_wanted_figures_are_drawn_and_an_unknown_one_is_refused():
    assert [e.name for e in choose_figures(["layer_curves", "rt_by_condition"])] == [
        "rt_by_condition",
        "layer_curves",
    ]
    with pytest.raises(
        InputError, match=r"--only 'nonsense': no such figure; expected one of task"
    ):
        choose_figures(["nonsense"])


def test_every_figure_has_a_name_and_a_title_of_its_own():
    assert len({entry.name for entry in FIGURES}) == len(FIGURES)
    assert len({entry.title for entry in FIGURES}) == len(FIGURES)


def test_the_command_runs_without_display_and_with_a_hostile_backend(study, tmp_path):
    benchmark, results = study
    command = [sys.executable, "objecthood.py", "figures", str(results)]
    command += ["--benchmark", str(benchmark.folder), "--out", str(tmp_path)]
    environment = {k: v for k, v in os.environ.items() if k != "DISPLAY"}
    run = subprocess.run(
        [*command, "--only", "rt_by_condition", "--only", "roc_curves"],
        env=environment | {"MPLBACKEND": "no-such-backend"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert [line.rsplit(".", 1)[1] for line in run.stdout.split()] == ["pdf", "svg", "png"]
    assert "not drawn: roc_curves: the benchmark has no published_roc.csv" in run.stderr


# What is drawn where


def test_error_bars_are_those_of_the_table(material):
    table = material.conditions
    axes = rt_by_condition.draw_rt_by_condition(table, is_simulated=True).axes[0]
    for bar, kind in zip(axes.containers, ("same", "different"), strict=True):
        rows = table[table["condition"].str.startswith(kind)]
        middle = bar.lines[0].get_ydata()
        assert middle == pytest.approx((rows["mean_rt_s"] * 1000).to_numpy())
        segments = bar.lines[2][0].get_segments()
        half = [(top - bottom) / 2 for (_, bottom), (_, top) in segments]
        assert half == pytest.approx((rows["sem_rt_s"] * 1000).to_numpy())


def test_bars_are_sorted_in_their_family_s_colour_with_the_table_s_intervals(material):
    table = models_and_ceiling.tabulate_models(material.board)
    axes = models_and_ceiling.draw_models_and_ceiling(
        table, is_simulated=True, colours=material.colours
    ).axes[0]
    assert table["r"].is_monotonic_decreasing
    bars = axes.containers[0]
    assert [bar.get_width() for bar in bars] == pytest.approx(table["r"].tolist())
    wanted = [material.colours[group].lower() for group in table["group"]]
    assert [to_hex(bar.get_facecolor()) for bar in bars] == wanted
    segments = axes.collections[0].get_segments()
    ends = np.array([[a[0], b[0]] for a, b in segments])
    assert ends == pytest.approx(table[["ci_low_r", "ci_high_r"]].to_numpy())


def test_scores_of_other_trials_get_a_figure_of_their_own(material):
    fewer = material.board.assign(n_trials=10, rows_sha256="other", partial_r=0.5)
    both = pd.concat([material.board, fewer], ignore_index=True)
    assert set(models_and_ceiling.tabulate_models(both)["n_trials"]) == {64}
    assert set(models_and_ceiling.tabulate_models(both, place=1)["n_trials"]) == {20}
    assert set(models_and_ceiling.tabulate_models(both, place=2)["n_trials"]) == {10}
    assert models_and_ceiling.tabulate_models(both, place=3).empty


def test_points_of_the_key_figure_are_models_and_the_line_is_that_of_the_table(material):
    made = object_auc_and_alignment.make(material)
    assert set(made.table["model"]) == {"a<b>", "c|d", "e ü", "random"}
    assert made.table["object_auc"].is_monotonic_decreasing
    assert made.numbers["n_models"] == 4
    points = {
        line.get_label(): (line.get_xdata()[0], line.get_ydata()[0])
        for line in made.figure.axes[0].lines
        if not line.get_label().startswith("_")
    }
    for _, row in made.table.iterrows():
        assert points[row["model"]] == pytest.approx((row["object_auc"], row["r"]))
    assert made.numbers["spearman_r"] > 0.5  # planted: the better, the more object-centric


def test_the_key_figure_of_two_models_has_points_and_no_line(material):
    few = material.board[material.board["model"].isin(["a<b>", "c|d"])]
    table = object_auc_and_alignment.tabulate_alignment(few, material.readouts)
    line = object_auc_and_alignment.fit_line(
        table["object_auc"].to_numpy(float), table["r"].to_numpy(float)
    )
    band = object_auc_and_alignment.tabulate_band(line, table["object_auc"])
    assert band.empty
    object_auc_and_alignment.draw_alignment(table, band, colours=material.colours)


def test_layers_are_in_order_of_their_number_and_depth_runs_from_0_to_1(material):
    board = material.board.copy()
    board["layer"] = board["layer"].map({"0": "2", "1": "10", "2": "11"})
    table = layer_curves.tabulate_layers(board)
    for _, rows in table.groupby("model"):
        assert rows["layer"].tolist() == ["2", "10", "11"]
        assert rows["depth"].tolist() == [0.0, 0.5, 1.0]


def test_years_keep_reported_and_measured_apart(material):
    reported = pd.DataFrame(
        {
            "model": ["x", "y", "z"],
            "family": ["MAE", "MAE", "people"],
            "year": [2020, 2021, np.nan],
            "quantity": ["r", "grouping_accuracy", "r"],
            "value": [0.2, 0.9, 0.4],
            "citation": "adeli2023",
        }
    )
    table = years_and_families.tabulate_years(material.board, reported)
    assert set(table.loc[table["source"] == "adeli2023", "model"]) == {"x"}
    assert set(table.loc[table["source"] == "here", "year"]) == {2021, 2022, 2023}
    assert table["panel"].nunique() == 2
    years_and_families.draw_years(table, colours=assign_colours(table["family"]))
    nothing = years_and_families.tabulate_years(material.board.assign(year=pd.NA), reported[:0])
    assert nothing.empty


def test_roc_curves_start_at_zero_and_their_area_is_in_the_legend():
    perfect = np.tile(np.array([[1.0, 1.0, 1.0], [0.0, 0.5, 1.0]]), (4, 1, 1))
    cells = np.array(["same close", "same far", "different close", "different far"])
    roc = average_curves(perfect, cells).assign(representation="keys", model="m", layer="0")
    areas = roc_curves.tabulate_areas(roc)
    assert set(areas["area"]) == {1.0}
    axes = roc_curves.draw_roc_curves(roc, areas).axes[0]
    assert all(line.get_xdata()[0] == 0 for line in axes.lines)
    assert "all: 1.000" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_design_shows_one_photograph_s_four_displays_with_dots(material):
    made = task_and_design.make(material)
    assert made.table["condition"].tolist() == [
        "same close",
        "same far",
        "different close",
        "different far",
    ]
    assert len(set(made.table["scene_id"])) == 1
    assert len(made.figure.axes) == 4
    row = made.table.iloc[0]
    shown = task_and_design.show_trial(material.benchmark, row["trial_id"])
    assert tuple(shown[int(row["dot1_y_px"]), int(row["dot1_x_px"])]) == PUBLISHED_DOT.core_colour


def test_a_benchmark_without_photographs_says_so(material, tmp_path):
    trials = material.benchmark.trials.assign(image=None)
    bare = open_benchmark(material.benchmark.folder)
    bare = type(bare)(folder=tmp_path, manifest=bare.manifest, trials=trials)
    names = {name: getattr(material, name) for name in type(material).__dataclass_fields__}
    without = type(material)(**names | {"benchmark": bare})
    for figure in (task_and_design, easiest_and_hardest):
        made = figure.make(without)
        assert isinstance(made, NotDrawn)
        assert "photograph" in made.reason


def test_extremes_show_people_and_the_best_model_with_people_s_times(material):
    made = easiest_and_hardest.make(material)
    assert made.table["observer"].drop_duplicates().tolist() == ["people", "a<b>"]
    people = made.table[made.table["observer"] == "people"]
    easy = people.loc[people["end"] == "easiest", "mean_rt_s"]
    hard = people.loc[people["end"] == "hardest", "mean_rt_s"]
    assert easy.is_monotonic_increasing
    assert hard.is_monotonic_decreasing
    assert easy.max() < hard.min()


# Families and colours


def test_controls_and_random_weights_are_families_of_their_own():
    assert name_family("control:colour", {"family": "x"}) == "control"
    assert name_family("m", {"family": "x", "is_random_weights": True}) == "random weights"
    assert name_family("m", {"family": "x"}) == "x"
    assert name_family("m", {"family": None}) == "m"
    facts = list_model_facts([{"model": {"year": 2021}}, {"model": {}}], ["a", "b"])
    assert facts["year"].isna().tolist() == [False, True]


def test_a_family_keeps_its_colour_whoever_is_beside_it():
    alone, beside = assign_colours(["DINO"]), assign_colours(["DINO", "MAE", "new", "newer"])
    assert alone["DINO"] == beside["DINO"] == FIXED["DINO"]
    assert len(set(beside.values())) == 4
    many = assign_colours(f"f{k}" for k in range(30))
    assert len(many) == 30


def test_figures_refuse_scores_of_another_benchmark(study, tmp_path):
    benchmark, results = study
    other = tmp_path / "other"
    other.mkdir()
    for name in ("benchmark.json", "trials.csv"):
        (other / name).write_bytes((benchmark.folder / name).read_bytes())
    (other / "trials.csv").write_text((other / "trials.csv").read_text().replace(",t\n", ",t2\n"))
    with pytest.raises(InputError, match="scored on another trial table"):
        load_material(read_score_files(results), open_benchmark(other), results=results)


# People


def test_every_person_s_ledger_is_drawn_as_shares_least_taken_first():
    ledger = pd.DataFrame(
        {
            "participant_id": ["a", "a", "a", "b", "b", "b"],
            "rule": ["wrong", "analysed", "flagged, kept: |z| > 3 within person"] * 2,
            "n_presentations": [3, 7, 2, 1, 9, 0],
        }
    )
    table = exclusions.tabulate_shares(ledger)
    assert table["participant_id"].tolist() == ["b", "b", "a", "a"]
    wrong = table[table["rule"] == "wrong"].set_index("participant_id")["share"]
    assert wrong.to_dict() == {"a": 0.3, "b": 0.1}
    axes = exclusions.draw_exclusions(table).axes[0]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([10.0, 30.0])
    assert axes.lines[0].get_ydata() == pytest.approx([0.0, 20.0])


def test_nothing_taken_is_said_not_drawn(material):
    ledger = material.analysed.exclusion.ledger.assign(n_presentations=0)
    nothing = replace(material.analysed.exclusion, ledger=ledger)
    made = exclusions.make(
        replace(material, analysed=replace(material.analysed, exclusion=nothing))
    )
    assert isinstance(made, NotDrawn)
    assert "no rule took" in made.reason


def test_the_distribution_s_steps_are_the_table_s_shares_and_what_lies_beyond_is_counted(material):
    made = rt_distributions.make(material)
    assert made.numbers["n_rts"] == np.isfinite(material.analysed.times.rt_s).sum()
    bins = bin_reaction_times(material.analysed.times, material.benchmark.trials)
    left = made.figure.axes[0]
    for line, (_, rows) in zip(left.lines, bins.groupby("condition", sort=False), strict=True):
        assert line.get_ydata() == pytest.approx(rows["share"].to_numpy())
    end = left.get_xlim()[1]
    assert made.numbers["n_beyond_axis"] == bins.loc[bins["low_s"] >= end, "n"].sum()


def test_accuracy_is_drawn_only_where_errors_are_recorded(material):
    made = accuracy_and_rt.make(material)
    assert made.numbers["n_people"] == 12
    silent = replace(
        material.benchmark, manifest=replace(material.benchmark.manifest, errors_recorded=False)
    )
    assert "no error trials" in accuracy_and_rt.make(replace(material, benchmark=silent)).reason


def test_the_ceiling_s_bars_span_the_draws(material):
    made = ceiling_by_people.make(material)
    segments = made.figure.axes[0].collections[0].get_segments()
    ends = np.array([[a[1], b[1]] for a, b in segments])
    assert ends == pytest.approx(made.table[["low_r", "high_r"]].to_numpy())


def test_mixed_coefficients_need_explain_and_then_show_its_numbers(material):
    assert "objecthood explain" in mixed_coefficients.make(material).reason
    row = material.board[material.board["is_shown"]].iloc[0]
    columns = MixedScores.to_schema().columns
    mixed = pd.DataFrame([dict.fromkeys(columns)]).assign(
        **{name: row[name] for name in ("model", "layer", "representation", "readout")},
        estimate=0.02,
        ci_low=0.01,
        ci_high=0.03,
        percent_per_sd=100 * np.expm1(0.02),
        df=50.0,
        p=0.001,
        delta_aic=-7.0,
        n_rts=100,
        n_trials=64,
        n_scenes=16,
        n_people=12,
    )
    made = mixed_coefficients.make(replace(material, mixed=mixed))
    assert made.table["percent_low"].tolist() == pytest.approx([100 * np.expm1(0.01)])
    point = made.figure.axes[0].lines[1]
    assert point.get_xdata() == pytest.approx([100 * np.expm1(0.02)])
    assert to_hex(point.get_markerfacecolor()) != "#ffffff"  # its AIC is lower
    silent = mixed.assign(estimate=np.nan)
    assert "mixed.csv says why" in mixed_coefficients.make(replace(material, mixed=silent)).reason


def test_persons_stand_in_rows_of_the_best_readouts_below_the_others(material):
    made = persons_and_models.make(material)
    labels = [text.get_text() for text in made.figure.axes[0].get_yticklabels()]
    assert labels[0] == "the other people"
    means = [made.numbers[label]["mean_r"] for label in labels[1:]]
    assert means == sorted(means, reverse=True)
    nothing = replace(material, readouts=material.readouts[:0])
    assert "RESULTS/readouts" in persons_and_models.make(nothing).reason


# Maps


def make_maps(material, models, *, layer="2", n_scenes=5):
    """Maps of the first scenes of the study, rising to the right, 10-pixel patches of 80 x 60."""
    trials = material.benchmark.trials
    scenes = trials.loc[trials["image"].notna(), "scene_id"].unique()[:n_scenes]
    grid = pad_to_grid(width_px=80, height_px=60, stride_px=10)
    maps = []
    for scene in scenes:
        rows = trials[trials["scene_id"] == scene]
        first = rows.iloc[0]
        maps.append(
            AffinityMap(
                feature=Feature(layer=layer, representation="tokens"),
                trial_ids=tuple(rows["trial_id"]),
                scene_id=scene,
                image=first["image"],
                image_sha256=first["image_sha256"],
                dot_x_px=first["dot1_x_px"],
                dot_y_px=first["dot1_y_px"],
                grid=grid,
                affinity=np.tile(np.arange(8, dtype=np.float32), (6, 1)),
            )
        )
    return tuple(MapFile(model=name, geometry="pad", maps=tuple(maps)) for name in models)


def test_maps_stand_beside_their_display_with_the_affinity_at_the_second_dot(material):
    made = affinity_maps.make(replace(material, maps=make_maps(material, ["c|d", "a<b>"])))
    board = list(material.board["model"].drop_duplicates())
    assert made.numbers["models"] == sorted(["c|d", "a<b>"], key=board.index)
    assert made.table["trial_id"].nunique() == 4
    assert set(made.table["condition"].head(4)) == {"same far", "different far"}
    trials = material.benchmark.trials.set_index("trial_id")
    columns = np.floor(trials.loc[made.table["trial_id"], "dot2_x_px"].to_numpy() / 10)
    assert made.table["affinity_at_dot2"].tolist() == columns.tolist()
    map_axes = made.figure.axes[1]
    assert map_axes.get_xlim() == (0, 80)  # of the photograph, whatever the padding
    assert map_axes.images[0].get_extent() == [0, 80, 60, 0]
    dots = [line.get_xdata()[0] for line in map_axes.lines]
    assert dots == [trials.loc[made.table["trial_id"][0], f"dot{k}_x_px"] for k in (1, 2)]


def test_maps_of_no_common_display_and_no_maps_are_said_not_drawn(material):
    assert "--keep-maps" in affinity_maps.make(replace(material, maps=())).reason
    (one,) = make_maps(material, ["a<b>"])
    halves = [replace(one, maps=one.maps[:2]), replace(one, model="c|d", maps=one.maps[2:])]
    assert "map of every model" in affinity_maps.make(replace(material, maps=tuple(halves))).reason
