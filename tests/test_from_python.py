"""Five lines of Python: the README's and the documents' own, run as they stand."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import torch
from matplotlib.figure import Figure
from torch import nn

from analysis import draw_scores, score_model
from model_eval import EvaluationOptions, load_model, open_benchmark, read_out, wrap_module
from model_eval.readouts import registry
from stimuli.errors import InputError
from stimuli.geometry import GeometryMode
from tests.model_eval.test_learn_command import write_bench

ROOT = Path(__file__).parents[1]


class Net(nn.Module):
    """Somebody's network: tokens with a class token first."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.cut = nn.Conv2d(3, 8, kernel_size=16, stride=16)

    def forward_features(self, images):
        patches = self.cut(images).flatten(2).transpose(1, 2)
        return torch.cat([patches.mean(dim=1, keepdim=True), patches], dim=1)


def find_python(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.DOTALL)


def test_the_readme_s_five_lines_run(tmp_path, rng, monkeypatch):
    write_bench(tmp_path / "bench" / "adeli2023", rng)
    monkeypatch.chdir(tmp_path)
    (code,) = find_python(ROOT / "README.md")
    lines = [line for line in code.splitlines() if line and not line.startswith("from ")]
    assert len(lines) == 5
    found = {"net": Net()}
    exec(code.replace("draw_scores(scored)", "figure = draw_scores(scored)"), found)  # noqa: S102 (ours)
    assert isinstance(found["figure"], Figure)
    assert found["done"].readouts["model"].unique().tolist() == ["mine"]
    scores = found["scored"].scores
    assert set(scores["readout"]) == {"cosine"}
    path = found["scored"].save("results")
    record = json.loads(path.read_text())
    assert record["command"] == "from Python"
    assert record["model"]["source"] == "wrapped"
    assert len(record["scores"]) == len(scores)
    assert (tmp_path / "results" / "readouts").is_dir()


def test_models_are_drawn_together_and_layers_as_curves(tmp_path, rng):
    bench = open_benchmark(str(write_bench(tmp_path / "b", rng).folder))

    def scored(name, options, n_layers):
        model = wrap_module(
            Net(), lambda net, x: [net.forward_features(x)] * n_layers, name=name, patch_px=16
        )
        return score_model(read_out(model, bench, options=options), bench)

    last = EvaluationOptions(readouts=("cosine", "negative_l2"))
    one, other = (scored(name, last, 1) for name in ("one", "other"))
    bars = draw_scores(one, other).axes[0]
    assert len(bars.patches) >= 4
    every = EvaluationOptions(layers="all", readouts=("cosine",))
    curve = draw_scores(scored("deep", every, 3)).axes[0]
    assert curve.get_xlabel().startswith("depth of the layer")
    with pytest.raises(InputError, match="nothing to draw"):
        draw_scores()


def test_what_notebooks_import_costs_nothing_until_it_is_used():
    code = (
        "import sys, analysis, model_eval, model_eval.tables, model_eval.map_files\n"
        "assert not {'torch', 'timm', 'matplotlib', 'safetensors'} & set(sys.modules)\n"
        "from model_eval import EvaluationOptions, open_benchmark\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    import analysis
    import model_eval

    for package in (analysis, model_eval):
        for name in package._PLACES:
            assert getattr(package, name).__name__ == name
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = package.nonsense


def test_each_way_to_add_a_model_runs_as_documented_in_at_most_ten_lines(
    tmp_path, rng, monkeypatch
):
    bench = write_bench(tmp_path / "b", rng)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("model_eval.readouts.registry.READOUTS", dict(registry.READOUTS))
    blocks = find_python(ROOT / "docs" / "models.md")
    assert len(blocks) == 3
    assert all(len([line for line in code.splitlines() if line]) <= 10 for code in blocks)
    file_model, features, new_readout = blocks
    Path("my_model.py").write_text(file_model)
    built = load_model("my_model.py:build")
    assert (built.card.name, built.card.about.year) == ("mine", 2026)
    Path("features").mkdir()
    exec(features, {})  # noqa: S102 (ours)
    stored = load_model("features:features")
    assert (stored.card.name, stored.card.needs.stride_px) == ("secret", 16)
    exec(new_readout, {})  # noqa: S102 (ours)
    options = EvaluationOptions(readouts=("negative_l1", "cosine"))
    values = read_out(built, bench, options=options).readouts
    own = values.loc[values["readout"].eq("negative_l1")]
    assert len(own) == values["readout"].eq("cosine").sum()
    assert own["value"].le(0).all()
    assert own["value"].lt(0).any()


def test_every_readout_and_geometry_is_documented():
    text = (ROOT / "docs" / "models.md").read_text()
    for name in registry.READOUTS:
        assert f"`{name}`" in text, name
    for mode in get_args(GeometryMode):
        assert f"| `{mode}" in text, mode
