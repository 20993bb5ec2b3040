"""Responses to the human table and ceilings; readouts and people to scores, figures, a board.

For notebooks: `score_model` and `draw_scores`. They are found when they are first asked for, so that
importing a module of this package loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.scored import Scored as Scored
    from analysis.scored import draw_scores as draw_scores
    from analysis.scored import score_model as score_model

_PLACES = dict.fromkeys(("Scored", "draw_scores", "score_model"), "analysis.scored")


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever is exported)
    """Return what notebooks import from here."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
