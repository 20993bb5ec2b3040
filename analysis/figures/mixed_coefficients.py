"""Figure: the mixed models' effect of each readout on ln RT."""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.colours import INK
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure

NAME = "mixed_coefficients"
TITLE = "Mixed models: what a readout does to reaction time"
MAX_ROWS = 24
COLUMNS = ["label", "family", "model", "layer", "representation", "readout", "percent_per_sd"]
COLUMNS += ["percent_low", "percent_high", "df", "p", "delta_aic", "n_trials", "n_people"]


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of the readouts that `objecthood explain` fitted."""
    if material.mixed.empty:
        return NotDrawn(reason="no statistics/mixed.csv in the results; run 'objecthood explain'")
    table = tabulate_coefficients(material.mixed, material.board)
    if table.empty:
        return NotDrawn(reason="no shown readout has a mixed model; mixed.csv says why")
    shown = table.head(MAX_ROWS)
    n_trials = int(table["n_trials"].iloc[0])
    text = (
        "Change of reaction time per standard deviation of predicted difficulty, with condition and "
        "distance in the model and crossed random effects of person, scene and trial; last layer of "
        f"each readout, on {n_trials} displays. Bars: 95 % by Satterthwaite's degrees of freedom. "
        "Open: the model without the readout has the lower AIC."
        + (f" {len(table) - MAX_ROWS} more are in the table." if len(table) > MAX_ROWS else "")
    )
    numbers = {
        row["label"]: {
            name: row[name] for name in ("percent_per_sd", "percent_low", "percent_high", "p")
        }
        for _, row in shown.iterrows()
    }
    return Drawing(
        figure=draw_coefficients(shown, colours=material.colours),
        table=table,
        text=text,
        numbers={"n_trials": n_trials, "readouts": numbers},
    )


def tabulate_coefficients(mixed: pd.DataFrame, board: pd.DataFrame) -> pd.DataFrame:
    """Return the shown readouts on the most trials, largest effect first; ends in per cent of RT.

    Parameters
    ----------
    mixed
        Valid under `analysis.statistic_tables.MixedScores`.
    board
        With family; its shown rows are the readouts that are drawn.
    """
    keys = ["model", "layer", "representation", "readout"]
    shown = board.loc[board["is_shown"], [*keys, "family"]]
    blank = dict.fromkeys(keys, "")
    table = mixed.fillna(blank).merge(shown.fillna(blank), on=keys, validate="one_to_one")
    table = table.dropna(subset="estimate")
    table = table[table["n_trials"] == table["n_trials"].max()]
    table = table.assign(
        label=table["model"] + ": " + table["readout"],
        percent_low=100 * np.expm1(table["ci_low"]),
        percent_high=100 * np.expm1(table["ci_high"]),
    )
    return table.sort_values("percent_per_sd", ascending=False, ignore_index=True)[COLUMNS]


def draw_coefficients(table: pd.DataFrame, *, colours: Mapping[str, str]) -> Figure:
    """Return the figure; `table` as `tabulate_coefficients` returns it."""
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=0.75 + 0.19 * len(table))
        axes = figure.subplots()
        axes.axvline(0, color=INK, linewidth=0.6, linestyle=":")
        for place, (_, row) in enumerate(table.iterrows()):
            colour = colours[row["family"]]
            axes.hlines(place, row["percent_low"], row["percent_high"], color=colour, linewidth=1.2)
            axes.plot(
                row["percent_per_sd"],
                place,
                "o",
                markersize=4.5,
                color=colour,
                markerfacecolor=colour if row["delta_aic"] < 0 else "white",
            )
        axes.set_yticks(range(len(table)), list(table["label"]))
        axes.invert_yaxis()
        axes.set(xlabel="change of RT per SD of predicted difficulty (%)")
        return figure
