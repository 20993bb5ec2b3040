"""Figure: people's reaction time by condition, mean and SEM over trials."""

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.colours import DIFFERENT, SAME
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import COLUMN_IN, STYLE, make_figure

NAME = "rt_by_condition"
TITLE = "People's reaction time by condition"


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of the people's condition means."""
    table = material.conditions
    if table.empty:
        return NotDrawn(reason="nobody has an analysed reaction time")
    n_trials = int(table["n_trials"].sum())
    figure = draw_rt_by_condition(table, is_simulated=material.is_simulated)
    text = (
        f"Mean reaction time of the correct responses of {material.people} in the four conditions. "
        f"Error bars: standard error over displays ({n_trials} in all). The axis doesn't start at 0."
    )
    numbers = {
        row["condition"]: {
            "n_trials": row["n_trials"],
            "mean_rt_ms": row["mean_rt_s"] * 1000,
            "sem_rt_ms": row["sem_rt_s"] * 1000,
        }
        for _, row in table.iterrows()
    }
    numbers |= {"n_trials": n_trials, "error_bars": "SEM over trials"}
    return Drawing(figure=figure, table=table, text=text, numbers=numbers)


def draw_rt_by_condition(conditions: pd.DataFrame, *, is_simulated: bool) -> Figure:
    """Return the figure of mean RT ± SEM for each cell of the design.

    Parameters
    ----------
    conditions
        As `analysis.human.summarise_conditions` returns it.
    is_simulated
        Says so in the figure.
    """
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=COLUMN_IN, height_in=2.6)
        axes = figure.subplots()
        for kind, colour, marker in (("same", SAME, "o"), ("different", DIFFERENT, "s")):
            rows = conditions[conditions["condition"].str.startswith(kind)]
            axes.errorbar(
                rows["condition"].str.split().str[1],
                rows["mean_rt_s"] * 1000,
                yerr=rows["sem_rt_s"].fillna(0) * 1000,
                label=f"{kind} object{'s' if kind == 'different' else ''}",
                color=colour,
                marker=marker,
                markersize=4,
                capsize=2.5,
            )
        axes.margins(x=0.25)
        axes.set(xlabel="distance between the dots", ylabel="mean reaction time (ms)")
        axes.legend(title="simulated people" if is_simulated else None)
        return figure
