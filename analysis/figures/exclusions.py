"""Figure: what the exclusion rules took of whom."""

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from analysis.exclusions import ANALYSED, FLAGGED_PREFIX
from analysis.figures.colours import INK, SPARE
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure

NAME = "exclusions"
TITLE = "What the exclusion rules took, by person"
MAX_NAMED = 30


def make(material: Material) -> Drawing | NotDrawn:
    """Return the ledger as a figure."""
    table = tabulate_shares(material.analysed.exclusion.ledger)
    taken = table[table["n_presentations"] > 0]
    if taken.empty:
        return NotDrawn(reason="no rule took or flagged anything")
    by_rule = taken.groupby("rule", sort=False)["n_presentations"].sum()
    is_flag = by_rule.index.str.startswith(FLAGGED_PREFIX)
    n_out, n_kept = int(by_rule[~is_flag].sum()), int(by_rule[is_flag].sum())
    total = int(table.drop_duplicates("participant_id")["n_all"].sum())
    text = (
        f"Share of each person's presentations that a rule took out ({n_out} of {total} in all) or "
        f"flagged and kept ({n_kept}, crosses), {table['participant_id'].nunique()} "
        f"{material.people} in the order of what was taken. A presentation counts under the first "
        "rule that took it."
    )
    numbers = {"n_presentations": total, "n_taken": n_out, "n_flagged": n_kept}
    numbers |= {str(rule): int(n) for rule, n in by_rule.items()}
    return Drawing(figure=draw_exclusions(table), table=table, text=text, numbers=numbers)


def tabulate_shares(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the ledger without what was analysed, as shares of each person's presentations.

    Parameters
    ----------
    ledger
        Valid under `analysis.tables.Exclusions`.

    Returns
    -------
    DataFrame
        participant_id, rule, n_presentations, n_all, share; people by what was taken out of them,
        least first.
    """
    is_flag = ledger["rule"].str.startswith(FLAGGED_PREFIX)
    n_all = ledger[~is_flag].groupby("participant_id")["n_presentations"].sum()
    table = ledger[ledger["rule"] != ANALYSED].copy()
    table["n_all"] = table["participant_id"].map(n_all)
    table["share"] = table["n_presentations"] / table["n_all"]
    out = table[~table["rule"].str.startswith(FLAGGED_PREFIX)]
    taken = out.groupby("participant_id")["share"].sum()
    order = taken.reindex(ledger["participant_id"].unique(), fill_value=0.0)
    order = (
        order.rename_axis("participant_id").reset_index().sort_values(["share", "participant_id"])
    )
    table["place"] = table["participant_id"].map(
        {name: k for k, name in enumerate(order["participant_id"])}
    )
    return table.sort_values("place", kind="stable", ignore_index=True).drop(columns="place")


def draw_exclusions(table: pd.DataFrame) -> Figure:
    """Return the figure: stacked bars by person; `table` as `tabulate_shares` returns it."""
    people = list(table["participant_id"].drop_duplicates())
    wide = table.pivot(index="participant_id", columns="rule", values="share").loc[people]
    wide = wide[[name for name in table["rule"].drop_duplicates() if wide[name].gt(0).any()]]
    places = range(1, len(people) + 1)
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=2.6)
        axes = figure.subplots()
        bottom = pd.Series(0.0, index=people)
        colours = iter(SPARE * (1 + len(wide.columns) // len(SPARE)))
        for name in wide.columns:
            share = 100 * wide[name]
            if name.startswith(FLAGGED_PREFIX):
                label = name.replace(FLAGGED_PREFIX, "flagged, kept: ")
                axes.plot(places, share, "x", color=INK, markersize=3.5, label=label)
                continue
            axes.bar(places, share, bottom=bottom, width=0.85, color=next(colours), label=name)
            bottom += share
        axes.set(xlabel=f"people ({len(people)})", ylabel="presentations (%)")
        axes.set_xlim(0.3, len(people) + 0.7)
        axes.set_ylim(bottom=0)
        if len(people) <= MAX_NAMED:
            axes.set_xticks(list(places), people, rotation=90)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return figure
