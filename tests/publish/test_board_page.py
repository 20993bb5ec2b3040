"""The leaderboard page in a real browser: sorting, filtering, opening a row, and its size."""

import sys
import time

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

from analysis.board_examples import choose_examples
from analysis.board_page import embed_json, render_board_page
from analysis.board_reported import read_reported
from analysis.board_text import CSV_COLUMNS, render_latex, render_markdown, tabulate_board
from analysis.board_thumbnails import make_thumbnails
from analysis.leaderboard import build_leaderboard
from analysis.rank_intervals import add_rank_intervals
from analysis.tables import METRIC_NAMES, Scores
from stimuli.benchmark import Manifest, hash_file, write_benchmark
from stimuli.errors import InputError
from stimuli.table_io import check_table
from tests.analysis.simulate import make_readouts, make_trials

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
MANIFEST = Manifest(name="adeli2023", version="1", source="t", licence="n", is_simulated=True)


def make_scores(name, rng, *, n_layers, r=None, n_trials=1020):
    rows = []
    for layer in range(n_layers):
        for metric in METRIC_NAMES:
            value = rng.uniform(-0.1, 0.5) if r is None else r
            rows.append(
                dict.fromkeys(Scores.to_schema().columns)
                | {
                    "model": name,
                    "layer": str(layer),
                    "representation": "tokens",
                    "readout": "cosine",
                    "kind": "evidence_same",
                    "metric": metric,
                    "r": value,
                    "ci_low_r": value - 0.06,
                    "ci_high_r": value + 0.06,
                    "attainable_r": 0.74,
                    "one_vs_rest_r": 0.25,
                    "split_half_r": 0.42,
                    "r_over_attainable": value / 0.74,
                    "r_over_split_half": value / 0.42,
                    "control_condition_r": 0.299,
                    "n_trials": n_trials,
                    "n_scenes": 255,
                    "n_people": 72,
                    "rows_sha256": f"{n_trials:064d}",
                }
            )
    table = pd.DataFrame(rows)
    return check_table(table, Scores, source="made")


def make_file(tmp_path, name, scores, **facts):
    record = {
        "benchmark": "adeli2023",
        "benchmark_version": "1",
        "trials_sha256": "t" * 64,
        "metric_version": "1",
        "is_simulated": False,
        "settings": {"seed": 0},
        "model": {"name": name, "is_random_weights": False, **facts},
    }
    return tmp_path / f"{name[:20]}.json", record, scores


def make_files(tmp_path, n_models, *, n_layers=12):
    rng = np.random.default_rng(4)
    families, objectives = ["DINOv2", "MAE", "supervised"], ["self-supervised", "supervised"]
    base = make_scores("base", rng, n_layers=n_layers)
    shifts = rng.uniform(-0.1, 0.1, n_models)
    return [
        make_file(
            tmp_path,
            f"model{k:03d}",
            base.assign(model=f"model{k:03d}", r=base["r"] + shifts[k]),
            family=families[k % 3],
            objective=objectives[k % 2],
            year=2019 + k % 7,
            n_parameters=1_000_000 * (k + 1),
        )
        for k in range(n_models)
    ]


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page's text; whatever the browser complains of, or asks the network for, fails."""
    pages, faults = [], []

    def open_text(text, **options):
        path = tmp_path / "board.html"
        path.write_text(text, encoding="utf-8")
        page = browser.new_page(**options)
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request",
            lambda r: r.url.startswith(("file:", "data:")) or faults.append(f"asked for {r.url}"),
        )
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield open_text
    for page in pages:
        page.close()
    assert faults == []


