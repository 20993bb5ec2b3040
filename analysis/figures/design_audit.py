"""Figure: what a trial table gives away to somebody who doesn't look for objects."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.save import STYLE, make_figure
from stimuli.tables import DISTANCE_CONDITIONS

NAME = "design_audit"
TITLE = "What the design gives away"
TEXT = (
    "Left: how well a cheat does that knows one thing about a display and nothing about its objects "
    "(area under the ROC curve of same against different, 95 % over scenes; .5 is chance). Right: "
    "distances between the dots, places of the second dot around the first, and directions from the "
    "first to the second."
)
COLOURS = {True: "#0072B2", False: "#D55E00"}
VERDICT_COLOURS = {"pass": "#009E73", "warn": "#E69F00", "fail": "#CC3311"}
KINDS = {True: "same", False: "different"}
N_SECTORS = 16


def draw_design_audit(checks: pd.DataFrame, trials: pd.DataFrame, *, title: str) -> Figure:
    """Return the figure of an audit.

    Parameters
    ----------
    checks
        `stimuli.audit.Audit.table`: the cheats' AUC with intervals, and the verdicts.
    trials
        The displays that were audited.
    title
        Name of the benchmark and verdict.
    """
    figure = make_figure(width_in=7.2, height_in=4.6)
    with mpl.rc_context(fname=STYLE):
        axes = figure.subplot_mosaic(
            [["cheats", "distances", "distances"], ["cheats", "places", "directions"]],
            per_subplot_kw={"directions": {"projection": "polar"}},
        )
        _draw_cheats(axes["cheats"], checks[checks["check"] == "cheats"])
        _draw_distances(axes["distances"], trials)
        _draw_places(axes["places"], trials)
        _draw_directions(axes["directions"], trials)
        figure.suptitle(title, fontsize=9)
    return figure


def _draw_cheats(axes: Axes, cheats: pd.DataFrame) -> None:
    known = cheats.dropna(subset=["value"])
    for y, row in enumerate(known.to_dict("records")):
        colour = VERDICT_COLOURS[row["verdict"]]
        axes.plot([row["low"], row["high"]], [y, y], color=colour)
        axes.plot(row["value"], y, "o", color=colour, markersize=4)
    axes.axvline(0.5, color="0.6", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(known)), [s.split(" only")[0] for s in known["subject"]])
    axes.invert_yaxis()
    axes.set(xlabel="AUC of a cheat who knows only …\n(95 % interval over scenes)")
    for verdict, colour in VERDICT_COLOURS.items():
        axes.plot([], [], "o", color=colour, markersize=4, label=verdict)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.1), ncols=3, handletextpad=0.1)


def _draw_distances(axes: Axes, trials: pd.DataFrame) -> None:
    for condition in DISTANCE_CONDITIONS:
        in_condition = trials["distance_condition"] == condition
        values = trials.loc[in_condition, "distance_px"]
        edges = np.linspace(values.min(), values.max() + 1e-6, 12)
        for kind, colour in COLOURS.items():
            chosen = trials.loc[in_condition & (trials["same_object"] == kind), "distance_px"]
            label = KINDS[kind] if condition == "close" else None
            axes.hist(chosen, bins=list(edges), histtype="step", color=colour, label=label)
    axes.set(xlabel="Distance between the dots (px)", ylabel="Displays")
    axes.legend(loc="upper center")


def _draw_places(axes: Axes, trials: pd.DataFrame) -> None:
    for kind, colour in COLOURS.items():
        rows = trials[trials["same_object"] == kind]
        axes.plot(
            rows["dot2_x_px"] - rows["dot1_x_px"],
            rows["dot2_y_px"] - rows["dot1_y_px"],
            ".",
            color=colour,
            markersize=2,
            alpha=0.6,
        )
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.set(xlabel="Second dot from first, x (px)", ylabel="y (px)")


def _draw_directions(axes: Axes, trials: pd.DataFrame) -> None:
    edges = np.linspace(-np.pi, np.pi, N_SECTORS + 1)
    for kind, colour in COLOURS.items():
        rows = trials[trials["same_object"] == kind]
        # Up is up: y runs down in pixels.
        angle = np.arctan2(
            rows["dot1_y_px"] - rows["dot2_y_px"], rows["dot2_x_px"] - rows["dot1_x_px"]
        )
        counts, _ = np.histogram(angle, edges)
        axes.stairs(counts, edges, color=colour)
    axes.set_yticklabels([])
    axes.set_xticks([0, np.pi / 2, np.pi, 3 * np.pi / 2], ["right", "up", "left", "down"])
    axes.set_title("Directions", fontsize=8)
