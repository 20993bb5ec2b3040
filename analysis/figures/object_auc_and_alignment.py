"""Figure: the object-centric metric against alignment, one point per model, with a regression."""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.alignment import ALIGNMENT_READOUT, tabulate_alignment
from analysis.figures.colours import INK, assign_markers
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.regression import Line, fit_line, predict_band

NAME = "object_auc_and_alignment"
TITLE = "Within/between-object AUC against alignment with people"
N_ON_LINE = 60
BAND = "#888888"


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of the models that have both quantities."""
    table = tabulate_alignment(material.board, material.readouts)
    if table.empty:
        return NotDrawn(
            reason=f"no model has a scored {ALIGNMENT_READOUT!r} readout and an object-centric AUC "
            "(that needs masks, and RESULTS/readouts)"
        )
    line = fit_line(table["object_auc"].to_numpy(float), table["r"].to_numpy(float))
    band = tabulate_band(line, table["object_auc"])
    numbers = {
        "n_models": line.n,
        "n_trials_alignment": int(table["n_trials"].iloc[0]),
        "n_trials_auc": int(table["n_auc_trials"].max()),
        "spearman_r": line.spearman_r,
        "slope": line.slope,
        "slope_ci_low": line.slope_low,
        "slope_ci_high": line.slope_high,
        "note": line.note,
    }
    return Drawing(
        figure=draw_alignment(table, band, colours=material.colours),
        table=table,
        text=_caption(table, line),
        numbers=numbers,
    )


def tabulate_band(line: Line, x: pd.Series) -> pd.DataFrame:
    """Return the line and its band over the range of `x`; empty where there is no line."""
    if line.note is not None:
        return pd.DataFrame(columns=["object_auc", "r", "low", "high"])
    at = np.linspace(x.min(), x.max(), N_ON_LINE)
    mean, low, high = predict_band(line, at)
    return pd.DataFrame({"object_auc": at, "r": mean, "low": low, "high": high})


def draw_alignment(
    table: pd.DataFrame, band: pd.DataFrame, *, colours: Mapping[str, str]
) -> Figure:
    """Return the figure.

    Parameters
    ----------
    table
        As `analysis.alignment.tabulate_alignment` returns it.
    band
        As `tabulate_band` returns it.
    colours
        By family.
    """
    markers = assign_markers(table["model"])
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=3.0)
        axes = figure.subplots()
        if len(band):
            axes.fill_between(
                band["object_auc"], band["low"], band["high"], color=BAND, alpha=0.18, linewidth=0
            )
            axes.plot(band["object_auc"], band["r"], color=BAND, linewidth=1.0)
        axes.axhline(0, color=INK, linewidth=0.6, linestyle=":")
        for _, row in table.iterrows():
            colour = colours[row["family"]]
            if pd.notna(row["ci_low_r"]):
                axes.vlines(
                    row["object_auc"],
                    row["ci_low_r"],
                    row["ci_high_r"],
                    color=colour,
                    linewidth=0.8,
                )
            axes.plot(
                row["object_auc"],
                row["r"],
                markers[row["model"]],
                color=colour,
                markersize=5,
                label=row["model"],
            )
        _frame(axes, table)
        return figure


def _frame(axes: Axes, table: pd.DataFrame) -> None:
    # The band may leave the range of r by far; the points and their intervals set the axis.
    low = min(0.0, float(table[["r", "ci_low_r"]].min().min()))
    high = max(0.0, float(table[["r", "ci_high_r"]].max().max()))
    pad = 0.08 * (high - low)
    axes.set(
        xlabel="object-centric AUC (within against between objects; 0.5 is chance)",
        ylabel="alignment: partial r of\nsimilarity with mean RT",
        ylim=(low - pad, high + pad),
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _caption(table: pd.DataFrame, line: Line) -> str:
    n_auc, n_trials = int(table["n_auc_trials"].max()), int(table["n_trials"].iloc[0])
    fit = (
        f"{line.note}. "
        if line.note
        else f"Grey: least-squares line and the 95 % band of its mean over these {line.n} models "
        f"(Spearman r = {line.spearman_r:.2f}; slope {line.slope:.2f}, 95 % "
        f"{line.slope_low:.2f} to {line.slope_high:.2f}); models are no random sample, the band "
        "describes them. "
    )
    return (
        "How well a model's similarities keep to objects, against how well they predict people. "
        f"Across: mean rank AUC of the central dot's similarity map ({n_auc} displays with masks). "
        "Up: headline score of the similarity between the two dots "
        f"({n_trials} displays; 95 % over people and scenes). {fit}"
        "The source reports Spearman r = .95 over nine models with learned readouts."
    )
