"""The review page in a real browser: keys, saving, going on, and a program that has gone."""

import os
import shutil
import threading

import pytest

from stimuli.benchmark import Manifest
from stimuli.build import build_benchmark
from stimuli.design import DEMO_DESIGN
from stimuli.dots import scale_dots
from stimuli.preview import SheetStyle
from stimuli.procedural import DEMO_SCENES, generate_scenes
from stimuli.review import read_reviews
from stimuli.review_server import start_server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None and os.environ.get("CI") != "true",
        reason="no chromium; make setup names the package",
    ),
]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return build_benchmark(
        generate_scenes(DEMO_SCENES, prefix="m", seed=1),
        tmp_path_factory.mktemp("page") / "b",
        design=DEMO_DESIGN,
        seed=1,
        manifest=Manifest(name="<b>m</b>", version="1", source="t", licence="n"),
        max_scenes=3,
    ).benchmark


@pytest.fixture
def served(original):
    (original.folder / "review.csv").unlink(missing_ok=True)
    style = SheetStyle(panel_width_px=200, dot=scale_dots(4.0))
    server, _ = start_server(original, style=style, reviewer=None, port=0)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield original, server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def page(browser, served):
    opened = browser.new_page(viewport={"width": 1100, "height": 800})
    problems = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    opened.problems = problems
    open_page(opened, served)
    yield opened
    opened.close()


def open_page(page, served):
    page.goto(f"http://127.0.0.1:{served[1].server_port}/")
    page.wait_for_function("document.querySelectorAll('#displays img').length === 4")
    page.wait_for_function(
        "[...document.images].every((i) => i.complete && i.naturalWidth === 200)"
    )


def wait_for(page, words):
    page.wait_for_function("(w) => document.body.innerText.includes(w)", arg=words, timeout=5000)


def decisions(served):
    bench = served[0]
    found = read_reviews(bench)
    return [
        (found[name].verdict, found[name].reason) if name in found else None
        for name in bench.trials["scene_id"].unique()
    ]


def test_a_scene_is_kept_rejected_or_marked_by_keys_and_the_end_is_said(page, served):
    assert page.title() == "Review: <b>m</b>"
    wait_for(page, "(1 of 3)")
    page.keyboard.press("k")
    wait_for(page, "(2 of 3)")
    page.keyboard.press("r")
    page.keyboard.press("4")
    wait_for(page, "(3 of 3)")
    page.keyboard.press("a")
    wait_for(page, "every scene is reviewed")
    assert decisions(served) == [("keep", None), ("reject", "mask wrong"), ("ambiguous", None)]
    assert page.problems == []


def test_a_reason_may_be_typed_and_its_letters_are_not_commands(page, served):
    page.keyboard.press("r")
    page.locator("#other").click()
    page.keyboard.type("rank ok, no way: <i>ü</i>")
    page.keyboard.press("Enter")
    wait_for(page, "(2 of 3)")
    page.keyboard.press("ArrowLeft")
    wait_for(page, "reject: rank ok, no way: <i>ü</i>")
    assert decisions(served) == [("reject", "rank ok, no way: <i>ü</i>"), None, None]


def test_escape_takes_a_rejection_back_before_it_is_one(page, served):
    page.keyboard.press("r")
    assert page.locator("#reasons").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#reasons").is_visible()
    page.keyboard.press("4")
    page.keyboard.press("k")
    wait_for(page, "(2 of 3)")
    assert decisions(served) == [("keep", None), None, None]


def test_the_page_goes_on_where_it_was_left_and_a_mind_can_be_changed(page, served):
    page.keyboard.press("k")
    wait_for(page, "(2 of 3)")
    open_page(page, served)
    wait_for(page, "(2 of 3)")
    page.keyboard.press("ArrowLeft")
    wait_for(page, "keep")
    page.keyboard.press("a")
    wait_for(page, "1 of 3 seen, 0 kept")
    assert decisions(served) == [("ambiguous", None), None, None]


def test_outlines_go_and_come_by_key(page):
    source = "document.images[0].src"
    assert page.evaluate(source).endswith("outlines=1")
    page.keyboard.press("o")
    assert page.evaluate(source).endswith("outlines=0")
    assert page.locator("#outlines").get_attribute("aria-pressed") == "false"


def test_buttons_do_what_the_keys_do_and_all_have_names(page, served):
    page.get_by_role("button", name="keep").click()
    wait_for(page, "(2 of 3)")
    page.get_by_role("button", name="reject").click()
    page.get_by_role("button", name="photograph unsuitable").click()
    wait_for(page, "(3 of 3)")
    assert decisions(served)[:2] == [("keep", None), ("reject", "photograph unsuitable")]


def test_a_program_that_has_gone_is_noticed_and_nothing_is_taken_as_saved(page, served):
    _, server = served
    server.shutdown()
    server.server_close()
    page.keyboard.press("k")
    wait_for(page, "NOT saved")
    wait_for(page, "0 of 3 seen")
    assert decisions(served) == [None, None, None]


def test_all_four_displays_are_seen_without_scrolling_at_a_laptops_size(page, tmp_path):
    page.set_viewport_size({"width": 1280, "height": 720})
    boxes = [image.bounding_box() for image in page.locator("#displays img").all()]
    assert len({(round(b["x"]), round(b["y"])) for b in boxes}) == 4
    assert all(b["y"] + b["height"] <= 720 and b["x"] + b["width"] <= 1280 for b in boxes)
    assert all(b["height"] > 200 for b in boxes)
    page.screenshot(path=tmp_path / "page.png")
