"""Models from everywhere, each evaluated: files, packages, hubs, checkpoints, ONNX, stored features."""

import logging
from importlib.metadata import EntryPoint

import numpy as np
import onnx
import pandas as pd
import pytest
import timm
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import save_file
from torch import nn

from model_eval.run import EvaluationOptions, Storage, evaluate_model, evaluate_source
from model_eval.sources.find import load_model
from model_eval.wrap import wrap_module
from stimuli.errors import InputError
from stimuli.table_io import write_json

PLAIN = EvaluationOptions()
ALL_LAYERS = EvaluationOptions(layers="all")


class Patches(nn.Module):
    """Means over patches of 8 px, as tokens behind two prefix tokens."""

    def forward(self, batch):
        means = nn.functional.avg_pool2d(batch, 8).flatten(2).transpose(1, 2)
        return torch.cat([torch.zeros(len(batch), 2, 3), means], dim=1)


def cosines(evaluation):
    table = evaluation.readouts.query("readout == 'cosine'")
    return table.set_index("trial_id")["value"]


def make_plain_answer(bench):
    """The cosines that means over patches of 8 px must give."""
    net = wrap_module(Patches(), lambda net, batch: net(batch), name="means", patch_px=8)
    return cosines(evaluate_source(net, bench, options=PLAIN))


def test_a_wrapped_module_finds_its_own_layout(small_benchmark):
    model = wrap_module(Patches(), lambda net, x: net(x), name="means", patch_px=8)
    assert model.card.n_prefix == 2
    assert model.card.layers[0].stride_px == 8
    done = evaluate_source(model, small_benchmark, options=PLAIN)
    assert done.readouts["model"].unique().tolist() == ["means"]

    def read(net, batch):
        return {"a": nn.functional.avg_pool2d(batch, 4), "b": nn.functional.avg_pool2d(batch, 8)}

    maps = wrap_module(nn.Identity(), read, name="maps")
    assert [layer.stride_px for layer in maps.card.layers] == [4, 8]
    found = cosines(evaluate_source(maps, small_benchmark, options=PLAIN))
    pd.testing.assert_series_equal(found, cosines(done), atol=1e-5)


@pytest.mark.parametrize(
    ("read", "settings", "message"),
    [
        (lambda net, x: net(x), {}, "its patch size must be said"),
        (lambda net, x: net(x), {"patch_px": 4}, "can't be patches of 4 px"),
        (lambda _net, x: x.mean(dim=(2, 3)), {}, r"gave \[\(1, 3\)\]; expected tensors of shape"),
        (lambda _net, _x: [], {}, "gave nothing"),
        (lambda _net, x: x[:, :, ::3, ::7], {}, "has no whole stride"),
        (lambda net, x: [net(x), net(x)[:, 1:]], {"patch_px": 8}, r"with \[1, 2\] prefix tokens"),
    ],
)
def test_what_a_read_function_may_not_give_is_refused(read, settings, message):
    with pytest.raises(InputError, match=message):
        wrap_module(Patches(), read, name="odd", **settings)


def test_a_wrapped_module_that_takes_one_size_says_what_to_do(small_benchmark):
    def read(net, batch):
        return net(torch.zeros(len(batch), 3, 64, 64))

    model = wrap_module(Patches(), read, name="stiff", patch_px=8, size_px=64)
    with pytest.raises(InputError, match=r"expected 8 x 12 patches.*say is_fixed=True"):
        evaluate_source(model, small_benchmark, options=PLAIN)


FILE_MODEL = """
import torch
from torch import nn
from model_eval.wrap import wrap_module

def build():
    net = nn.AvgPool2d(8)
    return wrap_module(net, lambda net, batch: net(batch), name="mine")

def wrong():
    return 3
"""


def test_a_python_file_is_a_model(small_benchmark, tmp_path):
    path = tmp_path / "my_model.py"
    path.write_text(FILE_MODEL)
    done = evaluate_model(f"{path}:build", small_benchmark, options=PLAIN)
    pd.testing.assert_series_equal(cosines(done), make_plain_answer(small_benchmark), atol=1e-5)
    with pytest.raises(InputError, match="it built a int; expected what"):
        load_model(f"{path}:wrong")
    with pytest.raises(InputError, match="has no function 'missing'"):
        load_model(f"{path}:missing")
    with pytest.raises(InputError, match="no such file"):
        load_model(f"{tmp_path / 'other.py'}:build")
    with pytest.raises(InputError, match="has its own weights"):
        load_model(f"{path}:build", random_seed=1)


