"""What is known is used, what has changed is not, and an interrupted run continues to the bit."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from commands.cache import app
from model_eval.cache import describe_model, hash_code
from model_eval.run import EvaluationOptions, Storage, evaluate_source, explain_cache
from model_eval.sources.find import load_model
from stimuli.benchmark import Manifest, open_benchmark, write_benchmark
from stimuli.errors import InputError
from stimuli.images import write_image, write_mask
from stimuli.table_io import write_table
from tests.model_eval.conftest import make_scene
from tests.model_eval.coordinate_networks import make_backbone

OPTIONS = EvaluationOptions(random_weights=3, has_curves=True, has_scenes=True)


class Counting:
    """A source that counts the images it really reads."""

    def __init__(self, source, *, card=None):
        self._source = source
        self.card = card or source.card
        self.n_read = 0

    def read(self, images, wanted, emit):
        self.n_read += len(images)
        self._source.read(images, wanted, emit)


def run(bench, cache, *, options=OPTIONS, name="test_vit", card=None):
    """Evaluate; return the tables and how many images were read anew."""
    source = load_model(name, random_seed=options.random_weights)
    counting = Counting(source, card=card(source.card) if card else None)
    done = evaluate_source(counting, bench, options=options, storage=Storage(cache=cache))
    return done, counting.n_read


@pytest.fixture
def known(small_benchmark, tmp_path):
    """A benchmark that was read once, and its cache."""
    cache = tmp_path / "cache"
    first, n_read = run(small_benchmark, cache)
    assert n_read == 2
    return small_benchmark, cache, first


def test_nothing_changed_is_always_a_hit_and_gives_the_same_bits(known):
    bench, cache, first = known
    again, n_read = run(bench, cache)
    assert n_read == 0
    assert again.model_record["n_images_from_cache"] == 2
    for name in ("readouts", "skipped", "scenes", "summaries"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(first, name), check_exact=True)
    assert len(first.scenes)
    assert len(first.summaries)


CHANGES = {
    "model": lambda card: replace(card, name="other"),
    "weights": lambda card: replace(card, weights_sha256="0" * 64, random_seed=None),
    "preprocessing": lambda card: replace(
        card, preprocessing=replace(card.preprocessing, mean=(0.1, 0.2, 0.3))
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_another_model_weight_or_preprocessing_is_a_miss(known, what):
    bench, cache, _ = known
    assert run(bench, cache, card=CHANGES[what])[1] == 2
    assert run(bench, cache)[1] == 0  # and the first one is still known


@pytest.mark.parametrize(
    "change",
    [
        {"layers": "0,5"},
        {"layers": "all"},
        {"geometry": "longest:64"},
        {"geometry": "longest:80"},
        {"readouts": ("cosine",)},
        {"representations": ("keys",)},
        {"dots": "bilinear"},
        {"has_curves": False},
        {"has_scene_pairs": True},
        {"dtype": "bfloat16"},
        {"random_weights": 4},
        {"batch_size": 2, "geometry": "square:64"},
    ],
)
def test_another_option_is_a_miss(known, change):
    bench, cache, _ = known
    assert run(bench, cache, options=replace(OPTIONS, **change))[1] == 2


def test_another_image_byte_mask_or_dot_is_a_miss_for_that_image_only(known, rng):
    bench, cache, _ = known
    pixels = rng.integers(0, 256, (64, 96, 3), dtype=np.uint8)
    sha256 = write_image(pixels, bench.image_path("masked.png"))
    trials = bench.trials.copy()
    trials.loc[trials["scene_id"] == "masked", "image_sha256"] = sha256
    write_table(trials, bench.folder / "trials.csv")
    bench = open_benchmark(bench.folder)
    assert run(bench, cache)[1] == 1
    write_mask(np.ones((64, 96), np.int32), bench.mask_path("masked"))
    assert run(bench, cache)[1] == 1
    trials.loc[trials["trial_id"] == "bare_0", "dot1_x_px"] = 1.25
    write_table(trials, bench.folder / "trials.csv")
    assert run(open_benchmark(bench.folder), cache)[1] == 1


def test_a_new_image_leaves_the_others_known(known, rng):
    bench, cache, _ = known
    more = make_scene(
        bench.folder, "new", width=40, height=40, rng=rng, dots=[((1, 1), (30, 30), 1, 1)]
    )
    write_table(pd.concat([bench.trials, more]), bench.folder / "trials.csv")
    assert run(open_benchmark(bench.folder), cache)[1] == 1


def test_code_and_libraries_are_part_of_the_key(known, monkeypatch):
    bench, cache, _ = known
    monkeypatch.setattr("model_eval.run.find_versions", lambda: {"torch": "0"})
    assert run(bench, cache)[1] == 2
    monkeypatch.undo()
    monkeypatch.setattr("model_eval.cache.hash_code", lambda: "other code")
    assert run(bench, cache)[1] == 2
    assert len(hash_code()) == 64


def test_a_model_whose_weights_are_unknown_is_never_cached(small_benchmark, tmp_path):
    backbone = make_backbone("CLS")
    assert describe_model(backbone.card) is None
    for _ in range(2):
        counting = Counting(backbone)
        storage = Storage(cache=tmp_path / "cache")
        evaluate_source(counting, small_benchmark, options=EvaluationOptions(), storage=storage)
        assert counting.n_read == 2
    assert not (tmp_path / "cache").exists()


def test_a_result_of_another_content_under_the_same_name_is_not_used(known):
    bench, cache, _ = known
    (path,) = cache.rglob("bare*.json")
    text = path.read_text()
    path.write_text(text.replace('"dots": "contains"', '"dots": "bilinear"'))
    assert run(bench, cache)[1] == 1
    path.write_text(text.replace('"scene_id": "bare"', '"scene": "bare"'))
    with pytest.raises(InputError, match=r"bare.*: damaged \(KeyError.*delete the file"):
        run(bench, cache)
    path.write_text(text[:100])
    with pytest.raises(InputError, match="not valid JSON"):
        run(bench, cache)


def test_explain_says_what_differs(known):
    bench, cache, _ = known
    assert all(
        item.is_hit for item in explain_cache("test_vit", bench, options=OPTIONS, cache=cache)
    )
    options = replace(OPTIONS, geometry="longest:64", dots="bilinear")
    found = explain_cache("test_vit", bench, options=options, cache=cache)
    assert not any(item.is_hit for item in found)
    assert found[0].reasons == (
        'geometry: stored "pad", now "longest:64"',
        'dots: stored "contains", now "bilinear"',
    )
    other = replace(OPTIONS, random_weights=9)
    found = explain_cache("test_vit", bench, options=other, cache=cache)
    assert found[0].reasons == ()


def test_the_command_explains(known):
    bench, cache, _ = known
    words = ["explain", "test_vit", "--benchmark", str(bench.folder), "--cache", str(cache)]
    words += ["--random-weights", "3", "--curves", "--scenes"]
    done = CliRunner().invoke(app, words)
    assert done.stdout.startswith("2 of 2 images are known")
    done = CliRunner().invoke(app, [*words, "--geometry", "longest:64"])
    assert "0 of 2 images are known" in done.stdout
    assert 'geometry: stored "pad", now "longest:64"' in done.stdout


SLOW_RUN = """
import sys, time
from pathlib import Path
import numpy as np
import model_eval.run as run_module
from model_eval.run import EvaluationOptions, Storage, evaluate_model
from stimuli.benchmark import open_benchmark

