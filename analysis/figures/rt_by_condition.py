"""Figure: people's reaction time by condition, mean and SEM over trials."""

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.save import STYLE, make_figure

NAME = "rt_by_condition"


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
        figure = make_figure(width_in=3.5, height_in=2.6)
        axes = figure.subplots()
        for kind, colour, marker in (("same", "#0072B2", "o"), ("different", "#D55E00", "s")):
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