def build_means():
    return wrap_module(nn.AvgPool2d(8), lambda net, batch: net(batch), name="from a package")


def test_an_installed_package_s_entry_point_is_a_model(small_benchmark, monkeypatch):
    point = EntryPoint(
        name="means",
        value="tests.model_eval.test_other_sources:build_means",
        group="objecthood.models",
    )
    monkeypatch.setattr("model_eval.sources.local.entry_points", lambda **_: [point])
    done = evaluate_model("entry:means", small_benchmark, options=PLAIN)
    assert done.readouts["model"].unique().tolist() == ["from a package"]
    with pytest.raises(InputError, match="no installed package offers it; installed: 'means'"):
        load_model("entry:other")


def write_onnx(path, *, batch="n", sides=("h", "w"), with_tokens=False):
    """A graph that averages over 8x8 px."""
    nodes = [
        helper.make_node("AveragePool", ["x"], ["map"], kernel_shape=[8, 8], strides=[8, 8]),
        helper.make_node("GlobalAveragePool", ["x"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["vector"]),
    ]
    names = ["map", "vector"]
    initializers = []
    if with_tokens:
        shape = numpy_helper.from_array(np.array([0, 3, -1]), "shape")
        initializers = [shape]
        nodes += [
            helper.make_node("Reshape", ["map", "shape"], ["flat"]),
            helper.make_node("Transpose", ["flat"], ["tokens"], perm=[0, 2, 1]),
        ]
        names = ["tokens"]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, *sides])
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    graph = helper.make_graph(nodes, "g", [given], outputs, initializers)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path
    )


@pytest.mark.parametrize("with_tokens", [False, True])
@pytest.mark.parametrize("batch", ["n", 1])
def test_an_onnx_file_is_a_model(small_benchmark, tmp_path, with_tokens, batch):
    path = tmp_path / "net.onnx"
    write_onnx(path, batch=batch, with_tokens=with_tokens)
    if with_tokens:
        with pytest.raises(InputError, match="its patch size must be said"):
            load_model(f"onnx:{path}")
        settings = {
            "family": "means",
            "patch_px": 8,
            "mean": [0.485, 0.456, 0.406],
            "sd": [0.229, 0.224, 0.225],
        }
        write_json(settings, tmp_path / "net.json")
    options = EvaluationOptions(batch_size=2, geometry="pad")
    done = evaluate_model(f"onnx:{path}", small_benchmark, options=options)
    pd.testing.assert_series_equal(cosines(done), make_plain_answer(small_benchmark), atol=1e-5)
    assert done.model_record["weights_sha256"]
    assert bool(done.model_record["notes"]) is not with_tokens
    assert done.model_record["family"] == ("means" if with_tokens else None)


def test_an_onnx_file_of_one_size_asks_for_another_geometry(small_benchmark, tmp_path):
    path = tmp_path / "net.onnx"
    write_onnx(path, sides=(64, 64))
    with pytest.raises(InputError, match=r"takes inputs of 64x64 px only"):
        evaluate_model(f"onnx:{path}", small_benchmark, options=PLAIN)
    done = evaluate_model(
        f"onnx:{path}", small_benchmark, options=EvaluationOptions(geometry="longest")
    )
    assert len(cosines(done)) == 5


def test_what_is_no_onnx_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_model(f"onnx:{tmp_path / 'a.onnx'}")
    (tmp_path / "a.onnx").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="not a valid ONNX file"):
        load_model(f"onnx:{tmp_path / 'a.onnx'}")
    write_onnx(tmp_path / "b.onnx")
    write_json({"means": 3}, tmp_path / "b.json")
    with pytest.raises(InputError, match="'means' isn't known; expected mean, sd"):
        load_model(f"onnx:{tmp_path / 'b.onnx'}")


def test_kept_features_are_the_same_model_again(small_benchmark, tmp_path):
    options = EvaluationOptions(random_weights=2, layers="0,5", batch_size=2, geometry="square:64")
    storage = Storage(features=tmp_path / "kept")
    first = evaluate_model("test_vit", small_benchmark, options=options, storage=storage)
    kept = {path.name for path in (tmp_path / "kept").iterdir()}
    assert kept == {"features.json", "masked.png.safetensors", "bare.png.safetensors"}
    again = EvaluationOptions(layers="all", geometry="square:64")
    second = evaluate_model(f"features:{tmp_path / 'kept'}", small_benchmark, options=again)
    pd.testing.assert_frame_equal(first.readouts, second.readouts)
    with pytest.raises(InputError, match="computed with --geometry square:64"):
        evaluate_model(f"features:{tmp_path / 'kept'}", small_benchmark, options=ALL_LAYERS)


