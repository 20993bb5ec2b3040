"""Figure: power to see a difference between two models, by people and scenes."""

import matplotlib as mpl
import pandas as pd

from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure

NAME = "power_curves"
TITLE = "Power: how many people and scenes a difference needs"


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of what `objecthood power` wrote into the results' statistics."""
    if material.power.empty:
        return NotDrawn(reason="no statistics/power.csv in the results; run 'objecthood power'")
    return draw_power(material.power)


def draw_power(table: pd.DataFrame) -> Drawing:
    """Return the figure; `table` as `analysis.power.estimate_power` returns it."""
    first = table.iloc[0]
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=2.8)
        left, right = figure.subplots(1, 2, sharey=True)
        panels = ((left, "power", "better model told apart"),)
        panels += ((right, "power_above_zero", "worse model above zero"),)
        for axes, column, title in panels:
            for n_scenes, part in table.sort_values("n_people").groupby("n_scenes"):
                spread = [
                    part[column] - part[f"{column}_low"],
                    part[f"{column}_high"] - part[column],
                ]
                axes.errorbar(
                    part["n_people"],
                    part[column],
                    yerr=spread,
                    marker="o",
                    markersize=3.5,
                    label=f"{n_scenes} scenes",
                )
            axes.axhline(0.8, linestyle=":", linewidth=0.6, color="0.4")
            axes.set(xlabel="people", ylim=(-0.02, 1.04), title=title)
        left.set_ylabel("share of experiments")
        left.legend(loc="best")
    text = (
        f"Share of {first['n_experiments']} simulated experiments in which a model that scores "
        f"{first['difference_r']:g} more than one of r = {first['baseline_r']:g} (in a study of the "
        "published size) is called better, and the worse one better than zero, at 5 %. Bars: Wilson's "
        "95 % for the number of experiments. Dotted: 80 %."
    )
    numbers = {"n_experiments": int(first["n_experiments"]), "seed": int(first["seed"])}
    return Drawing(figure=figure, table=table, text=text, numbers=numbers)
