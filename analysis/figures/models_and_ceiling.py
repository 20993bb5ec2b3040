"""Figure: each model's headline score with its interval, against what people allow.

Scores on other trials are not comparable, so there is one figure for each set of trials: the largest
set is the figure of the paper, the next one shows models that were read out on fewer photographs.
"""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis.families import name_family
from analysis.figures.colours import CEILING, CEILING_TEXT, INK, assign_colours
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.metrics import HEADLINE_CEILING, HEADLINE_METRIC

NAME = "models_and_ceiling"
TITLE = "Models against the ceiling, on the largest set of trials"
SECOND_NAME = "models_on_fewer_trials"
SECOND_TITLE = "Models against the ceiling, on the next largest set of trials"
MAX_LABEL = 60
MAX_LEGEND = 8


def make(material: Material) -> Drawing | NotDrawn:
    """Return the bars of the largest set of trials."""
    table = tabulate_models(material.board)
    if table.empty:
        return NotDrawn(reason="no score has a headline value (controls that the metric removes)")
    return _compose(table, material)


def make_second(material: Material) -> Drawing | NotDrawn:
    """Return the bars of the second largest set of trials."""
    table = tabulate_models(material.board, place=1)
    if table.empty:
        return NotDrawn(reason="all scores with a headline value are of one set of trials")
    return _compose(table, material)


def _compose(table: pd.DataFrame, material: Material) -> Drawing:
    first = table.iloc[0]
    sizes = {name: int(first[name]) for name in ("n_trials", "n_scenes", "n_people")}
    ceilings = {name: _plain(first[name]) for name in ("one_vs_rest_r", HEADLINE_CEILING)}
    text = (
        "Headline score of each readout: Spearman r of predicted difficulty with mean reaction time, "
        "condition and distance removed. Lines: 95 % intervals over people and scenes. Green band: "
        "from what one person reaches with the mean of the others to the root of the reliability, "
        f"which a perfect model would reach. {sizes['n_trials']} displays of {sizes['n_scenes']} "
        f"photographs, {sizes['n_people']} {material.people}. Readouts of one model share a colour."
    )
    scores = {
        row["label"]: {name: _plain(row[name]) for name in ("r", "ci_low_r", "ci_high_r")}
        for _, row in table.iterrows()
    }
    return Drawing(
        figure=draw_models_and_ceiling(
            table, is_simulated=material.is_simulated, colours=material.colours
        ),
        table=table,
        text=text,
        numbers={"n_models": len(table), **sizes, **ceilings, "scores": scores},
    )


def tabulate_models(board: pd.DataFrame, *, place: int = 0) -> pd.DataFrame:
    """Return what the figure draws: shown rows of one set of trials, best first.

    Parameters
    ----------
    board
        As `analysis.leaderboard.build_leaderboard` returns it; its `family` is used where it is.
    place
        Which set of trials: 0 is the largest that has a headline value.

    Returns
    -------
    DataFrame
        label, r, ci_low_r, ci_high_r, ceilings, group (the family), n_trials, n_scenes, n_people.
        Rows without a headline value (controls that the metric removes) are not in it. Empty where
        there are not so many sets.
    """
    shown = board[board["is_shown"] & board[f"{HEADLINE_METRIC}_r"].notna()]
    shown = shown[shown["rows_sha256"] == _find_set(shown, place)]
    names = ("r", "ci_low_r", "ci_high_r", "one_vs_rest_r", HEADLINE_CEILING)
    table = pd.DataFrame({name: shown[f"{HEADLINE_METRIC}_{name}"] for name in names})
    table.insert(0, "label", [_name_row(row) for _, row in shown.iterrows()])
    table["group"] = [_find_family(row) for _, row in shown.iterrows()]
    for name in ("n_trials", "n_scenes", "n_people"):
        table[name] = shown[name]
    return table.sort_values("r", ascending=False, ignore_index=True)


def draw_models_and_ceiling(
    models: pd.DataFrame, *, is_simulated: bool, colours: Mapping[str, str] | None = None
) -> Figure:
    """Return the figure: bars sorted by score, 95 % intervals, the ceiling band.

    Parameters
    ----------
    models
        As `tabulate_models` returns it; may be empty.
    is_simulated
        Says so in the figure.
    colours
        By family; this figure's own when not given.
    """
    colours = colours or assign_colours(models["group"])
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=max(1.9, 0.9 + 0.31 * len(models)))
        axes = figure.subplots()
        if models.empty:
            axes.text(0.5, 0.5, "no score has a headline value", ha="center", va="center")
            axes.set_axis_off()
            return figure
        place = np.arange(len(models))
        axes.barh(place, models["r"], color=models["group"].map(colours), height=0.62)
        axes.hlines(place, models["ci_low_r"], models["ci_high_r"], color=INK, linewidth=1.0)
        _draw_ceiling(axes, models)
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_yticks(place, [_break(label) for label in models["label"]], fontsize=6.5)
        axes.invert_yaxis()
        first = models.iloc[0]
        people = "simulated people" if is_simulated else "people"
        axes.set_xlabel(
            "partial Spearman r with mean RT, 95 % over people and scenes\n"
            f"({first['n_trials']} trials, {first['n_scenes']} scenes, {first['n_people']} {people})"
        )
        _draw_legend(axes, models, colours)
        return figure


def _draw_legend(axes: Axes, models: pd.DataFrame, colours: Mapping[str, str]) -> None:
    """Name the families, unless a family is one model, which its label already names."""
    named = {label.rsplit(": ", 1)[0] for label in models["label"]}
    shown = [name for name in dict.fromkeys(models["group"]) if name not in named]
    if 0 < len(shown) <= MAX_LEGEND:
        handles = [Patch(color=colours[name], label=name) for name in shown]
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _find_set(shown: pd.DataFrame, place: int) -> str:
    sets = shown.sort_values("n_trials", ascending=False)["rows_sha256"].drop_duplicates()
    return str(sets.iloc[place]) if place < len(sets) else ""


def _draw_ceiling(axes: Axes, models: pd.DataFrame) -> None:
    low, high = models["one_vs_rest_r"].iloc[0], models[HEADLINE_CEILING].iloc[0]
    if pd.isna(low) or pd.isna(high):
        return
    axes.axvspan(low, high, color=CEILING, alpha=0.18, linewidth=0, zorder=0)
    axes.annotate(
        "ceiling: one person to\nroot of the reliability",
        xy=((low + high) / 2, 1.0),
        xycoords=("data", "axes fraction"),
        ha="center",
        va="bottom",
        fontsize=6.5,
        color=CEILING_TEXT,
    )


def _find_family(row: pd.Series) -> str:
    family = row.get("family")
    facts = {"family": None if pd.isna(family) else family}
    return name_family(row["model"], facts | {"is_random_weights": row["is_random_weights"]})


def _name_row(row: pd.Series) -> str:
    layer = "" if pd.isna(row["layer"]) else f", layer {row['layer']}"
    kind = "" if pd.isna(row["representation"]) else f" {row['representation']}"
    return f"{row['model']}: {row['readout']}{layer}{kind}"


def _plain(value: float) -> float | None:
    return None if pd.isna(value) else float(value)


def _break(label: str) -> str:
    """Set the readout on a line of its own."""
    return "\n".join(_shorten(part) for part in label.rsplit(": ", 1))


def _shorten(label: str) -> str:
    return label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…"