def on_progress(done, total):
    print(done, total, flush=True)
    time.sleep(float(sys.argv[4]))

options = EvaluationOptions(random_weights=3, layers="all", readouts=("all",))
bench = open_benchmark(Path(sys.argv[1]))
done = evaluate_model("test_vit", bench, options=options, on_progress=on_progress,
                      storage=Storage(cache=Path(sys.argv[2])))
done.readouts.to_parquet(sys.argv[3])
print("known", done.model_record["n_images_from_cache"], flush=True)
"""


@pytest.mark.slow
def test_a_killed_run_continues_to_the_same_bits_and_reads_nothing_twice(tmp_path, rng):
    tables = [
        make_scene(
            tmp_path / "b",
            f"s{k}",
            width=64 + 8 * k,
            height=48,
            rng=rng,
            dots=[((9, 9), (40, 40), 1, 1)],
        )
        for k in range(6)
    ]
    manifest = Manifest(name="b", version="1", source="made up", licence="none")
    write_benchmark(tmp_path / "b", manifest=manifest, trials=pd.concat(tables))
    root = Path(__file__).parents[2]

    def start(cache, table, pause):
        words = [sys.executable, "-c", SLOW_RUN, str(tmp_path / "b"), str(tmp_path / cache)]
        return subprocess.Popen(
            [*words, str(tmp_path / table), str(pause)],
            cwd=root,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)},
        )

    kill_after = int(rng.integers(1, 6))
    with (
        start("cache", "killed.parquet", 0.2) as victim,
        start("fresh", "whole.parquet", 0) as whole,
    ):
        for _ in range(kill_after):
            victim.stdout.readline()
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        assert whole.stdout.read().splitlines()[-1] == "known 0"
    n_done = len(list((tmp_path / "cache").rglob("*.json")))
    assert kill_after <= n_done < 6
    assert not (tmp_path / "killed.parquet").exists()
    with start("cache", "killed.parquet", 0) as second:
        assert second.stdout.read().splitlines()[-1] == f"known {n_done}"
    one, other = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("whole", "killed"))
    pd.testing.assert_frame_equal(one, other, check_exact=True)
