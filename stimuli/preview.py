"""Contact sheets: the displays of scenes side by side, with outlines, distances and names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from stimuli.benchmark import Benchmark, load_scene_mask, load_trial_image
from stimuli.dots import PUBLISHED_DOT, DotStyle, draw_dots
from stimuli.errors import InputError
from stimuli.images import write_image
from stimuli.table_io import name_some
from stimuli.tables import CELL_NAMES, name_cells

PANEL_WIDTH_PX = 320
# Height of the line above a panel, by its width; 16 px above 320.
CAPTION_SHARE = 0.05
MIN_CAPTION_PX = 14
GAP_PX = 4
PAPER = (255, 255, 255)
INK = (20, 20, 20)
# Outlines of the first and of the second object; colour-blind safe.
FIRST_COLOUR, SECOND_COLOUR = (86, 180, 233), (240, 228, 66)


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetStyle:
    """How a sheet looks: size of a panel, outlines or not, the dots, and pixels per degree."""

    panel_width_px: int = PANEL_WIDTH_PX
    has_outlines: bool = True
    dot: DotStyle = PUBLISHED_DOT
    px_per_degree: float | None = None

    @property
    def caption_px(self) -> int:
        """Height of the line above a display."""
        return max(round(CAPTION_SHARE * self.panel_width_px), MIN_CAPTION_PX)

    def with_outlines(self, *, has_outlines: bool) -> "SheetStyle":
        """Return the style with or without outlines."""
        return replace(self, has_outlines=has_outlines)


def write_sheets(
    benchmark: Benchmark,
    out: Path,
    *,
    scene_ids: Sequence[str],
    scenes_per_sheet: int,
    style: SheetStyle,
    on_scene: Callable[[], None] = lambda: None,
) -> list[Path]:
    """Write contact sheets, a row per scene, and return their paths.

    Parameters
    ----------
    benchmark
        Images that it lacks are drawn grey.
    out
        A PNG; several sheets are called ``<name>_01.png``, ``<name>_02.png``, …
    scene_ids
        The scenes, in order.
    scenes_per_sheet
        Rows of a sheet.
    style
        How it looks.
    on_scene
        Called after each scene.
    """
    pages = [
        scene_ids[k : k + scenes_per_sheet] for k in range(0, len(scene_ids), scenes_per_sheet)
    ]
    paths = []
    for number, page in enumerate(pages, start=1):
        rows = []
        for scene_id in page:
            rows.append(draw_scene(benchmark, scene_id, style))
            on_scene()
        path = out if len(pages) == 1 else out.with_name(f"{out.stem}_{number:02d}{out.suffix}")
        write_image(_stack_rows(rows), path)
        paths.append(path)
    return paths


def draw_scene(benchmark: Benchmark, scene_id: str, style: SheetStyle) -> np.ndarray:
    """Return the displays of a scene side by side, uint8, shape (height, width, 3)."""
    panels = draw_displays(benchmark, scene_id, style)
    return np.concatenate([_frame(panel) for panel in panels], axis=1)


def draw_displays(benchmark: Benchmark, scene_id: str, style: SheetStyle) -> list[np.ndarray]:
    """Return the displays of a scene, each with outlines and caption, in the order of the cells.

    Raises
    ------
    InputError
        The image or mask is missing, or contradicts the trial table.
    """
    trials = benchmark.trials[benchmark.trials["scene_id"] == scene_id]
    order = name_cells(trials).map({name: k for k, name in enumerate(CELL_NAMES)})
    trials = trials.loc[order.sort_values(kind="stable").index]
    first = trials.iloc[0]
    labels = load_scene_mask(benchmark, first)
    pixels = load_pixels_if_any(benchmark, first)
    if pixels is None:
        pixels = np.full((first["height_px"], first["width_px"], 3), 128, dtype=np.uint8)
    return [
        draw_panel(row, pixels, labels=labels if style.has_outlines else None, style=style)
        for _, row in trials.iterrows()
    ]


def load_pixels_if_any(benchmark: Benchmark, row: pd.Series) -> np.ndarray | None:
    """Return the image of a row, uint8, shape (height, width, 3); None if the table names none."""
    return None if pd.isna(row["image"]) else load_trial_image(benchmark, row).pixels


def choose_scenes(benchmark: Benchmark, wanted: Sequence[str] | None) -> list[str]:
    """Return the wanted scenes, or all of them in the table's order.

    Raises
    ------
    InputError
        A wanted scene isn't in the benchmark.
    """
    known = benchmark.trials["scene_id"].unique().tolist()
    unknown = [name for name in wanted or () if name not in known]
    if unknown:
        raise InputError(
            f"{benchmark.folder}: no scene {name_some(unknown)} among its {len(known)}; scene ids "
            "are in trials.csv"
        )
    return list(wanted or known)


def draw_panel(
    row: pd.Series, pixels: np.ndarray, *, labels: np.ndarray | None, style: SheetStyle
) -> np.ndarray:
    """Return one display with outlines and caption.

    Parameters
    ----------
    row
        Of the trial table.
    pixels : uint8 array, shape (height, width, 3)
        The image.
    labels : int array, shape (height, width)
        The object map; None: no outlines.
    style
        How it looks.
    """
    drawn = pixels
    if labels is not None and pd.notna(row["object1_id"]):
        for name, colour in (("object2_id", SECOND_COLOUR), ("object1_id", FIRST_COLOUR)):
            drawn = _outline(drawn, labels == row[name], colour)
    dots = row[["dot1_x_px", "dot1_y_px", "dot2_x_px", "dot2_y_px"]].to_numpy(dtype=float)
    drawn = draw_dots(drawn, dots.reshape(2, 2), style=style.dot)
    height = round(drawn.shape[0] * style.panel_width_px / drawn.shape[1])
    small = Image.fromarray(drawn).resize((style.panel_width_px, height), Image.Resampling.LANCZOS)
    caption_px = style.caption_px
    panel = Image.new("RGB", (style.panel_width_px, height + caption_px), PAPER)
    panel.paste(small, (0, caption_px))
    font = ImageFont.load_default(size=0.72 * caption_px)
    ImageDraw.Draw(panel).text((2, 1), _caption(row, style), fill=INK, font=font)
    return np.asarray(panel)


def _caption(row: pd.Series, style: SheetStyle) -> str:
    kind = "same" if row["same_object"] else "different"
    degrees = f" {row['distance_px'] / style.px_per_degree:.1f} deg" if style.px_per_degree else ""
    distance = f"{row['distance_px']:.0f} px{degrees}"
    return f"{row['scene_id']}: {kind} {row['distance_condition']}, {distance}"


def _outline(pixels: np.ndarray, is_inside: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    """Return a copy with the object's border pixels coloured, two pixels wide."""
    padded = np.pad(is_inside, 2)
    core = is_inside.copy()
    height, width = is_inside.shape
    for dy, dx in ((0, 2), (2, 0), (0, -2), (-2, 0)):
        core &= padded[2 + dy : 2 + dy + height, 2 + dx : 2 + dx + width]
    drawn = pixels.copy()
    drawn[is_inside & ~core] = colour
    return drawn


def _frame(panel: np.ndarray) -> np.ndarray:
    return np.pad(panel, ((GAP_PX, GAP_PX), (GAP_PX, GAP_PX), (0, 0)), constant_values=255)


def _stack_rows(rows: list[np.ndarray]) -> np.ndarray:
    width = max(row.shape[1] for row in rows)
    return np.concatenate(
        [
            np.pad(row, ((0, 0), (0, width - row.shape[1]), (0, 0)), constant_values=255)
            for row in rows
        ]
    )
