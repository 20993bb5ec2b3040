"""Affinity maps that are kept for figures: what the readouts saw, on the grid that says where."""

from dataclasses import replace

import numpy as np
import pytest

from model_eval.card import Feature
from model_eval.map_files import choose_map_trials, read_maps, write_maps
from model_eval.run import EvaluationOptions, Storage, evaluate_model
from stimuli.errors import InputError
from stimuli.geometry import find_patch

OPTIONS = EvaluationOptions(
    random_weights=3,
    layers="0,5",
    representations=("tokens", "attention"),
    readouts=("cosine", "widest_path"),
    map_trials=("masked_0", "masked_1", "masked_2"),
)


def test_a_map_is_what_the_readouts_saw(small_benchmark):
    done = evaluate_model("test_vit", small_benchmark, options=OPTIONS)
    features = [(item.feature.layer, item.feature.representation) for item in done.maps]
    assert features == [(k, r) for k in "05" for r in ("attention", "tokens") for _ in range(2)]
    # Two of the three trials share the first dot.
    first, second = (
        item for item in done.maps if item.feature == Feature(layer="5", representation="tokens")
    )
    assert (first.trial_ids, second.trial_ids) == (("masked_0", "masked_1"), ("masked_2",))
    assert (first.dot_x_px, first.dot_y_px) == (20, 30)
    assert first.affinity.shape == (first.grid.n_rows, first.grid.n_columns) == (4, 6)
    own = find_patch(first.grid, x_px=np.array([20.0]), y_px=np.array([30.0]))
    assert first.affinity.ravel()[own[0]] == pytest.approx(1, abs=1e-5)
    table = done.readouts.set_index(["layer", "representation", "readout", "trial_id"])["value"]
    for trial_id, other in (("masked_0", (40, 50)), ("masked_1", (70, 40))):
        end = find_patch(first.grid, x_px=other[:1], y_px=other[1:])
        cosine = table["5", "tokens", "cosine", trial_id]
        assert first.affinity.ravel()[end[0]] == pytest.approx(cosine, abs=1e-5)
    # Attention over patches and prefix tokens adds up to one, so over patches to less.
    attention = done.maps[0].affinity
    assert attention.min() > 0
    assert 0 < attention.sum() < 1


def test_the_file_gives_back_every_bit_and_where_the_map_lies(small_benchmark, tmp_path):
    options = replace(OPTIONS, geometry="longest:60", layers="5", representations=("tokens",))
    done = evaluate_model("test_vit", small_benchmark, options=options)
    path = tmp_path / "maps" / "m.npz"
    write_maps(done.maps, path, model="test_vit@random3", geometry="longest:60")
    found = read_maps(path)
    assert (found.model, found.geometry) == ("test_vit@random3", "longest:60")
    for read, kept in zip(found.maps, done.maps, strict=True):
        np.testing.assert_array_equal(read.affinity, kept.affinity)
        assert replace(read, affinity=None) == replace(kept, affinity=None)
    # 96 x 64 px became 60 x 40 of an input of 64 x 48: 64 / 60 of the image's width.
    assert found.maps[0].extent_px == pytest.approx((0, 96 * 64 / 60, 64 * 48 / 40, 0))


def test_maps_come_from_the_cache_and_others_than_the_stored_are_read_anew(
    small_benchmark, tmp_path
):
    def run(words):
        options = replace(OPTIONS, map_trials=words)
        storage = Storage(cache=tmp_path)
        return evaluate_model("test_vit", small_benchmark, options=options, storage=storage)

    first = run(("masked_0",))
    again = run(("masked_0",))
    assert again.model_record["n_images_from_cache"] == 2
    assert len(again.maps) == len(first.maps) == 4
    for a, b in zip(first.maps, again.maps, strict=True):
        np.testing.assert_array_equal(a.affinity, b.affinity)
    # The image without maps is known still.
    assert run(("masked_0", "masked_2")).model_record["n_images_from_cache"] == 1


def test_examples_are_the_same_for_every_model_and_spread_over_the_table(small_benchmark):
    trials = small_benchmark.trials
    assert choose_map_trials((), trials) == frozenset()
    with_image = set(trials.loc[trials["image"].notna(), "trial_id"])
    assert (
        choose_map_trials(("all",), trials)
        == choose_map_trials(("examples",), trials)
        == with_image
    )
    with pytest.raises(InputError, match="no trial 'absent_0', 'x' with an image"):
        choose_map_trials(("absent_0", "x", "bare_0"), trials)


def test_what_is_no_file_of_maps_is_refused(tmp_path):
    with pytest.raises(
        InputError, match="no such file; 'objecthood evaluate --keep-maps' writes it"
    ):
        read_maps(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("x")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez(tmp_path / "version.npz", index=np.array('{"format": "objecthood-maps-9"}'))
    index = (
        '{"format": "objecthood-maps-1", "model": "m", "geometry": "pad", "maps": [{"layer": "0"}]}'
    )
    np.savez(tmp_path / "cut.npz", index=np.array(index), map_0=np.zeros((2, 2)))
    for name in ("text", "other", "cut"):
        with pytest.raises(InputError, match="not a file of affinity maps"):
            read_maps(tmp_path / f"{name}.npz")
    with pytest.raises(InputError, match="format 'objecthood-maps-9', expected"):
        read_maps(tmp_path / "version.npz")
