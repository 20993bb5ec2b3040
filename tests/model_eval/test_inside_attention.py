"""Queries, keys, values and attention are what the network computed, and hooks don't outlive it."""

import numpy as np
import pytest
import timm
import torch
from torch.nn import functional

from model_eval.backbone import TimmBackbone, describe_network
from model_eval.capture import AttentionWatch, find_attentions
from model_eval.card import Feature, choose_features
from model_eval.displays import Display, PatchDisplay
from model_eval.source import SourceImage
from model_eval.sources.timm_models import create_random
from model_eval.view import AttentionView
from stimuli.errors import InputError
from stimuli.geometry import fit_image, parse_geometry

CONFIG = {
    "mean": (0.5,) * 3,
    "std": (0.5,) * 3,
    "interpolation": "bicubic",
    "input_size": (3, 224, 224),
}
# Plain, two prefix tokens, rotary with query norm off, rotary with registers, position bias.
NAMES = [
    "vit_tiny_patch16_224",
    "deit_tiny_distilled_patch16_224",
    "eva02_tiny_patch14_224",
    "vit_small_patch16_dinov3",
]


def load(name):
    if name.startswith("beit"):
        small = {"depth": 2, "embed_dim": 48, "num_heads": 3, "num_classes": 0}
        module, is_fixed = timm.create_model(name, **small), True
    else:
        module, is_fixed = create_random(name, 0)
    with torch.no_grad():  # random position and bias, so that forgetting one would show
        generator = torch.Generator().manual_seed(1)
        for label, parameter in module.named_parameters():
            if "bias" in label or "pos" in label:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
    card = describe_network(module, name=name, source="test", config=CONFIG, is_fixed=is_fixed)
    return TimmBackbone(module, card)


def read(backbone, names, *, size=(96, 64), layer=0, geometry="pad"):
    grid = fit_image(
        parse_geometry(geometry), width_px=size[0], height_px=size[1], needs=backbone.card.needs
    )
    pixels = np.random.default_rng(0).integers(0, 256, (2, size[1], size[0], 3), dtype=np.uint8)
    images = [SourceImage(name=str(k), sha256="", pixels=pixels[k], grid=grid) for k in range(2)]
    found = {}
    wanted = [Feature(layer=str(layer), representation=name) for name in names]
    backbone.read(images, wanted, lambda feature, x: found.setdefault(feature.representation, x))
    return found, backbone.make_batch(images), grid


def capture_attention_input(module, batch, layer):
    """The block's own normalised input, by a plain hook."""
    seen = []
    handle = module.blocks[layer].attn.register_forward_pre_hook(lambda _m, i: seen.append(i[0]))
    with torch.inference_mode():
        module.forward_features(batch)
    handle.remove()
    return seen[0]


@pytest.mark.parametrize("name", NAMES)
def test_projections_are_the_weights_times_the_block_s_input(name):
    backbone = load(name)
    attention = backbone.module.blocks[1].attn
    found, batch, grid = read(backbone, ["queries", "keys", "values", "keys_head1"], layer=1)
    given = capture_attention_input(backbone.module, batch, 1)
    for k, which in enumerate(["queries", "keys", "values"]):
        if attention.qkv is not None:
            weight = attention.qkv.weight.chunk(3)[k]
            bias = attention.qkv.bias.chunk(3)[k] if attention.qkv.bias is not None else None
            if getattr(attention, "q_bias", None) is not None:
                bias = (attention.q_bias, attention.k_bias, attention.v_bias)[k]
        else:
            projection = (attention.q_proj, attention.k_proj, attention.v_proj)[k]
            weight, bias = projection.weight, projection.bias
        with torch.no_grad():
            expected = functional.linear(given, weight, bias)[:, backbone.card.n_prefix :]
        assert expected.shape[1] == grid.n_patches
        torch.testing.assert_close(found[which], expected, atol=1e-5, rtol=1e-4)
    width = found["keys"].shape[-1] // attention.num_heads
    assert torch.equal(found["keys_head1"], found["keys"][..., width : 2 * width])


