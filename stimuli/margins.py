"""How far dots lie from borders: of the image, and of the object that the table puts them on."""

from collections.abc import Callable

import numpy as np
import pandas as pd

# Objects' borders are looked for this far from a dot; farther counts as this far.
REACH_PX = 64


def measure_margins(
    trials: pd.DataFrame, load_labels: Callable[[pd.Series], np.ndarray | None]
) -> pd.DataFrame:
    """Return each display's smallest margins, over its two dots.

    Parameters
    ----------
    trials
        Valid under `Trials`.
    load_labels
        Gives the object map of a row, int, shape (height, width), or None. Called once per scene.

    Returns
    -------
    DataFrame, index of `trials`
        "image": from a dot's centre to the image's border, pixels.
        "object": to the nearest pixel's centre that shows something else; 0 for a dot that isn't on
        the object that the table names; missing without a map or a name. At most `REACH_PX`.
    """
    margins = pd.DataFrame({"image": _image_margin(trials), "object": np.nan}, index=trials.index)
    for _, rows in trials.dropna(subset=["object1_id", "object2_id"]).groupby("scene_id"):
        labels = load_labels(rows.iloc[0])
        if labels is None:
            continue
        for index, row in rows.iterrows():
            margins.loc[index, "object"] = min(
                measure_object_margin(
                    labels,
                    x_px=float(row[f"dot{k}_x_px"]),
                    y_px=float(row[f"dot{k}_y_px"]),
                    object_id=int(row[f"object{k}_id"]),
                )
                for k in (1, 2)
            )
    return margins


def measure_object_margin(labels: np.ndarray, *, x_px: float, y_px: float, object_id: int) -> float:
    """Return the distance to the nearest pixel's centre off the object; 0 for a dot that is off it.

    The image's border counts as off.
    """
    row, column = int(y_px), int(x_px)
    if labels[row, column] != object_id:
        return 0.0
    padded = np.pad(
        labels[
            max(row - REACH_PX, 0) : row + REACH_PX + 1,
            max(column - REACH_PX, 0) : column + REACH_PX + 1,
        ],
        1,
        constant_values=object_id - 1,
    )
    rows, columns = np.nonzero(padded != object_id)
    top, left = max(row - REACH_PX, 0) - 1, max(column - REACH_PX, 0) - 1
    distances = np.hypot(rows + top + 0.5 - y_px, columns + left + 0.5 - x_px)
    return float(min(distances.min(), REACH_PX))


def _image_margin(trials: pd.DataFrame) -> pd.Series:
    sides = [
        side
        for k in (1, 2)
        for side in (
            trials[f"dot{k}_x_px"],
            trials[f"dot{k}_y_px"],
            trials["width_px"] - trials[f"dot{k}_x_px"],
            trials["height_px"] - trials[f"dot{k}_y_px"],
        )
    ]
    return pd.concat(sides, axis=1).min(axis=1)
