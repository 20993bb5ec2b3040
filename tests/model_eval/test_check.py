"""`models check` passes what is right and says what is wrong."""

import re

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from commands.models import app
from model_eval.backbone import TimmBackbone, describe_network
from model_eval.check import check_model, raise_if_failed
from model_eval.sources.find import load_model
from stimuli.errors import InputError
from tests.model_eval.coordinate_networks import CONFIG, LAYOUTS, make_backbone


def failures(source, rng, **settings):
    return [
        line.name
        for line in check_model(source, rng=rng, **settings).lines
        if line.has_passed is False
    ]


@pytest.mark.parametrize("layout", [*LAYOUTS, "CNN"])
@pytest.mark.parametrize("geometry", ["pad", "longest:200", "grid:20"])
def test_a_right_layout_passes(layout, geometry, rng):
    assert failures(make_backbone(layout), rng, geometry=geometry) == []


@pytest.mark.parametrize("name", ["test_vit", "test_vit4", "test_resnet", "test_convnext"])
def test_timm_networks_pass(name, rng):
    report = check_model(load_model(name, random_seed=1), rng=rng)
    assert report.has_passed
    raise_if_failed(report)


def wrap(change):
    """Return a coordinate ViT whose maps are changed before they are handed out."""
    backbone = make_backbone("CLS")
    original = backbone.module.forward_intermediates

    def changed(*args, **settings):
        return [change(output) for output in original(*args, **settings)]

    backbone.module.forward_intermediates = changed
    return backbone


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda x: x.transpose(2, 3).reshape(x.shape), ["dots on their patches"]),
        (lambda x: x.roll(1, dims=3), ["dots on their patches"]),
        (lambda x: x.flip(2), ["dots on their patches"]),
        (lambda x: x + torch.rand_like(x) * 1e-6, ["two runs"]),
        (lambda x: x / x.std(dim=(0, 1), keepdim=True), ["batches of 1 and 3"]),
    ],
)
def test_what_is_wrong_is_found(change, wrong, rng):
    assert failures(wrap(change), rng) == wrong


def test_numbers_that_are_not_finite_are_found(rng):
    def overflow(x):
        x = x.clone()
        x[..., 3] = float("inf")
        return x

    assert "numbers" in failures(wrap(overflow), rng)


def test_a_preprocessing_that_moves_the_image_is_found(rng, monkeypatch):
    import model_eval.check

    real = model_eval.check.make_input
    monkeypatch.setattr("model_eval.check.make_input", lambda *a: np.roll(real(*a), 9, axis=2))
    report = check_model(make_backbone("CLS"), rng=rng)
    with pytest.raises(InputError, match=r"failed: coordinates; don't trust"):
        raise_if_failed(report)


def test_a_torch_padded_cnn_has_its_centres_half_a_cell_off_and_that_is_said(rng):
    """Three strides of 2 with kernel 3 and padding 1: cell i looks at 8 i + 0.5, not at 8 i + 4."""

    class Strided(torch.nn.Module):
        feature_info = [{"reduction": 8}]  # noqa: RUF012 (timm's form)

        def forward_intermediates(self, x, **_):
            for _ in range(3):
                x = torch.nn.functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
            return [x]

    card = describe_network(Strided(), name="strided", source="test", config=CONFIG, is_fixed=False)
    report = check_model(TimmBackbone(Strided(), card), rng=rng)
    line = next(line for line in report.lines if line.name == "receptive field centre")
    right, down = (float(word) for word in re.findall(r"[+-]\d+\.\d", line.detail))
    assert right == pytest.approx(3.5, abs=0.5)
    assert down == pytest.approx(3.5, abs=0.5)


def test_the_command_prints_and_ends_with_2_when_something_is_wrong(monkeypatch):
    runner = CliRunner()
    done = runner.invoke(app, ["check", "test_vit", "--random-weights", "0", "--json"])
    assert done.exit_code == 0
    assert '"has_passed": true' in done.stdout
    done = runner.invoke(app, ["check", "test_vit", "--random-weights", "0", "--device", "cuda:9"])
    assert isinstance(done.exception, InputError)
    assert "isn't here" in str(done.exception)
    done = runner.invoke(app, ["list", "efficientnet-lite0"])
    assert "in a package" in done.stdout