def test_features_of_somebody_s_own_making_are_a_model(small_benchmark, tmp_path):
    given = {"model": "secret", "patch_px": 8, "family": "means", "year": 2026}
    write_json(given, tmp_path / "features.json")
    for name, shape in (("masked", (8, 12)), ("bare", (9, 7))):
        image = np.zeros((shape[0] * 8, shape[1] * 8, 3))
        pixels = _read_pixels(small_benchmark, name)
        scaled = (pixels / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        image[: pixels.shape[0], : pixels.shape[1]] = scaled
        means = image.reshape(shape[0], 8, shape[1], 8, 3).mean(axis=(1, 3))
        np.savez(tmp_path / f"{name}.npz", features=means.astype(np.float32))
    done = evaluate_model(f"features:{tmp_path}", small_benchmark, options=PLAIN)
    pd.testing.assert_series_equal(cosines(done), make_plain_answer(small_benchmark), atol=1e-4)
    assert (done.model_record["family"], done.model_record["year"]) == ("means", 2026)
    np.savez(tmp_path / "bare.npz", features=np.zeros((7, 9, 3)))
    with pytest.raises(
        InputError, match=r"shape \(7, 9, 3\), expected \(9 rows, 7 columns, dims\)"
    ):
        evaluate_model(f"features:{tmp_path}", small_benchmark, options=PLAIN)
    np.savez(tmp_path / "bare.npz", features=np.array([{}]))
    with pytest.raises(InputError, match="not a readable file of arrays"):
        evaluate_model(f"features:{tmp_path}", small_benchmark, options=PLAIN)
    (tmp_path / "bare.npz").unlink()
    with pytest.raises(InputError, match=r"no features of image 'bare.png'"):
        evaluate_model(f"features:{tmp_path}", small_benchmark, options=PLAIN)


def _read_pixels(bench, name):
    from stimuli.images import load_image

    return load_image(bench.image_path(f"{name}.png")).pixels.astype(float)


def save_checkpoint(tmp_path, state, name="mine.pth"):
    torch.save(state, tmp_path / name)
    return f"checkpoint:test_vit={tmp_path / name}"


def test_a_checkpoint_fits_a_timm_architecture_whatever_is_put_around_it(small_benchmark, tmp_path):
    torch.manual_seed(3)
    module = timm.create_model("test_vit")
    state = module.state_dict()
    save_file(state, tmp_path / "mine.safetensors")
    plain = evaluate_model(
        f"checkpoint:test_vit={tmp_path / 'mine.safetensors'}", small_benchmark, options=PLAIN
    )
    assert plain.readouts["model"].unique().tolist() == ["checkpoint:test_vit=mine.safetensors"]
    wrapped = {"epoch": 3, "teacher": {f"module.backbone.{k}": v for k, v in state.items()}}
    name = save_checkpoint(tmp_path, wrapped)
    write_json({"family": "mine", "objective": "distilled"}, tmp_path / "mine.json")
    done = evaluate_model(name, small_benchmark, options=PLAIN)
    pd.testing.assert_series_equal(cosines(done), cosines(plain))
    assert (done.model_record["family"], done.model_record["objective"]) == ("mine", "distilled")


def test_a_checkpoint_that_does_not_fit_says_where(tmp_path):
    state = timm.create_model("test_vit").state_dict()
    short = {key: value for key, value in state.items() if key != "blocks.3.attn.qkv.weight"}
    with pytest.raises(InputError, match=r"missing 'blocks.3.attn.qkv.weight'"):
        load_model(save_checkpoint(tmp_path, short))
    with pytest.raises(InputError, match=r"left over 'extra'"):
        load_model(save_checkpoint(tmp_path, state | {"extra": torch.zeros(1)}))
    with pytest.raises(InputError, match=r"another shape 'cls_token: \(1, 1, 3\), expected"):
        load_model(save_checkpoint(tmp_path, state | {"cls_token": torch.zeros(1, 1, 3)}))
    with pytest.raises(InputError, match="expected checkpoint:ARCHITECTURE=PATH"):
        load_model("checkpoint:nonsense=a.pth")
    with pytest.raises(InputError, match="no such checkpoint"):
        load_model(f"checkpoint:test_vit={tmp_path / 'none.pth'}")


class Stranger:
    """Pickled objects run code when they are loaded."""

    def __reduce__(self):
        return (print, ("code of a stranger ran",))


def test_code_in_a_checkpoint_is_never_run(tmp_path, capsys):
    name = save_checkpoint(tmp_path, {"state_dict": Stranger()})
    with pytest.raises(InputError, match="can be read without running code"):
        load_model(name)
    assert "stranger" not in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_transformers_folder_is_a_model(small_benchmark, tmp_path):
    from transformers import Dinov2WithRegistersConfig, Dinov2WithRegistersModel

    config = Dinov2WithRegistersConfig(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=2, image_size=56, patch_size=14
    )
    torch.manual_seed(0)
    Dinov2WithRegistersModel(config).save_pretrained(tmp_path / "net")
    done = evaluate_model(f"hf:{tmp_path / 'net'}", small_benchmark, options=ALL_LAYERS)
    assert done.model_record["n_prefix"] == 5
    assert done.model_record["strides_px"] == [14, 14]
    assert done.readouts["model"].unique().tolist() == ["hf:net"]
    random = EvaluationOptions(random_weights=1)
    done = evaluate_model(f"hf:{tmp_path / 'net'}", small_benchmark, options=random)
    assert done.readouts["model"].unique().tolist() == ["hf:net@random1"]
    (tmp_path / "net" / "model.safetensors").unlink()
    with pytest.raises(InputError, match="pickled weights aren't read"):
        load_model(f"hf:{tmp_path / 'net'}")


def test_a_repository_that_is_not_here_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"hf:some/where: it isn't here.*hf download some/where"):
        load_model("hf:some/where")
    with pytest.raises(InputError, match="neither a folder nor a repository's name"):
        load_model("hf:not a name/at all/x")


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"
)
def test_an_open_clip_tower_is_a_model(small_benchmark, monkeypatch):
    logging.getLogger().setLevel(logging.ERROR)
    options = EvaluationOptions(random_weights=0, geometry="longest")
    done = evaluate_model("open_clip:ViT-S-32-alt", small_benchmark, options=options)
    assert done.model_record["preprocessing"]["mean"][0] == pytest.approx(0.48145466)
    assert done.model_record["needs"]["is_fixed"]
    with pytest.raises(InputError, match="no such architecture"):
        load_model("open_clip:ViT-X/openai")
    with pytest.raises(InputError, match="expected one of its trainings"):
        load_model("open_clip:ViT-B-32/nonsense")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="its weights aren't here"):
        load_model("open_clip:ViT-B-32/laion2b_s34b_b79k")


