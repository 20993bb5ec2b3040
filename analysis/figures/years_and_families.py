"""Figure: alignment over years, by family: what papers report, and what was measured here."""

import textwrap
from collections.abc import Mapping

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures.colours import INK, assign_markers
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.metrics import HEADLINE_METRIC

NAME = "years_and_families"
TITLE = "Alignment over years and families"
# Quantities of the reported table that are an alignment, and how an axis calls them.
QUANTITIES = {
    "r": "Spearman r with mean RT, as reported",
    "r_published": "mean Spearman r with halves of people, as reported",
}
MAX_TITLE = 42
MEASURED = "partial Spearman r, measured here"
COLUMNS = ["panel", "model", "family", "year", "r", "ci_low_r", "ci_high_r", "source"]


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of the models whose year is known."""
    table = tabulate_years(material.board, material.reported)
    if table.empty:
        return NotDrawn(
            reason="no score record gives its model's year, and no paper reports about this benchmark"
        )
    text = (
        "Alignment with people over the years in which models appeared. Each panel is one quantity: "
        "readouts and what is removed differ between them, so panels are not compared. Reported "
        "values are those of the papers and carry no intervals; measured values carry 95 % intervals "
        "over people and scenes. Models of one year are set side by side."
    )
    counts = {str(name): int(n) for name, n in table["panel"].value_counts().items()}
    return Drawing(
        figure=draw_years(table, colours=material.colours),
        table=table,
        text=text,
        numbers={"n_models": counts},
    )


def tabulate_years(board: pd.DataFrame, reported: pd.DataFrame) -> pd.DataFrame:
    """Return a row per model and quantity: the columns of `COLUMNS`, those with a year only.

    Parameters
    ----------
    board
        With family and year.
    reported
        Published scores, possibly empty.
    """
    known = reported[reported["quantity"].isin(list(QUANTITIES)) & reported["year"].notna()]
    parts = [
        pd.DataFrame(
            {
                "panel": known["quantity"].map(QUANTITIES) + " (" + known["citation"] + ")",
                "model": known["model"],
                "family": known["family"],
                "year": known["year"],
                "r": known["value"].astype(float),
                "source": known["citation"],
            }
        )
    ]
    shown = board[board["is_shown"] & board[f"{HEADLINE_METRIC}_r"].notna() & board["year"].notna()]
    names = ("r", "ci_low_r", "ci_high_r")
    parts.append(
        pd.DataFrame(
            {"panel": MEASURED, "model": shown["model"] + ": " + shown["readout"]}
            | {name: shown[name] for name in ("family", "year")}
            | {name: shown[f"{HEADLINE_METRIC}_{name}"] for name in names}
            | {"source": "here"}
        )
    )
    parts = [part.reindex(columns=COLUMNS) for part in parts if len(part)]
    if not parts:
        return pd.DataFrame(columns=COLUMNS)
    table = pd.concat(parts, ignore_index=True)
    table["year"] = table["year"].astype(float).astype(int)
    return table.sort_values(["panel", "year", "r"], ignore_index=True)


def draw_years(table: pd.DataFrame, *, colours: Mapping[str, str]) -> Figure:
    """Return the figure, a panel per quantity.

    Parameters
    ----------
    table
        As `tabulate_years` returns it.
    colours
        By family.
    """
    panels = list(table["panel"].drop_duplicates())
    markers = assign_markers(table["family"])
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=3.0)
        all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, panel in zip(all_axes, panels, strict=True):
            _draw_panel(axes, table[table["panel"] == panel], colours=colours, markers=markers)
            axes.set_title("\n".join(textwrap.wrap(panel, MAX_TITLE)))
            axes.set_ylabel("Spearman r")
        families = sorted(table["family"].unique())
        handles = [
            Line2D([], [], linestyle="", marker=markers[f], color=colours[f], label=f)
            for f in families
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(families), 7))
        return figure


def _draw_panel(
    axes: Axes, rows: pd.DataFrame, *, colours: Mapping[str, str], markers: Mapping[str, str]
) -> None:
    for _, models in rows.groupby("year"):
        offsets = [0.17 * (k - (len(models) - 1) / 2) for k in range(len(models))]
        for offset, (_, row) in zip(offsets, models.iterrows(), strict=True):
            x = int(row["year"]) + offset
            colour = colours[row["family"]]
            if pd.notna(row["ci_low_r"]):
                axes.vlines(x, row["ci_low_r"], row["ci_high_r"], color=colour, linewidth=0.9)
            axes.plot(x, row["r"], markers[row["family"]], color=colour, markersize=5)
    axes.axhline(0, color=INK, linewidth=0.8)
    first, last = int(rows["year"].min()), int(rows["year"].max())
    axes.set(xlabel="year", xlim=(first - 0.7, last + 0.7))
    step = max(1, (last - first) // 5)
    axes.set_xticks(range(first, last + 1, step))
