"""Colours: one per family of models, the same in every figure; safe for colour-blind readers.

Okabe & Ito's palette, then Tol's muted one. Known families have colours of their own, so that a
figure of another day agrees; the others get what is left, in order of their names, once per run.
"""

from collections.abc import Iterable

from analysis.families import CONTROL, RANDOM_WEIGHTS

SAME, DIFFERENT = "#0072B2", "#D55E00"
CEILING, CEILING_TEXT = "#009E73", "#00704F"
INK = "#222222"

FIXED = {
    CONTROL: "#BBBBBB",
    RANDOM_WEIGHTS: "#777777",
    "DINO": "#56B4E9",
    "DINOv2": "#0072B2",
    "DINOv3": "#332288",
    "MAE": "#CC79A7",
    "DeiT III": "#D55E00",
    "ConvNeXt": "#E69F00",
    "ResNet": "#999933",
    "CLIP": "#AA4499",
}
SPARE = ("#D55E00", "#0072B2", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#117733", "#882255")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")


def assign_colours(families: Iterable[str]) -> dict[str, str]:
    """Return the colour of each family; colours repeat only when all are used.

    Parameters
    ----------
    families
        All families of a run, so that its figures agree.
    """
    names = sorted(set(families))
    colours = {name: FIXED[name] for name in names if name in FIXED}
    free = [colour for colour in SPARE if colour not in colours.values()] or list(SPARE)
    others = [name for name in names if name not in FIXED]
    return colours | {name: free[k % len(free)] for k, name in enumerate(others)}


def assign_markers(families: Iterable[str]) -> dict[str, str]:
    """Return a marker for each family, so that colour is never the only difference."""
    names = sorted(set(families))
    return {name: MARKERS[k % len(MARKERS)] for k, name in enumerate(names)}