@pytest.mark.parametrize("name", [*NAMES, "beit_base_patch16_224"])
def test_attention_is_the_network_s_own_with_its_rotation_and_bias(name, rng):
    """Oracle: the same network with the softmax written out instead of the fused function."""
    backbone = load(name)
    geometry = "square" if name.startswith("beit") else "pad"
    found, batch, grid = read(backbone, ["attention"], layer=0, geometry=geometry)
    seen = []
    attention = backbone.module.blocks[0].attn
    attention.fused_attn = False
    handle = attention.attn_drop.register_forward_pre_hook(lambda _m, i: seen.append(i[0]))
    with torch.inference_mode():
        backbone.module.forward_features(batch)
    handle.remove()
    rows = seen[0].mean(dim=1)[1].numpy()  # second image, heads averaged
    dots = rng.uniform(size=(3, 2, 2)) * [96, 64]
    display = Display(
        trial_ids=("a", "b", "c"), dots_px=dots, object_ids=np.zeros((3, 2), int), labels=None
    )
    patches = PatchDisplay(display, grid)
    view = AttentionView(found["attention"][1], patches, where="here")
    n_prefix = backbone.card.n_prefix
    expected = rows[n_prefix + patches.seed_patches][:, n_prefix:]
    np.testing.assert_allclose(view.maps, expected, atol=1e-5)
    assert view.maps.sum(axis=1).max() <= 1 + 1e-5


def test_reading_leaves_no_hook_and_no_watch_behind():
    backbone = load("test_vit")
    read(backbone, ["queries", "attention"])
    modules = list(backbone.module.modules())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in modules)

    def fail(_feature, _tokens):
        raise InputError("stop")

    grid = fit_image(parse_geometry("pad"), width_px=32, height_px=32, needs=backbone.card.needs)
    image = SourceImage(name="a", sha256="", pixels=np.zeros((32, 32, 3), np.uint8), grid=grid)
    with pytest.raises(InputError, match=r"^stop$"):
        backbone.read([image], [Feature(layer="0", representation="queries")], fail)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in modules)
    assert not torch.overrides._get_current_function_mode_stack()


def test_a_watch_that_finds_other_calls_than_blocks_is_refused():
    backbone = load("test_vit")
    backbone.module.blocks[2].attn.fused_attn = False
    with pytest.raises(InputError, match=r"5 attention calls in 6 blocks"):
        read(backbone, ["attention"])


def test_a_boolean_mask_becomes_minus_infinity():
    calls = []
    query = torch.randn(1, 2, 3, 4)
    mask = torch.tensor([[True, False, True]] * 3)
    with AttentionWatch(calls.append):
        functional.scaled_dot_product_attention(query, query, query, attn_mask=mask, scale=0.3)
    assert calls[0].scale == 0.3
    assert calls[0].bias.tolist()[0] == [0.0, -np.inf, 0.0]


@pytest.mark.parametrize("name", ["test_resnet", "swin_tiny_patch4_window7_224"])
def test_networks_without_one_attention_per_block_offer_none(name):
    module = timm.create_model(name, num_classes=0)
    assert find_attentions(module) is None


def test_heads_are_asked_for_together_or_alone():
    card = load("test_vit").card
    names = [
        f.representation for f in choose_features(card, layers="0", representations=["keys_heads"])
    ]
    assert names == ["keys_head0", "keys_head1"]
    names = [
        f.representation for f in choose_features(card, layers="0", representations=["keys_head1"])
    ]
    assert names == ["keys_head1"]
    with pytest.raises(InputError, match="no representation 'keys_head9'"):
        choose_features(card, layers="0", representations=["keys_head9"])


def test_another_token_count_than_the_grid_is_refused():
    from dataclasses import replace

    backbone = load("test_vit")
    wrong = TimmBackbone(backbone.module, replace(backbone.card, n_prefix=0))
    with pytest.raises(InputError, match="25 tokens with 0 prefix tokens, expected 4 x 6 patches"):
        read(wrong, ["keys"])


def test_half_precision_runs_and_stays_near(rng):
    module = load("test_vit").module
    card = load("test_vit").card
    exact, _, _ = read(TimmBackbone(module, card), ["tokens"])
    half, _, _ = read(TimmBackbone(module, card, dtype="bfloat16"), ["tokens"])
    assert not torch.equal(half["tokens"].float(), exact["tokens"])
    torch.testing.assert_close(half["tokens"].float(), exact["tokens"], atol=0.1, rtol=0.1)
    with pytest.raises(InputError, match="expected one of float32, bfloat16, float16"):
        TimmBackbone(module, card, dtype="int8")