def names(page):
    return page.locator("table.board tbody:not([hidden]) .name").all_inner_texts()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Five models with a tie, a second set of rows, hostile names, and a control without headline."""
    folder, rng = tmp_path_factory.mktemp("small"), np.random.default_rng(1)
    files = make_files(folder, 3, n_layers=3)
    for name in ("twin", "<img src=x onerror=alert(1)>"):
        files.append(make_file(folder, name, make_scores(name, rng, n_layers=1, r=0.61)))
    files.append(make_file(folder, "few", make_scores("few", rng, n_layers=1, r=0.9, n_trials=152)))
    flat = make_scores("control:condition", rng, n_layers=1, r=0.299)
    flat.loc[flat["metric"] == "partial", ["r", "ci_low_r", "ci_high_r"]] = np.nan
    files.append(make_file(folder, "control:condition", flat))
    return files, build_leaderboard(files)


def test_headers_sort_both_ways_say_so_and_keep_rows_without_a_value_last(visit, small):
    page = visit(render_board_page(small[1], small[0]))
    first = page.locator("table.board").first
    header = first.locator("th.c-all")
    header.locator("button").focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    values = [float(v.replace("−", "-")) for v in first.locator("td.c-all").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    assert first.locator("th[aria-sort]").count() == 1
    first.locator("thead th.c-model button").click()
    assert first.locator("tbody").last.locator(".name").inner_text() != "control:condition"
    for _ in range(2):
        first.locator("th.c-headline button").click()
        assert first.locator("tbody").last.locator(".name").inner_text() == "control:condition"
    first.locator("th.c-rank button").click()
    ranks = first.locator("td.c-rank").all_inner_texts()
    assert ranks == ["=1", "=1", "3", "4", "5", "n/a"]


def test_text_family_and_objective_filter_and_the_count_says_that_ranks_stay(visit, small):
    page = visit(render_board_page(small[1], small[0]))
    page.fill("#find", "MODEL00")
    assert set(names(page)) == {"model000", "model001", "model002"}
    page.select_option("#family", "MAE")
    assert names(page) == ["model001"]
    assert "1 of 7 rows; ranks are those of the whole table" in page.inner_text("#count")
    page.select_option("#family", "")
    page.select_option("#objective", "self-supervised")
    assert set(names(page)) == {"model000", "model002"}
    page.fill("#find", "no such model")
    assert names(page) == []


def test_a_row_opens_by_keyboard_to_its_curve_and_closes_again(visit, small):
    page = visit(render_board_page(small[1], small[0]))
    button = page.get_by_role("button", name="model000")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    panel = page.locator(f"[id='{button.get_attribute('aria-controls')}']")
    assert panel.locator("svg.curve circle").count() == 3
    assert "layer 2" in panel.locator("svg.curve").get_attribute("aria-label")
    assert "four condition means alone reach r 0.299" in panel.inner_text()
    page.keyboard.press("Enter")
    assert not panel.is_visible()


def test_ties_share_a_rank_and_sets_of_rows_are_tables_of_their_own(visit, small):
    page = visit(render_board_page(small[1], small[0]))
    ranks = page.locator("table.board").first.locator("td.c-rank").all_inner_texts()
    assert ranks == ["=1", "=1", "3", "4", "5", "n/a"]
    assert page.locator("table.board").count() == 2
    assert page.locator("table.board").last.locator("td.c-rank").all_inner_texts() == ["1"]


def test_a_rank_interval_is_shown_where_the_scores_were_compared(tmp_path):
    files = make_files(tmp_path, 2, n_layers=1)
    board, notes = add_rank_intervals(build_leaderboard(files), rank(build_leaderboard(files)))
    assert notes == []
    assert 'c-rank">1 (1–2)</td>' in render_board_page(board, files)
    assert "| 1 (1-2) | model" in render_markdown(board, files[0][1])


def rank(board):
    """Return a ranking of the shown rows, as `compare` writes it."""
    shown = board[board["rank"].notna()]
    return shown[["model", "layer", "representation", "readout", "rows_sha256"]].assign(
        r=shown["partial_r"], rank_low=1, rank_high=len(shown)
    )


def test_an_old_comparison_gives_no_intervals_and_says_why(tmp_path):
    board = build_leaderboard(make_files(tmp_path, 3, n_layers=1))
    for ranking, reason in (
        (rank(board).iloc[:2], "1 of the ranked readouts weren't compared"),
        (pd.concat([rank(board), rank(board).assign(model="x")]), "others were compared too"),
        (rank(board).assign(r=0.5), "was compared with another score"),
    ):
        filled, notes = add_rank_intervals(board, ranking)
        assert filled["rank_low"].isna().all()
        assert len(notes) == 1
        assert reason in notes[0]
        assert "run 'objecthood compare' again" in notes[0]


def test_the_share_has_its_interval_and_a_learned_readout_its_leak_control(tmp_path):
    (path, record, scores), *_ = make_files(tmp_path, 1, n_layers=1)
    scores = scores.assign(
        r_over_attainable=0.5,
        r_over_attainable_low=-0.1,
        r_over_attainable_high=0.9,
        control_leak_r=0.368,
    )
    for facts, is_said in (({}, False), ({"learned": {"folds": "scenes"}}, True)):
        files = [(path, record | {"model": record["model"] | facts}, scores)]
        board = build_leaderboard(files)
        page = render_board_page(board, files)
        assert "0.50 [−0.10, 0.90]" in page
        assert ("with no model at all, reach 0.368" in page) is is_said
    assert "0.500 [-0.100, 0.900]" in render_markdown(board, files[0][1])
    assert tabulate_board(board)["all_control_leak_r"].iloc[0] == 0.368


def test_a_hostile_name_is_text_everywhere(visit, small):
    files, board = small
    page = visit(render_board_page(board, files))
    assert "<img src=x onerror=alert(1)>" in names(page)
    assert page.locator("img").count() == 0
    assert "<img" not in render_markdown(board, files[0][1])
    assert "</script>" not in embed_json({"name": "</script><script>alert(1)"})


def test_on_a_phone_nothing_runs_off_the_side_and_rows_can_still_be_sorted(visit, small):
    page = visit(
        render_board_page(small[1], small[0], reported=read_reported("adeli2023")),
        viewport={"width": 390, "height": 844},
        color_scheme="dark",
    )
    page.get_by_role("button", name="model000").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # Laid out as blocks, it is still a table to a screen reader.
    table = page.get_by_role("table").first
    assert table.get_by_role("rowheader").count() == 6
    page.select_option("#sortby", "model")
    assert names(page)[0] == "<img src=x onerror=alert(1)>"
    assert page.locator("td.c-all").first.is_visible() is False


def test_text_stands_out_from_its_ground_in_light_and_dark(visit, small):
    for scheme in ("light", "dark"):
        page = visit(render_board_page(small[1], small[0]), color_scheme=scheme)
        for selector in ("body", ".detail", "thead th", ".c-family"):
            assert contrast(page, selector) >= 4.5, (scheme, selector)


def contrast(page, selector):
    """WCAG contrast of an element's text with the page's ground."""
    colours = page.evaluate(
        "s => [getComputedStyle(document.querySelector(s)).color,"
        " getComputedStyle(document.body).backgroundColor]",
        selector,
    )
    light = sorted(luminance(c) for c in colours)
    return (light[1] + 0.05) / (light[0] + 0.05)


def luminance(rgb):
    parts = np.array([float(x) for x in rgb[rgb.index("(") + 1 : -1].split(",")[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_reported_numbers_are_a_table_apart_only_for_the_published_benchmark(visit, small):
    reported = read_reported("adeli2023")
    assert read_reported("mine").empty
    page = visit(render_board_page(small[1], small[0], reported=reported))
    section = page.locator("section.reported")
    assert "not computed here, not ranked" in section.inner_text()
    assert "reported" in section.locator("tbody tr").first.inner_text()
    assert page.locator("table.board", has_text="DINOv3 ViT-B").count() == 0
    assert "Reported" not in render_board_page(small[1], small[0], reported=read_reported("mine"))


@pytest.mark.golden
def test_the_reported_numbers_are_those_that_the_papers_print():
    table = read_reported("adeli2023").set_index(["model", "quantity"])["value"]
    assert table["DINOv3 ViT-B", "r published"] == "0.348"
    assert table["IN1k ConvNeXt-B", "grouping accuracy %"] == "60.0"
    assert table["DINOv2 ViT-B/14", "r"] == "0.25"
    assert table["people", "half-half r"] == "0.42"


def test_csv_markdown_and_latex_hold_the_rows_of_the_page(small):
    files, board = small
    table = tabulate_board(board)
    assert list(table.columns) == list(CSV_COLUMNS)
    assert len(table) == 7
    latex = render_latex(board, files[0][1])
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {line.replace(r"\&", "").count("&") for line in rows} == {18}
    for text in (latex, render_markdown(board, files[0][1])):
        assert all(name in text for name in ("model000", "twin", "0.610"))


def test_the_page_says_why_one_is_no_ceiling_and_why_folds_group_by_scene(small):
    page = render_board_page(small[1], small[0])
    assert "is no ceiling: the model meets the mean of half of the people" in page
    assert "Why folds group by scene: the four trials of a photograph share" in page


def test_two_files_of_one_readout_are_refused_by_name(small):
    path, record, scores = small[0][0]
    other = path.with_name("copy.json")
    with pytest.raises(InputError, match=r"model000.json.*copy.json.*scored twice"):
        build_leaderboard([(path, record, scores), (other, record, scores)])


def test_other_people_are_refused_and_files_that_dont_say_are_not(small):
    files = [(path, dict(record), scores) for path, record, scores in small[0]]
    files[0][1]["responses_sha256"] = "a"
    build_leaderboard(files)
    files[1][1]["responses_sha256"] = "b"
    with pytest.raises(InputError, match="responses_sha256 is 'b'"):
        build_leaderboard(files)


@pytest.fixture(scope="module")
def pictured(tmp_path_factory):
    """A benchmark with photographs, people's means, and readouts of three models."""
    folder, rng = tmp_path_factory.mktemp("pictured"), np.random.default_rng(2)
    trials = make_trials(6).assign(image="grey.png")
    (folder / "images").mkdir()
    Image.fromarray(np.full((480, 640, 3), 90, dtype=np.uint8)).save(folder / "images/grey.png")
    trials["image_sha256"] = hash_file(folder / "images/grey.png")
    benchmark = write_benchmark(folder, manifest=MANIFEST, trials=trials)
    human = pd.DataFrame(
        {"trial_id": trials["trial_id"], "mean_rt_s": rng.uniform(0.6, 1.2, len(trials))}
    )
    files = make_files(folder, 3, n_layers=2)
    readouts = [
        make_readouts(
            trials, range(len(trials)), model=f"model{k:03d}", readout="cosine", layer="1"
        ).assign(representation="tokens")
        for k in range(3)
    ]
    return benchmark, human, files, readouts


