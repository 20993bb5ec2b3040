"""Figure: each model's headline score with its interval, against what people allow."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis.figures.save import STYLE, make_figure
from analysis.metrics import HEADLINE_CEILING, HEADLINE_METRIC

NAME = "models_and_ceiling"
MAX_LABEL = 60
COLOURS = {"model": "#0072B2", "random weights": "#56B4E9", "control": "#BBBBBB"}


def tabulate_models(board: pd.DataFrame) -> pd.DataFrame:
    """Return what the figure draws: shown rows of the largest set of rows, best first.

    Parameters
    ----------
    board
        As `analysis.leaderboard.build_leaderboard` returns it.

    Returns
    -------
    DataFrame
        label, r, ci_low_r, ci_high_r, ceilings, group, n_trials, n_scenes, n_people. Rows without a
        headline value (controls that the metric removes) are not in it.
    """
    shown = board[board["is_shown"] & board[f"{HEADLINE_METRIC}_r"].notna()]
    shown = shown[shown["rows_sha256"] == _largest_set(shown)]
    names = ("r", "ci_low_r", "ci_high_r", "one_vs_rest_r", HEADLINE_CEILING)
    table = pd.DataFrame({name: shown[f"{HEADLINE_METRIC}_{name}"] for name in names})
    table.insert(0, "label", [_name_row(row) for _, row in shown.iterrows()])
    table["group"] = np.select(
        [shown["model"].str.startswith("control:"), shown["is_random_weights"]],
        ["control", "random weights"],
        default="model",
    )
    for name in ("n_trials", "n_scenes", "n_people"):
        table[name] = shown[name]
    return table.sort_values("r", ascending=False, ignore_index=True)


def draw_models_and_ceiling(models: pd.DataFrame, *, is_simulated: bool) -> Figure:
    """Return the figure: bars sorted by score, 95 % intervals, the ceiling band.

    Parameters
    ----------
    models
        As `tabulate_models` returns it; may be empty.
    is_simulated
        Says so in the figure.
    """
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=7.0, height_in=max(1.9, 0.9 + 0.24 * len(models)))
        axes = figure.subplots()
        if models.empty:
            axes.text(0.5, 0.5, "no score has a headline value", ha="center", va="center")
            axes.set_axis_off()
            return figure
        place = np.arange(len(models))
        axes.barh(place, models["r"], color=models["group"].map(COLOURS), height=0.62)
        axes.hlines(place, models["ci_low_r"], models["ci_high_r"], color="#222222", linewidth=1.0)
        _draw_ceiling(axes, models)
        axes.axvline(0, color="#222222", linewidth=0.8)
        axes.set_yticks(place, [_shorten(label) for label in models["label"]])
        axes.invert_yaxis()
        first = models.iloc[0]
        people = "simulated people" if is_simulated else "people"
        axes.set_xlabel(
            "partial Spearman r with mean RT, 95 % over people and scenes\n"
            f"({first['n_trials']} trials, {first['n_scenes']} scenes, {first['n_people']} {people})"
        )
        shown = [name for name in COLOURS if name in set(models["group"])]
        handles = [Patch(color=COLOURS[name], label=name) for name in shown]
        axes.legend(handles=handles, loc="lower right")
        return figure


def _largest_set(shown: pd.DataFrame) -> str:
    return "" if shown.empty else str(shown.sort_values("n_trials").iloc[-1]["rows_sha256"])


def _draw_ceiling(axes: Axes, models: pd.DataFrame) -> None:
    low, high = models["one_vs_rest_r"].iloc[0], models[HEADLINE_CEILING].iloc[0]
    if pd.isna(low) or pd.isna(high):
        return
    axes.axvspan(low, high, color="#009E73", alpha=0.18, linewidth=0, zorder=0)
    axes.annotate(
        "ceiling: one person to\nroot of the reliability",
        xy=((low + high) / 2, 1.0),
        xycoords=("data", "axes fraction"),
        ha="center",
        va="bottom",
        fontsize=6.5,
        color="#00704F",
    )


def _name_row(row: pd.Series) -> str:
    layer = "" if pd.isna(row["layer"]) else f", layer {row['layer']}"
    return f"{row['model']}: {row['readout']}{layer}"


def _shorten(label: str) -> str:
    return label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…"
