"""Model and trials to readouts: a model is one observer of the trials that people saw.

For notebooks (docs/models.md): `open_benchmark`, `wrap_module` or `load_model`, and `read_out`. They are
found when they are first asked for: tables of this package are read where there is no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model_eval.card import About as About
    from model_eval.options import EvaluationOptions as EvaluationOptions
    from model_eval.run import Storage as Storage
    from model_eval.run import read_out as read_out
    from model_eval.sources.find import load_model as load_model
    from model_eval.wrap import wrap_module as wrap_module
    from stimuli.benchmark import open_benchmark as open_benchmark

_PLACES = {
    "About": "model_eval.card",
    "EvaluationOptions": "model_eval.options",
    "Storage": "model_eval.run",
    "load_model": "model_eval.sources.find",
    "open_benchmark": "stimuli.benchmark",
    "read_out": "model_eval.run",
    "wrap_module": "model_eval.wrap",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever is exported)
    """Return what notebooks import from here."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
