"""Figure: each person's correlation with each model."""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.colours import INK
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.person_scores import OTHERS, score_persons, summarise_person_scores
from analysis.results import group_by_rows
from model_eval.tables import READOUT_KEY

NAME = "persons_and_models"
TITLE = "Each person with each model"
MAX_ROWS = 12
PEOPLE = "#444444"
# Points of one row are spread over this much of its height.
SPREAD = 0.32


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of the best shown readouts on the most trials."""
    wanted = _choose(material)
    if wanted.empty:
        return NotDrawn(reason="no scored readout has its values in RESULTS/readouts")
    sets = group_by_rows(wanted, times=material.analysed.times, trials=material.benchmark.trials)
    largest = sets[0]
    persons = score_persons(largest.difficulty, largest.rows)
    summary = _order(summarise_person_scores(persons))
    text = (
        "Correlation of predicted difficulty with one person's reaction times, condition and distance "
        f"removed; a point for each of {len(largest.rows.participant_ids)} {material.people}, with "
        f"the mean and its 95 % interval over people; {len(largest.rows.trial_ids)} displays, of "
        "which each person saw some. Last layer of each readout. Top: the person with the mean of "
        "the others, what a model of people in general would reach."
    )
    numbers = {
        row["label"]: {name: row[name] for name in ("mean_r", "ci_low_r", "ci_high_r")}
        for _, row in summary.iterrows()
    }
    persons = persons.merge(summary[[*READOUT_KEY, "label"]], on=READOUT_KEY, how="left")
    families = material.board.drop_duplicates("model").set_index("model")["family"]
    colours = {
        row["label"]: PEOPLE if row["model"] == OTHERS else material.colours[families[row["model"]]]
        for _, row in summary.iterrows()
    }
    return Drawing(
        figure=draw_persons(persons, summary, colours=colours),
        table=persons.dropna(subset="label"),
        text=text,
        numbers=numbers,
    )


def draw_persons(
    persons: pd.DataFrame, summary: pd.DataFrame, *, colours: Mapping[str, str]
) -> Figure:
    """Return the figure: a row per readout.

    Parameters
    ----------
    persons, summary
        As `analysis.person_scores` makes them, with `label`; rows in the order of `summary`.
    colours
        By label.
    """
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=0.8 + 0.3 * len(summary))
        axes = figure.subplots()
        axes.axvline(0, color=INK, linewidth=0.6, linestyle=":")
        for place, (_, row) in enumerate(summary.iterrows()):
            own = persons.loc[persons["label"] == row["label"], "partial_r"].dropna()
            # In the order of people, so that the same person stands at the same height in each row.
            heights = place + np.linspace(-SPREAD, SPREAD, len(own))
            colour = colours[row["label"]]
            axes.plot(own, heights, ".", color=colour, markersize=5, alpha=0.7, markeredgewidth=0)
            axes.hlines(place, row["ci_low_r"], row["ci_high_r"], color=INK, linewidth=1.6)
            axes.plot(row["mean_r"], place, "D", color=INK, markersize=3.5)
        axes.set_yticks(range(len(summary)), list(summary["label"]))
        axes.invert_yaxis()
        axes.set(xlabel="partial r with one person's reaction times")
        return figure


def _choose(material: Material) -> pd.DataFrame:
    """Return the readouts behind the shown rows of the board."""
    blank = dict.fromkeys(READOUT_KEY, "")
    shown = material.board.loc[material.board["is_shown"], READOUT_KEY].fillna(blank)
    wanted = set(shown.itertuples(index=False, name=None))
    keys = material.readouts[READOUT_KEY].fillna(blank).itertuples(index=False, name=None)
    return material.readouts[[key in wanted for key in keys]]


def _order(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the people's row, then the best readouts that have a mean, each with a label."""
    models = summary[summary["model"] != OTHERS].dropna(subset="mean_r")
    best = models.sort_values("mean_r", ascending=False).head(MAX_ROWS)
    best = best.assign(label=best["model"] + ": " + best["readout"])
    others = summary[summary["model"] == OTHERS]
    table = pd.concat([others.assign(label=OTHERS), best], ignore_index=True)
    return table.dropna(subset="mean_r").drop_duplicates("label")
