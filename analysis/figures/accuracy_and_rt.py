"""Figure: who is fast and who is right, one point per person."""

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.colours import INK, SAME
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import COLUMN_IN, STYLE, make_figure
from analysis.person_tables import summarise_persons
from analysis.regression import fit_line

NAME = "accuracy_and_rt"
TITLE = "Accuracy and speed, by person"


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of people whose errors are recorded."""
    recorded = material.benchmark.manifest.errors_recorded
    if not recorded:
        return NotDrawn(
            reason="the benchmark records no error trials, so nobody's accuracy is known"
        )
    table = summarise_persons(
        material.analysed.times, material.analysed.exclusion.answered, errors_recorded=recorded
    ).dropna(subset=["accuracy", "mean_rt_s"])
    if table.empty:
        return NotDrawn(reason="nobody has answers and reaction times")
    r = fit_line(table["mean_rt_s"].to_numpy(float), table["accuracy"].to_numpy(float)).spearman_r
    said = (
        ""
        if r is None
        else f" Over people, Spearman r of the two = {r:.2f}: above zero would be a "
        "trade-off, slower people being more often right."
    )
    text = (
        f"Share of right answers against mean reaction time of right answers, one point for each of "
        f"{len(table)} {material.people}.{said}"
    )
    numbers = {
        "n_people": len(table),
        "mean_accuracy": float(table["accuracy"].mean()),
        "sd_accuracy": float(table["accuracy"].std()) if len(table) > 1 else None,
        "spearman_r": r,
    }
    return Drawing(figure=draw_persons(table), table=table, text=text, numbers=numbers)


def draw_persons(table: pd.DataFrame) -> Figure:
    """Return the figure; `table` as `analysis.person_tables.summarise_persons` returns it."""
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=COLUMN_IN, height_in=2.6)
        axes = figure.subplots()
        axes.plot(
            table["mean_rt_s"] * 1000,
            table["accuracy"],
            "o",
            color=SAME,
            markersize=4,
            alpha=0.75,
            markeredgewidth=0,
        )
        lowest = float(table["accuracy"].min())
        if lowest < 0.6:
            axes.axhline(0.5, color=INK, linewidth=0.6, linestyle=":")
        axes.set(xlabel="mean reaction time (ms)", ylabel="share right")
        axes.set_ylim(min(lowest - 0.02, 0.75), 1.005)
        return figure
