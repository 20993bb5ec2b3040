"""Figure: the distributions of reaction times, over all people and by person."""

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures.colours import DIFFERENT, INK, SAME
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.person_tables import QUANTILES, bin_reaction_times, tabulate_quantiles

NAME = "rt_distributions"
TITLE = "Distributions of reaction times"
LOOKS = {
    "same close": (SAME, "-"),
    "same far": (SAME, "--"),
    "different close": (DIFFERENT, "-"),
    "different far": (DIFFERENT, "--"),
}
KINDS = {"same": SAME, "different": DIFFERENT}
MIDDLE = 0.5
# The slowest half per cent would stretch the axis to the time-out; the caption says how many.
SHOWN_SHARE = 0.995


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of all analysed reaction times."""
    times, trials = material.analysed.times, material.benchmark.trials
    bins = bin_reaction_times(times, trials)
    quantiles = tabulate_quantiles(times, trials)
    if bins.empty:
        return NotDrawn(reason="nobody has an analysed reaction time")
    n_rts, n_people = int(bins["n"].sum()), quantiles["participant_id"].nunique()
    end_s = find_end(bins)
    n_beyond = int(bins.loc[bins["low_s"] >= end_s, "n"].sum())
    text = (
        f"Reaction times of {n_people} {material.people}, {n_rts} in all. Left: share per 50 ms, by "
        f"condition; {n_beyond} beyond the axis are in the table. Right: quantiles "
        f"({', '.join(f'{q:g}' for q in QUANTILES)}) of each person's reaction times, people in the "
        "order of their median on same trials; thick: the median."
    )
    return Drawing(
        figure=draw_distributions(bins, quantiles, end_s=end_s),
        table=quantiles,
        text=text,
        numbers={"n_rts": n_rts, "n_people": n_people, "n_beyond_axis": n_beyond},
    )


def find_end(bins: pd.DataFrame) -> float:
    """Return where the axis ends: the bin that holds the 99.5th per cent of all RTs, its upper edge."""
    by_bin = bins.groupby("low_s")["n"].sum().cumsum()
    width_s = by_bin.index[1] - by_bin.index[0] if len(by_bin) > 1 else 1.0
    return float(by_bin.index[(by_bin >= SHOWN_SHARE * by_bin.iloc[-1]).argmax()] + width_s)


def draw_distributions(bins: pd.DataFrame, quantiles: pd.DataFrame, *, end_s: float) -> Figure:
    """Return the figure: histograms by condition, and quantiles by person.

    Parameters
    ----------
    bins
        As `analysis.person_tables.bin_reaction_times` returns it.
    quantiles
        As `analysis.person_tables.tabulate_quantiles` returns it.
    end_s
        End of the histogram's axis, seconds.
    """
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=2.7)
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
        for name, rows in bins.groupby("condition", sort=False):
            colour, line = LOOKS[str(name)]
            left.step(rows["low_s"], rows["share"], where="post", color=colour, ls=line, label=name)
        left.set(xlabel="reaction time (s)", ylabel="share of the condition", xlim=(0, end_s))
        left.set_ylim(bottom=0)
        left.legend()
        _draw_persons(right, quantiles)
        return figure


def _draw_persons(axes: Axes, quantiles: pd.DataFrame) -> None:
    """Draw a line per quantile and kind of trial over people."""
    middle = quantiles[quantiles["quantile"] == MIDDLE]
    by_kind = middle.pivot(index="participant_id", columns="kind", values="rt_s")
    order = by_kind.reindex(columns=["same", "different"]).sort_values(["same", "different"]).index
    place = pd.Series(range(1, len(order) + 1), index=order)
    for (kind, quantile), rows in quantiles.groupby(["kind", "quantile"], sort=False):
        ordered = rows.assign(x=rows["participant_id"].map(place)).sort_values("x")
        is_middle = quantile == MIDDLE
        axes.plot(
            ordered["x"],
            ordered["rt_s"],
            color=KINDS[str(kind)],
            linewidth=1.3 if is_middle else 0.5,
            marker="o" if is_middle else None,
            markersize=1.8,
            alpha=1 if is_middle else 0.7,
        )
    axes.set(xlabel=f"people, fastest first ({len(order)})", ylabel="reaction time (s)")
    axes.set_ylim(bottom=0)
    handles = [Line2D([], [], color=colour, label=f"{kind}") for kind, colour in KINDS.items()]
    handles.append(Line2D([], [], color=INK, linewidth=0.5, label="other quantiles"))
    axes.legend(handles=handles, loc="upper left")
