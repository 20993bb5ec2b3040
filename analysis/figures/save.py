"""Writing a figure: PDF, SVG and PNG, the table that it draws, and the caption's data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from stimuli.table_io import replacing, write_json, write_table

STYLE = Path(__file__).parents[1] / "objecthood.mplstyle"
FORMATS = ("pdf", "svg", "png")
# Inches: one column and two columns of a journal page.
COLUMN_IN, PAGE_IN = 3.5, 7.2
# No date in the files: the same tables give the same bytes.
NO_DATE: Mapping[str, Mapping[str, Any]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {},
}


def make_figure(*, width_in: float, height_in: float) -> Figure:
    """Return an empty figure in the house style; no window, whatever MPLBACKEND says."""
    with mpl.rc_context(fname=STYLE):
        return Figure(figsize=(width_in, height_in), layout="constrained")


def save_figure(
    figure: Figure, name: str, *, table: pd.DataFrame, caption: Mapping[str, Any], folder: Path
) -> list[Path]:
    """Write `name`.pdf, .svg and .png, `name`.csv with what is drawn, and `name`.json for the caption.

    Returns
    -------
    list of Path
        The pictures.
    """
    write_table(table, folder / f"{name}.csv")
    write_json(caption, folder / f"{name}.json")
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    with mpl.rc_context(fname=STYLE):
        for path in paths:
            suffix = path.suffix[1:]
            with replacing(path) as temporary:
                figure.savefig(temporary, format=suffix, metadata=dict(NO_DATE[suffix]))
    return paths
