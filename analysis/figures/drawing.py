"""What a figure's module hands back: the figure with its table, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure and what belongs to it.

    Attributes
    ----------
    figure
        The picture.
    table
        What it draws.
    text
        Its caption, in sentences.
    numbers
        What a text would quote of it; goes into the caption's file and into `numbers.json`.
    """

    figure: Figure
    table: pd.DataFrame
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDrawn:
    """Why a figure can't be drawn from what is there, and what would make it possible."""

    reason: str
