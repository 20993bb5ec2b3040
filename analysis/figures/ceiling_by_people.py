"""Figure: how well groups of people predict each other, by the size of the groups."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.ceiling_curve import MIN_PEOPLE, N_DRAWS, compute_ceiling_curve
from analysis.figures.colours import CEILING, CEILING_TEXT
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import COLUMN_IN, STYLE, make_figure
from analysis.rows import Rows, select_rows

NAME = "ceiling_by_people"
TITLE = "The ceiling against the number of people"
SEED = 0
SPARSE = (
    " Each person saw some of the displays only: of those that two small groups share, each has at "
    "least one person in either, more than such a group has on average, so small groups lie above "
    "the line."
)


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of the plain ceiling on all trials."""
    rows = select_rows(material.analysed.times, material.benchmark.trials)
    n = len(rows.participant_ids)
    if n < MIN_PEOPLE:
        return NotDrawn(reason=f"{n} people; at least {MIN_PEOPLE} are needed")
    table = compute_ceiling_curve(rows, rng=np.random.default_rng(SEED))
    if table["mean_r"].isna().all():
        return NotDrawn(reason="groups of people have too few trials in common")
    last = table.iloc[-1]
    is_predicted = pd.notna(last["predicted_r"])
    text = (
        f"Spearman r between the trial means of two groups of {material.people}, drawn without "
        f"overlap {N_DRAWS} times for each size from {n}; all trials that both groups have. Dots: "
        "mean; bars: 95 % of the draws."
        + (" Line: Spearman-Brown from the largest groups." if is_predicted else "")
        + (SPARSE if is_sparse(rows) else "")
    )
    numbers = {
        "n_people": n,
        "largest_group": int(last["n_people"]),
        "mean_r": float(last["mean_r"]),
        "seed": SEED,
    }
    return Drawing(figure=draw_ceiling_curve(table), table=table, text=text, numbers=numbers)


def is_sparse(rows: Rows) -> bool:
    """Return whether people saw less than half of the displays on average."""
    return float(np.isfinite(rows.rt_s).mean()) < 0.5


def draw_ceiling_curve(table: pd.DataFrame) -> Figure:
    """Return the figure; `table` as `analysis.ceiling_curve.compute_ceiling_curve` returns it."""
    there = table.dropna(subset="mean_r")
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=COLUMN_IN, height_in=2.6)
        axes = figure.subplots()
        axes.vlines(there["n_people"], there["low_r"], there["high_r"], color=CEILING, linewidth=1)
        axes.plot(
            there["n_people"], there["mean_r"], "o", color=CEILING, markersize=4, label="people"
        )
        if there["predicted_r"].notna().any():
            axes.plot(
                there["n_people"],
                there["predicted_r"],
                color=CEILING_TEXT,
                linewidth=1,
                linestyle="--",
                label="Spearman-Brown",
            )
        axes.set(
            xscale="log", xlabel="people per group", ylabel="r between two groups' trial means"
        )
        axes.set_xticks(there["n_people"], [str(n) for n in there["n_people"]])
        axes.minorticks_off()
        axes.legend(loc="upper left")
        return figure
