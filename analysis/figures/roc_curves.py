"""Figure: ROC curves of the object-centric metric, as they came with the benchmark."""

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.published_roc import ROC_FILE, measure_area
from stimuli.tables import CELL_NAMES

NAME = "roc_curves"
TITLE = "ROC curves of the object-centric metric"
WHOLE = "all"
LOOKS = {
    WHOLE: ("#222222", "-"),
    "same close": ("#0072B2", "-"),
    "same far": ("#0072B2", "--"),
    "different close": ("#D55E00", "-"),
    "different far": ("#D55E00", "--"),
}


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of the curves in the benchmark."""
    if material.roc.empty:
        return NotDrawn(
            reason=f"the benchmark has no {ROC_FILE}; 'objecthood data import adeli2023' writes it "
            "where the published readouts are"
        )
    areas = tabulate_areas(material.roc)
    whole = areas[areas["condition"] == WHOLE]
    model = material.roc["model"].iloc[0]
    text = (
        f"ROC curves of the object-centric metric of {model}, 2023 form: similarity of the second "
        "dot's patch to every pixel, positive where the pixel belongs to the object under that dot; "
        "curves averaged over displays at each threshold. In the legend the area under the mean "
        "curve. The published curves stop at threshold 0."
    )
    numbers = {
        f"auc_of_mean_curve {row['representation']}": row["area"] for _, row in whole.iterrows()
    }
    numbers["n_trials"] = int(whole["n_trials"].iloc[0])
    return Drawing(
        figure=draw_roc_curves(material.roc, areas), table=material.roc, text=text, numbers=numbers
    )


def tabulate_areas(roc: pd.DataFrame) -> pd.DataFrame:
    """Return the area under each curve: representation, condition, area, n_trials."""
    rows = [
        {
            "representation": representation,
            "condition": condition,
            "area": measure_area(curve),
            "n_trials": int(curve["n_trials"].iloc[0]),
        }
        for (representation, condition), curve in roc.groupby(
            ["representation", "condition"], sort=False
        )
    ]
    return pd.DataFrame(rows)


def draw_roc_curves(roc: pd.DataFrame, areas: pd.DataFrame) -> Figure:
    """Return the figure, a panel per representation.

    Parameters
    ----------
    roc
        As `analysis.published_roc.read_published_roc` returns it.
    areas
        As `tabulate_areas` returns it.
    """
    kinds = list(roc["representation"].drop_duplicates())
    area = areas.set_index(["representation", "condition"])["area"]
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=3.4)
        for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True):
            for condition in (*CELL_NAMES, WHOLE):
                curve = roc[(roc["representation"] == kind) & (roc["condition"] == condition)]
                if len(curve):
                    colour, dashes = LOOKS[condition]
                    width = 2.0 if condition == WHOLE else 1.0
                    label = f"{condition}: {area[kind, condition]:.3f}"
                    axes.plot(
                        [0, *curve["fpr"]],
                        [0, *curve["tpr"]],
                        dashes,
                        color=colour,
                        linewidth=width,
                        label=label,
                    )
            axes.plot([0, 1], [0, 1], ":", color="0.6", linewidth=0.8)
            axes.set_aspect("equal")
            axes.set(
                xlabel="share of the other pixels above threshold",
                ylabel="share of the object's pixels",
                title=kind,
            )
            axes.legend(loc="lower right", title="area")
        return figure
