"""Figure: the task and its design: two dots on a photograph, in the four conditions."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from analysis.figures.save import PAGE_IN, STYLE, make_figure
from stimuli.benchmark import Benchmark, load_trial_image
from stimuli.build import read_benchmark_design
from stimuli.dots import draw_dots, scale_dots
from stimuli.tables import CELL_NAMES, name_cells

NAME = "task_and_design"
TITLE = "Task and design: two dots on a photograph, the four conditions"
PLACE = ["trial_id", "scene_id", "image", "dot1_x_px", "dot1_y_px", "dot2_x_px", "dot2_y_px"]


def make(material: Material) -> Drawing | NotDrawn:
    """Return the figure of one photograph's four displays."""
    table = tabulate_example(material)
    if table.empty:
        return NotDrawn(reason="no photograph of this benchmark has its four displays and an image")
    benchmark = material.benchmark
    pictures = [show_trial(benchmark, trial_id) for trial_id in table["trial_id"]]
    width_px = pictures[0].shape[1]
    radius_px = read_benchmark_design(benchmark).dot_radius_px
    text = (
        "The task. Two dots lie on a photograph; people say as quickly as they can whether both lie "
        "on the same object. The first dot stays where it is in the four displays of a photograph; "
        "the second lies on the same object or on another, close or far. Dots are drawn at their "
        f"true size (radius {radius_px:g} px on a photograph {width_px} px wide). Above each the "
        f"mean reaction time of the {material.people} for this display. Photograph: "
        f"{benchmark.manifest.licence}."
    )
    return Drawing(
        figure=draw_task_and_design(pictures, table),
        table=table,
        text=text,
        numbers={"scene_id": table["scene_id"].iloc[0], "dot_radius_px": radius_px},
    )


def tabulate_example(material: Material) -> pd.DataFrame:
    """Return the four displays of the first photograph that has all of them; may be empty.

    A photograph with a mask goes before one without. Columns: condition, those of the display,
    mean_rt_s.
    """
    trials = material.benchmark.trials
    trials = trials.assign(condition=name_cells(trials))
    with_image = trials[trials["image"].notna()]
    has_file = with_image["image"].map(
        lambda name: material.benchmark.image_path(str(name)).is_file()
    )
    with_image = with_image[has_file.astype(bool)]
    n_cells = with_image.groupby("scene_id", sort=False)["condition"].nunique()
    scenes = list(n_cells[n_cells == len(CELL_NAMES)].index)
    masked = [scene for scene in scenes if material.benchmark.mask_path(scene).is_file()]
    chosen = with_image[with_image["scene_id"].isin((masked or scenes)[:1])]
    table = chosen.drop_duplicates("condition").set_index("condition").reindex(list(CELL_NAMES))
    table = table.dropna(subset="trial_id").reset_index()[["condition", *PLACE]]
    rt_s = material.human.set_index("trial_id")["mean_rt_s"]
    return table.assign(mean_rt_s=table["trial_id"].map(rt_s))


def draw_task_and_design(pictures: Sequence[np.ndarray], table: pd.DataFrame) -> Figure:
    """Return the figure: the four displays side by side.

    Parameters
    ----------
    pictures : uint8 arrays, shape (height, width, 3)
        The displays, dots drawn.
    table
        As `tabulate_example` returns it, in the order of the pictures.
    """
    height, width = pictures[0].shape[:2]
    with mpl.rc_context(fname=STYLE):
        figure = make_figure(width_in=PAGE_IN, height_in=PAGE_IN / 4 * height / width + 0.35)
        axes = figure.subplots(1, len(pictures), squeeze=False)[0]
        for panel, picture, (_, row) in zip(axes, pictures, table.iterrows(), strict=True):
            panel.imshow(picture, interpolation="antialiased")
            kind, distance = row["condition"].split()
            words = "same object" if kind == "same" else "different objects"
            rt_ms = "" if pd.isna(row["mean_rt_s"]) else f"{row['mean_rt_s'] * 1000:.0f} ms"
            panel.set_title(f"{words}, {distance}\n{rt_ms}", fontsize=7)
            panel.set_axis_off()
        return figure


def show_trial(benchmark: Benchmark, trial_id: str) -> np.ndarray:
    """Return a display as people see it, uint8, shape (height, width, 3).

    Raises
    ------
    InputError
        The photograph contradicts the trial table.
    """
    trials = benchmark.trials
    row = trials[trials["trial_id"] == trial_id].iloc[0]
    dots = row[["dot1_x_px", "dot1_y_px", "dot2_x_px", "dot2_y_px"]].to_numpy(float).reshape(2, 2)
    style = scale_dots(read_benchmark_design(benchmark).dot_radius_px)
    return draw_dots(load_trial_image(benchmark, row).pixels, dots, style=style)