@pytest.mark.parametrize(
    ("name", "strides"), [("resnet18", [4, 8, 16, 32]), ("squeezenet1_1", None), ("swin_t", None)]
)
def test_a_torchvision_network_is_a_model(small_benchmark, name, strides):
    options = EvaluationOptions(random_weights=0, geometry="square:64")
    if name == "squeezenet1_1":
        with pytest.raises(InputError, match="has no whole stride"):
            evaluate_model(f"torchvision:{name}", small_benchmark, options=options)
        return
    done = evaluate_model(f"torchvision:{name}", small_benchmark, options=options)
    assert strides is None or done.model_record["strides_px"] == strides
    assert done.model_record["strides_px"][-1] == 32


@pytest.mark.slow
def test_a_torchvision_vit_takes_its_own_size_only(small_benchmark, monkeypatch, tmp_path):
    options = EvaluationOptions(random_weights=0, geometry="longest")
    done = evaluate_model("torchvision:vit_b_16", small_benchmark, options=options)
    assert done.model_record["n_prefix"] == 1
    assert done.model_record["needs"]["is_fixed"]
    with pytest.raises(InputError, match="no such classifier"):
        load_model("torchvision:nonsense")
    monkeypatch.setattr("model_eval.weights._torch_checkpoints", lambda: tmp_path)
    monkeypatch.setattr("model_eval.weights._why_unreachable", lambda _place: "no network: x")
    with pytest.raises(InputError, match=r"its weights aren't here.*curl -L -o resnet18"):
        load_model("torchvision:resnet18")
