"""Small pictures of displays for a page: JPEG data URIs with the dots drawn by the one function."""

import base64
import io
from collections.abc import Sequence

import numpy as np
import pandas as pd
from PIL import Image

from stimuli.benchmark import Benchmark, load_trial_image
from stimuli.dots import DotStyle, draw_dots

WIDTH_PX = 208
QUALITY = 62
# A dot of the published size would be two pixels wide on a thumbnail.
THUMBNAIL_DOT = DotStyle(radius_px=4.5, core_radius_px=2.5)
# What all thumbnails of a page may take together, in characters of base64.
BUDGET = 1_600_000


def make_thumbnails(
    benchmark: Benchmark, trial_ids: Sequence[str], *, budget: int = BUDGET
) -> dict[str, str]:
    """Return data URIs of displays by trial id, in the order given, as many as the budget allows.

    Parameters
    ----------
    benchmark
        Whose images are drawn; trials without an image are left out.
    trial_ids
        The most wanted first.
    budget
        Characters in all.
    """
    rows = {row["trial_id"]: row for _, row in benchmark.trials.iterrows()}
    found: dict[str, str] = {}
    loaded: dict[str, np.ndarray] = {}
    for trial_id in trial_ids:
        row = rows[trial_id]
        if pd.isna(row["image"]):
            continue
        if row["image"] not in loaded:
            loaded[row["image"]] = _shrink(load_trial_image(benchmark, row).pixels)
        uri = _draw(loaded[row["image"]], row)
        budget -= len(uri)
        if budget < 0:
            break
        found[trial_id] = uri
    return found


def _shrink(pixels: np.ndarray) -> np.ndarray:
    height = round(pixels.shape[0] * WIDTH_PX / pixels.shape[1])
    picture = Image.fromarray(pixels).resize((WIDTH_PX, height), Image.Resampling.LANCZOS)
    return np.asarray(picture)


def _draw(pixels: np.ndarray, row: pd.Series) -> str:
    scale = WIDTH_PX / row["width_px"]
    dots = [[row[f"dot{k}_x_px"] * scale, row[f"dot{k}_y_px"] * scale] for k in (1, 2)]
    drawn = draw_dots(pixels, np.asarray(dots), style=THUMBNAIL_DOT)
    buffer = io.BytesIO()
    Image.fromarray(drawn).save(buffer, format="JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