def test_a_row_opens_to_its_hardest_and_easiest_trials_with_people_beside(visit, pictured):
    benchmark, human, files, readouts = pictured
    board = build_leaderboard(files)
    examples = choose_examples(board, readouts, benchmark=benchmark, human=human)
    page = visit(render_board_page(board, files, examples=examples))
    page.get_by_role("button", name="model001").click()
    cards = page.locator(".cards").first.locator("li")
    assert cards.count() == 4
    rt_ms = round(1000 * human.set_index("trial_id")["mean_rt_s"]["s5_3"])
    assert f"different far, people {rt_ms} ms" in cards.first.inner_text()
    assert cards.first.locator("img").evaluate("i => i.decode().then(() => i.naturalWidth)") == 208
    assert "s5_3" in cards.first.locator("img").get_attribute("alt")


def test_thumbnails_keep_their_budget_the_most_wanted_first(pictured):
    benchmark = pictured[0]
    ids = benchmark.trials["trial_id"].tolist()
    everything = make_thumbnails(benchmark, ids)
    assert list(everything) == ids
    budget = sum(len(uri) for uri in list(everything.values())[:3])
    assert list(make_thumbnails(benchmark, ids, budget=budget)) == ids[:3]


@pytest.mark.slow
def test_300_models_of_12_layers_make_a_small_page_that_sorts_within_a_second(visit, tmp_path):
    files = make_files(tmp_path, 300)
    start = time.process_time()
    text = render_board_page(build_leaderboard(files), files, reported=read_reported("adeli2023"))
    built_s = time.process_time() - start
    size_mb = len(text.encode()) / 1e6
    page = visit(text)
    seconds = page.evaluate(
        """async () => { const start = performance.now();
        document.querySelector("th.c-model button").click();
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        return (performance.now() - start) / 1000; }"""
    )
    sys.stdout.write(f"built {built_s:.1f} s, {size_mb:.2f} MB, sorted in {seconds:.3f} s\n")
    assert names(page) == sorted(f"model{k:03d}" for k in range(300))
    assert size_mb < 3
    assert seconds < 1
    assert built_s < 30
