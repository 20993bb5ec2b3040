"""The report: complete, self-contained, generated from what ran, and printed through Chromium."""

import shutil
import stat

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from analysis.figures.draw_all import draw_all
from analysis.leaderboard import build_leaderboard
from analysis.people import analyse_people, load_times
from analysis.print_pdf import find_chromium, print_pdf
from analysis.records import build_record, read_score_files, write_score_file
from analysis.report import ReportParts, render_report
from analysis.report_methods import list_versions, write_methods
from analysis.scoring import ScoreSettings, score_readouts
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.errors import InputError
from stimuli.table_io import write_table
from tests.analysis.simulate import make_readouts, make_responses, make_times, make_trials

MANIFEST = Manifest(name="tiny", version="1", source="test", licence="none", is_simulated=True)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
EVIL = "<b onclick=x>model</b>"


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    root = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(7)
    trials = make_trials(12)
    times, truth = make_times(trials, rng, n_people=8, trial_sd=0.15)
    benchmark = write_benchmark(root / "bench", manifest=MANIFEST, trials=trials)
    write_table(make_responses(times), benchmark.responses_folder / "all.csv")
    for name, seed in (("good", 3), (EVIL, 4)):
        settings = ScoreSettings(n_draws=40, n_halves=20, seed=seed)
        scores = score_readouts(
            make_readouts(trials, truth, model=name),
            times=load_times(benchmark),
            trials=trials,
            settings=settings,
        )
        model = {"name": name, "source": "readouts", "geometry": "pad"}
        record = build_record(benchmark, settings=settings, command="t", model_record=model)
        write_score_file(scores, record, folder=root / "results")
    files = read_score_files(root / "results")
    pictures = draw_all(files, benchmark, folder=root / "figures")
    return ReportParts(
        benchmark=benchmark,
        people=analyse_people(benchmark, n_halves=20),
        files=files,
        board=build_leaderboard(files),
        pictures=[path for path in pictures if path.suffix == ".png"],
    )


def test_the_report_holds_every_part_and_needs_no_network(parts):
    page = render_report(parts)
    for heading in ("Audit", "Exclusions", "Ceilings", "Models", "Figures", "Methods", "Versions"):
        assert f"{heading}</h" in page or f"{heading} and citations</h" in page
    assert page.count("data:image/png;base64,") == len(parts.pictures) > 0
    assert "http" not in page.replace("http-equiv", "")
    assert "SIMULATED" in page
    assert EVIL not in page
    assert "&lt;b onclick" in page


def test_the_methods_say_what_ran_and_name_each_setting_that_differs(parts):
    text = write_methods(parts.benchmark, parts.people, parts.files)
    assert "48 displays" in text["Displays"]
    assert "12 same close" in text["Displays"]
    assert "8 simulated observers (not people) gave 384 analysed reaction times" in text["People"]
    assert "geometry pad" in text["Models"]
    assert "seed 4 or 3" in text["Scores"] or "seed 3 or 4" in text["Scores"]
    assert "n_draws 40," in text["Scores"]


def test_versions_count_the_files_that_they_are_of(parts):
    table = list_versions(parts.files).set_index("what")
    assert table.loc["python", "score files"] == 2


def test_the_report_reads_well_on_a_phone_and_prints_as_pdf(parts, tmp_path):
    path = tmp_path / "a report.html"
    path.write_text(render_report(parts), encoding="utf-8")
    browser = find_chromium()
    assert browser is not None
    faults = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        page = chromium.new_page(viewport={"width": 390, "height": 844})
        page.on("console", lambda message: faults.append(message.text))
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.evaluate("[...document.images].every((i) => i.naturalWidth > 100)")
        chromium.close()
    assert faults == []
    print_pdf(path, tmp_path / "report.pdf", browser=browser)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_a_browser_that_makes_no_pdf_is_named_and_nothing_is_left(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>x</p>")
    broken = tmp_path / "browser"
    broken.write_text("#!/bin/sh\necho out of luck >&2\nexit 3\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(InputError, match=r"made no PDF \(exit code 3; it said: out of luck\)"):
        print_pdf(page, tmp_path / "out.pdf", browser=str(broken))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["browser", "page.html"]


def test_without_a_browser_there_is_no_pdf(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert find_chromium() is None


def test_people_alone_make_a_report_without_models(parts, tmp_path):
    pictures = draw_all([], parts.benchmark, folder=tmp_path / "figures")
    alone = ReportParts(
        benchmark=parts.benchmark,
        people=parts.people,
        pictures=[path for path in pictures if path.suffix == ".png"],
    )
    page = render_report(alone)
    assert "No model was scored: this is a report on the people." in page
    assert "Distributions of reaction times" in page
    assert "Models and controls" not in page
    assert "numpy" in page  # the versions of now
    assert set(write_methods(parts.benchmark, parts.people, [])) == {"Displays", "People"}
    assert build_leaderboard([]).empty


def test_ceilings_are_given_with_their_intervals_and_figures_with_their_words(parts):
    page = render_report(parts)
    ceiling = parts.people.ceilings["all"]
    low, high = ceiling.split_half_low_r, ceiling.split_half_high_r
    assert f"{ceiling.split_half_r:.3f} [{low:.3f}, {high:.3f}]" in page
    assert "Mean reaction time of the correct responses of simulated people" in page
