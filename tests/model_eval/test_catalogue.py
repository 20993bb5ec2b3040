"""Every model of the catalogue exists, can be built, and has the layout that it is listed with."""

import json

import pytest
import timm
import torch
from typer.testing import CliRunner

from analysis.families import name_family
from commands.models import app
from model_eval.backbone import describe_network
from model_eval.card import About, parse_about
from model_eval.catalogue import find_about, read_catalogue
from model_eval.run import EvaluationOptions, evaluate_model
from model_eval.sources.timm_models import create_network, is_timm_name
from stimuli.errors import InputError
from stimuli.geometry import fit_image, parse_geometry

CATALOGUE = read_catalogue()


def test_the_catalogue_has_what_the_field_compares():
    families = set(CATALOGUE["family"])
    assert families >= {"DINO", "DINOv2", "DINOv3", "MAE", "CLIP", "SigLIP", "SigLIP 2", "SAM"}
    assert families >= {"DeiT", "DeiT III", "Swin", "BEiT v2", "EVA-02", "PE", "AIMv2", "ResNet"}


@pytest.mark.parametrize("row", list(CATALOGUE.itertuples()), ids=lambda row: row.name)
def test_a_model_of_the_catalogue_resolves(row):
    """On the meta device: shapes without numbers, so that the largest cost nothing."""
    assert is_timm_name(row.name)
    assert row.name in timm.list_pretrained()
    with torch.device("meta"):
        module, is_fixed = create_network(row.name.partition(".")[0])
    config = timm.data.resolve_data_config(
        pretrained_cfg=timm.models.get_pretrained_cfg(row.name).to_dict()
    )
    card = describe_network(module, name=row.name, source="timm", config=config, is_fixed=is_fixed)
    assert card.needs.stride_px == row.stride_px
    assert card.needs.own_size_px == row.size_px
    geometry = parse_geometry("square" if is_fixed else "pad")
    grid = fit_image(geometry, width_px=420, height_px=300, needs=card.needs)
    batch = torch.zeros(1, 3, grid.input_height_px, grid.input_width_px, device="meta")
    layers = [0, len(card.layers) - 1]
    maps = module.eval().forward_intermediates(
        batch, indices=layers, norm=False, output_fmt="NCHW", intermediates_only=True
    )
    for k, output in zip(layers, maps, strict=True):
        own = grid.at_stride(card.layers[k].stride_px)
        assert output.shape[2:] == (own.n_rows, own.n_columns)


def test_a_score_says_what_the_catalogue_says_of_the_model():
    for row in CATALOGUE.itertuples():
        about = find_about(row.name)
        assert (about.family, about.objective, about.year) == (row.family, row.objective, row.year)
        assert (about.training_data, about.licence) == (row.training_data, row.licence)
        assert isinstance(about.year, int)  # a record is JSON
    assert find_about("nothing of the kind") == About()


def test_figures_find_a_model_s_family_in_its_record(small_benchmark):
    done = evaluate_model("efficientnet-lite0", small_benchmark, options=EvaluationOptions())
    record = json.loads(json.dumps(done.model_record))
    assert name_family(record["name"], record) == "EfficientNet-Lite"
    assert (record["objective"], record["year"]) == ("supervised", 2020)
    options = EvaluationOptions(random_weights=0)
    record = evaluate_model("test_vit", small_benchmark, options=options).model_record
    assert record["family"] is record["training_data"] is None
    assert name_family(record["name"], record) == "random weights"


def test_what_a_file_says_of_a_model_is_checked():
    given = {"family": "mine", "year": 2026, "patch_px": 8, "objective": None}
    assert parse_about(given, where="a.json") == About(family="mine", year=2026)
    for wrong, message in (({"year": "2026"}, "a whole number"), ({"family": 3}, "text")):
        with pytest.raises(InputError, match=f"a.json: .*expected {message}"):
            parse_about(wrong, where="a.json")


def test_the_command_lists_the_catalogue():
    done = CliRunner().invoke(app, ["list", "--catalogue", "--json"])
    rows = json.loads(done.stdout)["models"]
    assert [row["name"] for row in rows] == CATALOGUE["name"].tolist()
    assert rows[0]["family"] == "ResNet"
    assert rows[0]["fetch_command"].startswith("hf download")
    done = CliRunner().invoke(app, ["list", "dinov3", "--catalogue"])
    assert "convnext_base.dinov3_lvd1689m" in done.stdout
    assert "resnet" not in done.stdout


def test_a_model_of_the_catalogue_that_is_not_here_is_one_line(
    small_benchmark, monkeypatch, tmp_path
):
    monkeypatch.setattr("model_eval.weights._why_unreachable", lambda _place: "no network: x")
    monkeypatch.setattr("model_eval.weights._torch_checkpoints", lambda: tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for name in CATALOGUE["name"]:
        with pytest.raises(InputError) as error:
            evaluate_model(name, small_benchmark, options=EvaluationOptions())
        message = str(error.value)
        assert name in message
        assert "hf download" in message or "curl -L" in message
        assert str(tmp_path) in message
        assert "\n" not in message
