"""Figure: the easiest and the hardest displays, for people and for a model, as pictures."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.extremes import choose_readout, find_extremes, predict_difficulty
from analysis.figures.colours import DIFFERENT, SAME
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.figures.task_and_design import show_trial
from analysis.metrics import HEADLINE_METRIC

NAME = "easiest_and_hardest"
TITLE = "Easiest and hardest displays, for people and for a model"
N_EACH = 3
MIN_SCENES = 2
READOUTS = ("cosine", "spread_steps")
PEOPLE = "people"


def make(material: Material) -> Drawing | NotDrawn:
    """Return the pictures for people and for the best model that has readouts of them."""
    trials = material.benchmark.trials
    shown = trials[trials["image"].notna() & trials["same_object"]]
    if shown["scene_id"].nunique() < MIN_SCENES:
        return NotDrawn(reason="fewer than two photographs are there to show")
    model = choose_model(material)
    table = tabulate_extremes(material, shown, model)
    people = "simulated people" if material.is_simulated else PEOPLE
    observers = f"{people}" + (f" and for {model}" if model else "; no model's readouts are there")
    text = (
        f"The easiest and the hardest displays for {observers}, among those with both dots on one "
        "object and a photograph; one display per photograph. People: mean reaction time. The "
        "model: predicted difficulty, in standard deviations of its readout. Under each picture "
        "the people's mean reaction time, whoever chose it. "
        f"Photographs: {material.benchmark.manifest.licence}."
    )
    pictures = [show_trial(material.benchmark, trial_id) for trial_id in table["trial_id"]]
    return Drawing(
        figure=draw_extremes(pictures, table),
        table=table,
        text=text,
        numbers={"model": model, "n_photographs": int(shown["scene_id"].nunique())},
    )


def choose_model(material: Material) -> str | None:
    """Return the model of the highest headline r that has one of the wanted readouts; or None."""
    board = material.board
    there = set(material.readouts.loc[material.readouts["readout"].isin(READOUTS), "model"])
    candidates = board[
        board["is_shown"] & board["readout"].isin(READOUTS) & board["model"].isin(there)
    ].dropna(subset=f"{HEADLINE_METRIC}_r")
    best = candidates.sort_values(f"{HEADLINE_METRIC}_r", ascending=False)["model"]
    return str(best.iloc[0]) if len(best) else None


def tabulate_extremes(material: Material, shown: pd.DataFrame, model: str | None) -> pd.DataFrame:
    """Return observer, end, place, trial_id, scene_id, difficulty, mean_rt_s, n_people."""
    human = material.human.set_index("trial_id")
    parts = [
        find_extremes(human["mean_rt_s"], shown, n=N_EACH).assign(observer=PEOPLE),
    ]
    if model is not None:
        own = material.readouts[material.readouts["model"] == model]
        difficulty = predict_difficulty(choose_readout(own, READOUTS), material.benchmark.trials)
        parts.append(find_extremes(difficulty, shown, n=N_EACH).assign(observer=model))
    table = pd.concat(parts, ignore_index=True)
    for name in ("mean_rt_s", "n_people"):
        table[name] = table["trial_id"].map(human[name])
    return table[["observer", *[name for name in table.columns if name != "observer"]]]


def draw_extremes(pictures: Sequence[np.ndarray], table: pd.DataFrame) -> Figure:
    """Return the figure: a row per observer, easiest left and hardest right.

    Parameters
    ----------
    pictures : uint8 arrays, shape (height, width, 3)
        The displays, in the order of the table.
    table
        As `tabulate_extremes` returns it.
    """
    observers = list(table["observer"].drop_duplicates())
    n_each = int(table["place"].max())
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=1.35 * len(observers) + 0.2)
        axes = figure.subplots(len(observers), 2 * n_each, squeeze=False)
        for panel in axes.ravel():
            panel.set_axis_off()
        for picture, (_, row) in zip(pictures, table.iterrows(), strict=True):
            is_hard = row["end"] == "hardest"
            # Hardest last: the most extreme displays stand at the two ends of a row.
            column = 2 * n_each - row["place"] if is_hard else row["place"] - 1
            panel = axes[observers.index(row["observer"]), column]
            panel.imshow(picture, interpolation="antialiased")
            panel.set_anchor("N")
            rt_ms = "no RT" if pd.isna(row["mean_rt_s"]) else f"{row['mean_rt_s'] * 1000:.0f} ms"
            colour = DIFFERENT if is_hard else SAME
            panel.set_title(f"{row['end']} {row['place']}", color=colour, fontsize=7)
            panel.text(
                0.5, -0.03, rt_ms, transform=panel.transAxes, ha="center", va="top", fontsize=7
            )
        for row_axes, name in zip(axes, observers, strict=True):
            row_axes[0].text(
                -0.06,
                0.5,
                name if len(name) <= 24 else f"{name[:23]}…",
                transform=row_axes[0].transAxes,
                rotation=90,
                ha="right",
                va="center",
                fontsize=7,
            )
        return figure
