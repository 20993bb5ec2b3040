"""Figure: affinity maps of example displays, several models side by side, beside the object's mask."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from analysis.figures.task_and_design import show_trial
from model_eval.map_files import AffinityMap, MapFile
from stimuli.benchmark import load_scene_mask
from stimuli.geometry import find_patch
from stimuli.tables import name_cells

NAME = "affinity_maps"
TITLE = "Affinity maps of example displays"
N_DISPLAYS, MAX_MODELS = 4, 5
# Far displays first: the second dot is where a map has to reach.
WANTED = ("same far", "different far", "same close", "different close")
OUTLINE, DOT = "#FFFFFF", "#D55E00"
COLUMNS = ["trial_id", "condition", "model", "layer", "representation", "affinity_at_dot2"]
COLUMNS += ["lowest", "highest", "mean_rt_s", "n_people"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One display of the figure.

    Attributes
    ----------
    picture : uint8 array, shape (height, width, 3)
        With its dots.
    is_object : bool array, shape (height, width), or None
        The object under the first dot, where a mask says.
    row
        Of the trial table, with condition, mean_rt_s and n_people.
    maps
        One per model, in the order of the models.
    """

    picture: np.ndarray
    is_object: np.ndarray | None
    row: pd.Series
    maps: tuple[AffinityMap, ...]


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of the models whose maps were kept."""
    if not material.maps:
        return NotDrawn(
            reason="no maps in the results; run 'objecthood evaluate --keep-maps examples'"
        )
    files = choose_models(material)
    examples = choose_examples(material, files)
    if not examples:
        return NotDrawn(reason="no display with a photograph has a map of every model")
    models = [file.model for file in files]
    table = tabulate_maps(examples, models)
    has_mask = any(example.is_object is not None for example in examples)
    text = (
        "How alike each patch is to the patch under the first (central) dot, last kept layer of each "
        "model; each map from its own lowest to its own highest value, since models' similarities "
        "differ in range (in the table). Left: the display, with "
        f"{material.people}'s mean reaction time."
        + (" White: outline of the labelled object under the first dot." if has_mask else "")
        + f" Photographs: {material.benchmark.manifest.licence}."
    )
    numbers = {"models": models, "n_displays": len(examples)}
    return Drawing(
        figure=draw_affinity_maps(examples, models), table=table, text=text, numbers=numbers
    )


def choose_models(material: Material) -> list[MapFile]:
    """Return up to five models with maps, in the order of the board, those off the board last."""
    order = {name: k for k, name in enumerate(material.board["model"].drop_duplicates())}
    files = sorted(material.maps, key=lambda file: (order.get(file.model, len(order)), file.model))
    return files[:MAX_MODELS]


def choose_examples(material: Material, files: Sequence[MapFile]) -> list[Example]:
    """Return up to four displays of different scenes that all models have; with a mask first."""
    by_model = [find_last_maps(file) for file in files]
    shared = set.intersection(*(set(maps) for maps in by_model))
    trials = material.benchmark.trials
    rows = trials[trials["trial_id"].isin(shared)]
    rows = rows.assign(
        condition=name_cells(rows),
        has_mask=[material.benchmark.mask_path(scene).is_file() for scene in rows["scene_id"]],
    ).sort_values("has_mask", ascending=False, kind="stable")
    human = material.human.set_index("trial_id")
    rows = rows.assign(
        **{name: rows["trial_id"].map(human[name]) for name in ("mean_rt_s", "n_people")}
    )
    examples: list[Example] = []
    for condition in WANTED * N_DISPLAYS:
        if len(examples) == N_DISPLAYS:
            break
        taken = [example.row["scene_id"] for example in examples]
        free = rows[rows["condition"].eq(condition) & ~rows["scene_id"].isin(taken)]
        if len(free):
            examples.append(_make_example(material, free.iloc[0], by_model))
    return examples


def find_last_maps(file: MapFile) -> dict[str, AffinityMap]:
    """Return each trial's map of the last layer that was kept."""
    return {trial_id: item for item in file.maps for trial_id in item.trial_ids}


