"""Reviewing by hand: nothing is lost, nothing dropped without its reason."""

import json
import threading
import urllib.error
import urllib.request
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from stimuli.benchmark import Manifest, open_benchmark, read_objects
from stimuli.build import build_benchmark
from stimuli.design import DEMO_DESIGN
from stimuli.dots import scale_dots
from stimuli.errors import InputError
from stimuli.lists import ListDesign
from stimuli.preview import SheetStyle
from stimuli.procedural import DEMO_SCENES, generate_scenes
from stimuli.review import Review, append_review, apply_review, count_reviews, read_reviews
from stimuli.review_server import start_server
from stimuli.tables import name_cells

STYLE = SheetStyle(panel_width_px=80, dot=scale_dots(4.0))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return build_benchmark(
        generate_scenes(DEMO_SCENES, prefix="m", seed=1),
        tmp_path_factory.mktemp("review") / "b",
        design=DEMO_DESIGN,
        seed=1,
        manifest=Manifest(name="m", version="1", source="t", licence="n"),
        lists=ListDesign(n_practice_scenes=1, n_blocks=1),
        max_scenes=6,
    ).benchmark


@pytest.fixture
def bench(original):
    (original.folder / "review.csv").unlink(missing_ok=True)
    return original


def scene_ids(bench):
    return bench.trials["scene_id"].unique().tolist()


def review_all(bench, verdicts):
    for scene_id, (verdict, reason) in zip(scene_ids(bench), verdicts, strict=True):
        append_review(Review(scene_id=scene_id, verdict=verdict, reason=reason), bench.folder)


def test_the_last_decision_on_a_scene_counts_and_the_first_leaves_a_trace(bench):
    scene_id = scene_ids(bench)[0]
    odd = 'an "odd", reason; with\nline break: ü'
    append_review(Review(scene_id=scene_id, verdict="reject", reason=odd), bench.folder)
    assert read_reviews(bench)[scene_id].reason == odd
    append_review(Review(scene_id=scene_id, verdict="keep", reviewer="mk"), bench.folder)
    review = read_reviews(bench)[scene_id]
    assert (review.verdict, review.reason, review.reviewer) == ("keep", None, "mk")
    assert len(pd.read_csv(bench.folder / "review.csv")) == 2


@pytest.mark.parametrize(
    ("verdict", "reason", "message"),
    [
        ("reject", None, "needs a reason"),
        ("keep", "because", "needs a reason, and nothing else has one"),
        ("maybe", None, "expected one of 'keep'"),
    ],
)
def test_a_decision_that_is_none_is_refused(verdict, reason, message):
    with pytest.raises(InputError, match=message):
        Review(scene_id="s", verdict=verdict, reason=reason)


def test_a_review_of_another_benchmark_is_refused(bench):
    append_review(Review(scene_id="stranger", verdict="keep"), bench.folder)
    with pytest.raises(InputError, match=r"'stranger' isn't in trials\.csv"):
        read_reviews(bench)


def test_rejected_scenes_drop_out_by_their_reason_and_lists_stay_balanced(bench, tmp_path):
    practice = bench.trials[bench.trials["list_id"] == "practice"]["scene_id"].iloc[0]
    others = [name for name in scene_ids(bench) if name != practice]
    for name in (practice, *others[2:]):
        append_review(Review(scene_id=name, verdict="keep"), bench.folder)
    append_review(Review(scene_id=others[0], verdict="reject", reason="mask wrong"), bench.folder)
    append_review(Review(scene_id=others[1], verdict="ambiguous"), bench.folder)
    reviewed = apply_review(
        bench,
        tmp_path / "new",
        dropped_verdicts=("reject", "ambiguous"),
        rng=np.random.default_rng(0),
    )
    assert set(scene_ids(reviewed)) == {practice, *others[2:]}
    assert reviewed.manifest.version == "1-reviewed"
    assert (reviewed.trials["trials_version"] == "1-reviewed").all()
    dropped = pd.read_csv(tmp_path / "new" / "dropped.csv")
    assert dropped[["scene_id", "verdict", "reason"]].fillna("").to_numpy().tolist() == [
        [others[0], "reject", "mask wrong"],
        [others[1], "ambiguous", ""],
    ]
    assert {path.stem for path in (tmp_path / "new" / "images").iterdir()} == {
        practice,
        *others[2:],
    }
    assert set(read_objects(reviewed)["scene_id"]) == {practice, *others[2:]}
    test = reviewed.trials[reviewed.trials["list_id"] != "practice"]
    counts = pd.crosstab(test["list_id"], name_cells(test))
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert count_reviews(read_reviews(bench))["reject: mask wrong"] == 1


