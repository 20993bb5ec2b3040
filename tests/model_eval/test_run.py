"""A model on a benchmark: tables, what is skipped, and what fails by name."""

import numpy as np
import pandas as pd
import pytest
import torch

from model_eval.listing import list_models
from model_eval.run import EvaluationOptions, evaluate_model
from model_eval.sources.find import load_model
from stimuli.benchmark import open_benchmark
from stimuli.errors import InputError
from stimuli.table_io import write_table
from tests.model_eval.conftest import write_small_benchmark

NAME = "test_vit"
RANDOM = EvaluationOptions(random_weights=3)


def test_readouts_of_every_trial_with_an_image_and_the_rest_counted(small_benchmark):
    found = evaluate_model(NAME, small_benchmark, options=RANDOM)
    assert found.readouts["model"].unique().tolist() == [f"{NAME}@random3"]
    counts = found.readouts.groupby("readout")["trial_id"].nunique()
    assert counts.to_dict() == {"cosine": 5, "object_auc_dot1": 2, "object_auc_dot2": 4}
    reasons = found.skipped.groupby("reason")["trial_id"].nunique().to_dict()
    assert reasons["the trial's image isn't here"] == 1
    assert reasons["the scene has no mask"] == 1
    assert reasons["no object is known under dot 1"] == 1
    assert sum("covers half of no patch" in reason for reason in reasons) == 1


def test_the_record_says_that_weights_are_random_and_how_images_went_in(small_benchmark):
    record = evaluate_model(NAME, small_benchmark, options=RANDOM).model_record
    assert record["is_random_weights"] is True
    assert record["weights_sha256"] is None
    assert record["geometry"] == "pad"
    assert record["n_images"] == 2
    assert 0 <= record["high_norm_share"] <= 1
    assert record["n_prefix"] == 1


def test_two_runs_and_two_batch_sizes_give_the_same_numbers(tmp_path, rng):
    bench = write_small_benchmark(tmp_path / "b", rng)
    tables = [
        evaluate_model(NAME, bench, options=EvaluationOptions(random_weights=3, batch_size=size))
        for size in (1, 1, 4)
    ]
    values = [table.readouts["value"].to_numpy() for table in tables]
    assert np.array_equal(values[0], values[1])
    assert values[0] == pytest.approx(values[2], abs=1e-5)


def test_another_seed_is_another_model_and_the_global_generator_is_left_alone(small_benchmark):
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    first = evaluate_model(NAME, small_benchmark, options=RANDOM).readouts
    assert torch.rand(1) == before
    other = EvaluationOptions(random_weights=4)
    second = evaluate_model(NAME, small_benchmark, options=other).readouts
    assert not np.allclose(first["value"], second["value"])


def test_all_layers_come_in_order_and_the_last_one_with_its_norm(small_benchmark):
    options = EvaluationOptions(random_weights=3, layers="all")
    table = evaluate_model(NAME, small_benchmark, options=options).readouts
    found = table[["layer", "representation"]].drop_duplicates().agg(" ".join, axis=1).tolist()
    n_blocks = len(load_model(NAME, random_seed=3).card.layers)
    assert found == [*(f"{k} tokens" for k in range(n_blocks)), f"{n_blocks - 1} tokens_normed"]
    last = evaluate_model(NAME, small_benchmark, options=RANDOM).readouts
    assert last["representation"].unique().tolist() == ["tokens_normed"]


@pytest.mark.parametrize("name", ["control:colour", "control:texture", "efficientnet-lite0"])
def test_models_without_download_read_the_same_trials(small_benchmark, name):
    table = evaluate_model(name, small_benchmark, options=EvaluationOptions()).readouts
    assert table[table["readout"] == "cosine"]["trial_id"].nunique() == 5
    assert table["value"].between(-1 - 1e-6, 1 + 1e-6).all()


def test_progress_counts_images(small_benchmark):
    seen = []
    evaluate_model(NAME, small_benchmark, options=RANDOM, on_progress=lambda *n: seen.append(n))
    assert seen == [(1, 2), (2, 2)]


def test_unknown_models_get_near_names():
    with pytest.raises(InputError, match=r"no model that is known here; near names: .*vit_base"):
        load_model("vit_bse_patch16_224", random_seed=0)


def test_random_weights_of_a_packaged_model_are_refused():
    with pytest.raises(InputError, match="has its own weights"):
        load_model("efficientnet-lite0", random_seed=0)


def test_weights_that_can_t_be_had_say_what_to_fetch_and_where_to_put_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError) as caught:
        load_model("vit_base_patch14_dinov2")
    message = str(caught.value)
    assert "hf download timm/vit_base_patch14_dinov2" in message
    assert "--random-weights" in message


def test_layers_that_the_model_lacks_are_refused(small_benchmark):
    options = EvaluationOptions(random_weights=3, layers="0,99")
    with pytest.raises(
        InputError, match=r"no layer '99'; expected 'last', 'all' or numbers from 0"
    ):
        evaluate_model(NAME, small_benchmark, options=options)


def test_a_benchmark_without_any_image_is_refused(small_benchmark):
    bare = small_benchmark.trials.assign(image=None, image_sha256=None)
    write_table(bare, small_benchmark.folder / "trials.csv")
    with pytest.raises(InputError, match="none of the 6 trials"):
        evaluate_model(NAME, open_benchmark(small_benchmark.folder), options=RANDOM)


def test_a_changed_image_is_refused_by_name(small_benchmark):
    path = small_benchmark.image_path("masked.png")
    path.write_bytes(small_benchmark.image_path("bare.png").read_bytes())
    with pytest.raises(InputError, match=r"masked\.png: the image is 50x70 px"):
        evaluate_model(NAME, small_benchmark, options=RANDOM)


def test_the_list_says_whether_weights_are_here():
    listed = pd.DataFrame([vars_of(item) for item in list_models("control:*")])
    assert set(listed["name"]) >= {"control:colour", "control:texture"}


def vars_of(item):
    return {name: getattr(item, name) for name in item.__slots__}