def tabulate_maps(examples: Sequence[Example], models: Sequence[str]) -> pd.DataFrame:
    """Return a row per display and model: what the map says at the second dot, and its range."""
    records = []
    for example in examples:
        row = example.row
        for model, item in zip(models, example.maps, strict=True):
            patch = find_patch(
                item.grid,
                x_px=np.array([row["dot2_x_px"]]),
                y_px=np.array([row["dot2_y_px"]]),
            )
            named = {name: row[name] for name in ("trial_id", "condition", "mean_rt_s", "n_people")}
            records.append(
                named
                | {
                    "model": model,
                    "layer": item.feature.layer,
                    "representation": item.feature.representation,
                    "affinity_at_dot2": float(item.affinity.ravel()[patch[0]]),
                    "lowest": float(item.affinity.min()),
                    "highest": float(item.affinity.max()),
                }
            )
    return pd.DataFrame(records)[COLUMNS]


def draw_affinity_maps(examples: Sequence[Example], models: Sequence[str]) -> Figure:
    """Return the figure: a row per display, first the photograph, then one map per model."""
    n_columns = len(models) + 1
    width_in = PAGE_IN / n_columns
    heights = [width_in * e.picture.shape[0] / e.picture.shape[1] for e in examples]
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=sum(heights) + 0.18 * len(examples) + 0.35)
        axes = figure.subplots(len(examples), n_columns, squeeze=False, height_ratios=heights)
        for example, panels in zip(examples, axes, strict=True):
            _show_display(panels[0], example)
            for panel, item in zip(panels[1:], example.maps, strict=True):
                _show_map(panel, example, item)
        for panel, model in zip(axes[0][1:], models, strict=True):
            panel.set_title(model if len(model) <= 26 else f"{model[:25]}…", fontsize=6.5)
        return figure


def _show_display(panel: Axes, example: Example) -> None:
    panel.imshow(example.picture, interpolation="antialiased")
    rt_s = example.row["mean_rt_s"]
    words = "" if pd.isna(rt_s) else f", {rt_s * 1000:.0f} ms"
    panel.set_title(f"{example.row['condition']}{words}", fontsize=6.5)
    panel.set_axis_off()


def _show_map(panel: Axes, example: Example, item: AffinityMap) -> None:
    height, width = example.picture.shape[:2]
    panel.imshow(item.affinity, extent=item.extent_px, cmap="cividis", interpolation="nearest")
    if example.is_object is not None:
        centres_x, centres_y = np.arange(width) + 0.5, np.arange(height) + 0.5
        panel.contour(
            centres_x, centres_y, example.is_object, levels=[0.5], colors=OUTLINE, linewidths=0.7
        )
    row = example.row
    panel.plot(row["dot1_x_px"], row["dot1_y_px"], "o", color=DOT, markersize=3.2)
    panel.plot(
        row["dot2_x_px"], row["dot2_y_px"], "o", markersize=3.2, markeredgecolor=DOT,
        markerfacecolor="white", markeredgewidth=0.9,
    )  # fmt: skip
    panel.set(xlim=(0, width), ylim=(height, 0))
    panel.set_axis_off()


def _make_example(
    material: Material, row: pd.Series, by_model: Sequence[dict[str, AffinityMap]]
) -> Example:
    labels = load_scene_mask(material.benchmark, row)
    is_object = None
    if labels is not None:
        own = labels[int(row["dot1_y_px"]), int(row["dot1_x_px"])]
        is_object = None if own == 0 else labels == own
    return Example(
        picture=show_trial(material.benchmark, row["trial_id"]),
        is_object=is_object,
        row=row,
        maps=tuple(maps[row["trial_id"]] for maps in by_model),
    )
