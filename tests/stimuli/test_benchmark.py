"""A benchmark folder: opened, checked, and what contradicts it named."""

import json

import numpy as np
import pytest

from stimuli.benchmark import (
    Manifest,
    load_scene_mask,
    load_trial_image,
    open_benchmark,
    read_objects,
    write_benchmark,
)
from stimuli.errors import InputError
from stimuli.images import write_image, write_mask
from tests.analysis.simulate import make_trials

MANIFEST = Manifest(name="t", version="1", source="test", licence="none")


@pytest.fixture
def bench(tmp_path):
    trials = make_trials(1)
    pixels = np.zeros((480, 640, 3), dtype=np.uint8)
    digest = write_image(pixels, tmp_path / "images" / "s0.png")
    trials = trials.assign(image="s0.png", image_sha256=digest)
    write_mask(np.ones((480, 640), dtype=np.int32), tmp_path / "masks" / "s0.png")
    return write_benchmark(tmp_path, manifest=MANIFEST, trials=trials)


def test_images_and_masks_are_loaded_as_the_trial_table_says(bench):
    row = bench.trials.iloc[0]
    assert load_trial_image(bench, row).pixels.shape == (480, 640, 3)
    assert load_scene_mask(bench, row).shape == (480, 640)
    assert read_objects(bench).empty


def test_an_image_that_contradicts_its_trial_is_refused_by_name(bench):
    row = bench.trials.iloc[0]
    write_image(np.ones((480, 640, 3), dtype=np.uint8), bench.image_path("s0.png"))
    with pytest.raises(InputError, match=r"s0\.png: its bytes .* trial 's0_0'"):
        load_trial_image(bench, row)
    write_image(np.ones((10, 20, 3), dtype=np.uint8), bench.image_path("s0.png"))
    with pytest.raises(InputError, match=r"20x10 px, but trial 's0_0' says 640x480"):
        load_trial_image(bench, row)
    bench.image_path("s0.png").unlink()
    with pytest.raises(InputError, match="no such image"):
        load_trial_image(bench, row)


def test_a_mask_of_another_size_is_refused_and_a_missing_one_is_none(bench):
    row = bench.trials.iloc[0]
    write_mask(np.ones((4, 4), dtype=np.int32), bench.mask_path("s0"))
    with pytest.raises(InputError, match="the mask is 4x4 px"):
        load_scene_mask(bench, row)
    bench.mask_path("s0").unlink()
    assert load_scene_mask(bench, row) is None


def test_what_is_no_benchmark_is_refused_with_the_remedy(bench, tmp_path):
    with pytest.raises(InputError, match="not a benchmark folder"):
        open_benchmark(tmp_path / "nowhere")
    manifest = bench.folder / "benchmark.json"
    manifest.write_text(json.dumps({"name": "x"}))
    with pytest.raises(InputError, match="expected the fields of Manifest"):
        open_benchmark(bench.folder)


def test_the_trial_table_s_hash_follows_its_bytes(bench):
    before = bench.trials_sha256
    path = bench.folder / "trials.csv"
    path.write_text(path.read_text().replace(",close,", ",far,", 1))
    assert open_benchmark(bench.folder).trials_sha256 != before
