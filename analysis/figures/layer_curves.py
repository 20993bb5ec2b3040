"""Figure: the headline score over a model's layers, with its interval."""

from collections.abc import Mapping

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.colours import CEILING, INK, assign_markers
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.metrics import HEADLINE_CEILING, HEADLINE_METRIC

NAME = "layer_curves"
TITLE = "Alignment over a model's layers"
READOUT = "cosine"


def make(material: Material) -> Drawing | NotDrawn:
    """Return the curves of the models that were scored at two or more layers."""
    table = tabulate_layers(material.board)
    if table.empty:
        return NotDrawn(
            reason=f"no model's {READOUT!r} readout was scored at two or more layers; use "
            "'objecthood evaluate --layers all'"
        )
    first = table.iloc[0]
    text = (
        "Headline score of the similarity between the two dots at each layer, from the first to the "
        "last. Bands: 95 % intervals over people and scenes. Green line: what a perfect model would "
        f"reach. {first['n_trials']} displays, {first['n_people']} {material.people}. Leaderboards "
        "show the last layer, never the best."
    )
    last = table.groupby("model")["depth"].transform("max") == table["depth"]
    numbers = {row["model"]: {"last_layer_r": row["r"]} for _, row in table[last].iterrows()}
    return Drawing(
        figure=draw_layers(table, colours=material.colours), table=table, text=text, numbers=numbers
    )


def tabulate_layers(board: pd.DataFrame) -> pd.DataFrame:
    """Return a row per model and layer on the set of trials that most models share.

    Returns
    -------
    DataFrame
        model, family, layer, place (order of the layer, from 0), depth (place as a share of the
        last), r, ci_low_r, ci_high_r, ceiling, n_trials, n_people. Layers are ordered by their
        number. Empty where no model has two.
    """
    rows = board[board["readout"].eq(READOUT) & board["layer"].notna()]
    rows = rows[rows["layer"].astype("str").str.fullmatch(r"\d+")]
    n_layers = rows.groupby(["model", "rows_sha256"])["layer"].transform("nunique")
    rows = rows[n_layers > 1]
    if len(rows):
        shared = rows.groupby("rows_sha256")["model"].nunique().sort_values().index[-1]
        rows = rows[rows["rows_sha256"] == shared]
    # Tokens before and after the final norm are one layer; the last written is shown.
    rows = rows.drop_duplicates(["model", "layer"], keep="last")
    table = pd.DataFrame(
        {name: rows[name] for name in ("model", "family", "layer")}
        | {name: rows[f"{HEADLINE_METRIC}_{name}"] for name in ("r", "ci_low_r", "ci_high_r")}
        | {"ceiling": rows[f"{HEADLINE_METRIC}_{HEADLINE_CEILING}"]}
        | {name: rows[name] for name in ("n_trials", "n_people")}
    )
    number = table["layer"].astype(int)
    table = table.assign(number=number).sort_values(["model", "number"], ignore_index=True)
    place = table.groupby("model").cumcount()
    table.insert(3, "place", place)
    table.insert(4, "depth", place / (table.groupby("model")["layer"].transform("size") - 1))
    return table.drop(columns="number")


def draw_layers(table: pd.DataFrame, *, colours: Mapping[str, str]) -> Figure:
    """Return the figure.

    Parameters
    ----------
    table
        As `tabulate_layers` returns it.
    colours
        By family.
    """
    markers = assign_markers(table["model"])
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=2.8)
        axes = figure.subplots()
        for model, rows in table.groupby("model"):
            colour = colours[rows["family"].iloc[0]]
            axes.fill_between(
                rows["depth"],
                rows["ci_low_r"].astype(float),
                rows["ci_high_r"].astype(float),
                color=colour,
                alpha=0.12,
                linewidth=0,
            )
            axes.plot(
                rows["depth"],
                rows["r"],
                marker=markers[str(model)],
                markersize=3.5,
                color=colour,
                label=str(model),
            )
        axes.axhline(0, color=INK, linewidth=0.6, linestyle=":")
        ceiling = table["ceiling"].iloc[0]
        if pd.notna(ceiling):
            axes.axhline(ceiling, color=CEILING, linewidth=1.0)
        axes.set(
            xlabel="depth of the layer (0 first, 1 last)", ylabel="partial Spearman r with mean RT"
        )
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return figure