def test_a_review_is_applied_only_when_finished(bench, tmp_path):
    append_review(Review(scene_id=scene_ids(bench)[0], verdict="keep"), bench.folder)
    with pytest.raises(InputError, match="5 of 6 scenes weren't reviewed"):
        apply_review(
            bench, tmp_path / "n", dropped_verdicts=("reject",), rng=np.random.default_rng(0)
        )


def test_a_review_that_drops_everything_is_refused(bench, tmp_path):
    review_all(bench, [("reject", "mask wrong")] * 6)
    with pytest.raises(InputError, match="nothing would be left"):
        apply_review(
            bench, tmp_path / "n", dropped_verdicts=("reject",), rng=np.random.default_rng(0)
        )
    assert not (tmp_path / "n").exists()


@pytest.fixture
def server(bench):
    running, state = start_server(bench, style=STYLE, reviewer="mk", port=0)
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield running, state
    running.shutdown()
    running.server_close()
    thread.join()


def ask(server, path, *, body=None, headers=None):
    running, _ = server
    request = urllib.request.Request(
        f"http://127.0.0.1:{running.server_port}{path}", data=body, headers=headers or {}
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def decide(server, content, *, token=None):
    headers = {"X-Review-Token": server[1].token if token is None else token}
    return ask(server, "/decision", body=json.dumps(content).encode(), headers=headers)


def test_the_server_listens_on_loopback_only(server):
    assert server[0].server_address[0] == "127.0.0.1"


def test_a_decision_is_on_disk_before_it_is_answered(server, bench):
    scene_id = scene_ids(bench)[1]
    status, body = decide(
        server, {"scene_id": scene_id, "verdict": "reject", "reason": "mask wrong"}
    )
    assert status == 200
    assert json.loads(body)["reviewer"] == "mk"
    assert read_reviews(bench)[scene_id].reason == "mask wrong"
    state = json.loads(ask(server, "/state")[1])
    assert [one["scene_id"] for one in state["scenes"] if one["review"]] == [scene_id]


@pytest.mark.parametrize(
    "content",
    [
        {"scene_id": "stranger", "verdict": "keep"},
        {"scene_id": "m0001", "verdict": "reject", "reason": "  "},
        ["m0001"],
    ],
)
def test_nonsense_is_refused_and_not_written(server, bench, content):
    status, body = decide(server, content)
    assert status == 400
    assert json.loads(body)["error"]
    assert not (bench.folder / "review.csv").exists()


def test_a_decision_from_another_page_is_refused(server, bench):
    content = {"scene_id": scene_ids(bench)[0], "verdict": "keep"}
    assert decide(server, content, token="wrong")[0] == 403  # noqa: S106 (no secret)
    assert ask(server, "/state", headers={"Host": "elsewhere.example"})[0] == 403
    assert not (bench.folder / "review.csv").exists()


def test_pictures_are_pngs_and_what_is_not_there_is_404(server, bench):
    scene_id = scene_ids(bench)[0]
    with_lines = ask(server, f"/picture/{scene_id}/0")[1]
    without = ask(server, f"/picture/{scene_id}/0?outlines=0")[1]
    assert with_lines.startswith(b"\x89PNG")
    assert without.startswith(b"\x89PNG")
    assert with_lines != without
    for path in (f"/picture/{scene_id}/9", "/picture/x/0", "/../trials.csv", "/picture/x/y"):
        assert ask(server, path)[0] == 404


def test_what_cannot_be_saved_is_said_so(server, bench, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stimuli.review_server.append_review", full)
    status, body = decide(server, {"scene_id": scene_ids(bench)[0], "verdict": "keep"})
    assert status == 500
    assert "not saved" in json.loads(body)["error"]
    assert not server[1].reviews


def test_a_taken_port_is_named(server, bench):
    port = server[0].server_port
    with pytest.raises(InputError, match=f"port {port}"):
        start_server(bench, style=STYLE, reviewer=None, port=port)


def test_a_restarted_server_goes_on_where_the_last_one_stopped(bench):
    append_review(Review(scene_id=scene_ids(bench)[0], verdict="keep"), bench.folder)
    again = replace(open_benchmark(bench.folder))
    running, state = start_server(again, style=STYLE, reviewer=None, port=0)
    running.server_close()
    assert list(state.reviews) == scene_ids(bench)[:1]
