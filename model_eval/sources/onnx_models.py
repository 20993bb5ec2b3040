"""ONNX files: each output is a layer. Runs in onnxruntime, on the CPU, without torch.

Preprocessing isn't part of the format; it is read from a JSON file beside the model if there is one
(``my_model.json``: mean, sd, patch_px, size_px; also family, objective and such), and is ImageNet's otherwise.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from model_eval.card import (
    ABOUT_NAMES,
    Feature,
    Layer,
    ModelCard,
    Preprocessing,
    parse_about,
)
from model_eval.preprocess import make_input
from model_eval.source import Emit, SourceImage
from stimuli.benchmark import hash_file
from stimuli.errors import InputError
from stimuli.geometry import InputNeeds
from stimuli.table_io import read_json

_MEAN, _SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_KNOWN = ("mean", "sd", "patch_px", "size_px", "name", *ABOUT_NAMES)


class OnnxModel:
    """An ONNX file as a source.

    Parameters
    ----------
    path
        The file. Its first input is (n, 3, height, width); outputs of other ranks than 3 (tokens,
        prefix first) and 4 (maps) are left out.
    """

    def __init__(self, path: Path) -> None:
        if find_spec("onnxruntime") is None:
            raise InputError(f"onnx:{path}: needs onnxruntime; run 'pip install onnxruntime'")
        if not path.is_file():
            raise InputError(f"onnx:{path}: no such file")
        import onnxruntime
        from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf

        self._path = path
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except (InvalidProtobuf, InvalidGraph, Fail) as error:
            raise InputError(f"onnx:{path}: not a valid ONNX file ({error})") from None
        given = _read_settings(path)
        first = self._session.get_inputs()[0]
        sides = [side if isinstance(side, int) else None for side in first.shape[2:]]
        size = int(given.get("size_px") or sides[0] or 224)
        self._input = first.name
        # A graph whose batch is fixed to 1 is run image by image.
        self._one_by_one = first.shape[0] == 1
        self._preprocessing = Preprocessing(
            mean=tuple(given.get("mean", _MEAN)), sd=tuple(given.get("sd", _SD))
        )
        outputs = self._run(np.zeros((1, 3, size, size), np.float32))
        self._layers, n_prefix = _find_layers(
            outputs, size, given.get("patch_px"), where=f"onnx:{path}"
        )
        self._card = ModelCard(
            name=str(given.get("name", f"onnx:{path.name}")),
            source="onnx",
            needs=InputNeeds(
                stride_px=max(layer.stride_px for layer in self._layers),
                own_size_px=size,
                is_fixed=None not in sides,
            ),
            layers=self._layers,
            preprocessing=self._preprocessing,
            n_prefix=n_prefix,
            weights_sha256=hash_file(path),
            about=parse_about(given, where=str(path.with_suffix(".json"))),
            notes=() if "mean" in given else ("preprocessing assumed to be ImageNet's",),
        )

    @property
    def card(self) -> ModelCard:
        """The model's facts."""
        return self._card

    def read(self, images: Sequence[SourceImage], wanted: Sequence[Feature], emit: Emit) -> None:
        """Read one batch; see `model_eval.source.FeatureSource`."""
        batch = np.stack([make_input(i.pixels, i.grid, self._preprocessing) for i in images])
        parts = [self._run(one[None]) for one in batch] if self._one_by_one else [self._run(batch)]
        for feature in wanted:
            output = np.concatenate([part[int(feature.layer)] for part in parts])
            grid = images[0].grid.at_stride(self._card.layer(feature.layer).stride_px)
            tokens = (
                output[:, self._card.n_prefix or 0 :]
                if output.ndim == 3
                else output.reshape(*output.shape[:2], -1).transpose(0, 2, 1)
            )
            is_right = tokens.shape[1] == grid.n_patches and (
                output.ndim == 3 or output.shape[2:] == (grid.n_rows, grid.n_columns)
            )
            if not is_right:
                raise InputError(
                    f"{self._card.name}, output {feature.layer}: shape {output.shape}, expected "
                    f"{grid.n_rows} x {grid.n_columns} patches"
                )
            emit(feature, tokens)

    def _run(self, batch: np.ndarray) -> list[np.ndarray]:
        from onnxruntime.capi.onnxruntime_pybind11_state import (
            Fail,
            InvalidArgument,
            RuntimeException,
        )

        try:
            outputs = self._session.run(None, {self._input: batch})
        except (InvalidArgument, Fail, RuntimeException) as error:
            raise InputError(
                f"onnx:{self._path}: can't read an input of {batch.shape[3]}x{batch.shape[2]} px "
                f"({str(error).splitlines()[0]}); another --geometry (longest, square) may serve"
            ) from None
        return [x for x in outputs if isinstance(x, np.ndarray) and x.ndim in {3, 4}]


def _read_settings(path: Path) -> dict[str, Any]:
    beside = path.with_suffix(".json")
    given = read_json(beside) if beside.is_file() else {}
    unknown = [name for name in given if name not in _KNOWN]
    if unknown:
        raise InputError(f"{beside}: {unknown[0]!r} isn't known; expected {', '.join(_KNOWN)}")
    return given


def _find_layers(
    outputs: Sequence[np.ndarray], size_px: int, patch_px: int | None, *, where: str
) -> tuple[tuple[Layer, ...], int | None]:
    """Return the layers and the prefix tokens, from what a grey image gives."""
    layers, prefixes = [], set()
    for k, output in enumerate(outputs):
        if output.ndim == 3:
            if patch_px is None:
                raise InputError(
                    f"{where}: it gives tokens, so its patch size must be said: put "
                    f'{{"patch_px": 16}} into {Path(where).with_suffix(".json").name} beside it'
                )
            n_prefix = output.shape[1] - (size_px // patch_px) ** 2
            prefixes.add(n_prefix)
            layers.append(Layer(name=str(k), stride_px=patch_px, representations=("tokens",)))
        else:
            stride = size_px // output.shape[2]
            layers.append(Layer(name=str(k), stride_px=stride, representations=("map",)))
    if not layers or len(prefixes) > 1 or any(n < 0 for n in prefixes):
        raise InputError(
            f"{where}: outputs {[x.shape for x in outputs]} for {size_px}x{size_px} px; expected tokens "
            "(n, n_tokens, n_dims) with as many prefix tokens in each, or maps (n, n_dims, rows, columns)"
        )
    return tuple(layers), (prefixes.pop() if prefixes else None)
