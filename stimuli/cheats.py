"""What somebody scores who doesn't look for objects: cheats who know one simple thing of a display.

A cheat gets a few numbers per display (the distance between the dots, say), learns on other scenes how
they go with "same", and says how likely "same" is here. Its AUC on held-out scenes is .5 if the design
gives nothing away. All choices here are ours.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import ndimage

from stimuli.colour import convert_to_lab
from stimuli.logistic import compute_auc, compute_weighted_aucs, predict_held_out

N_RESAMPLES = 1000
INTERVAL_PERCENT = (2.5, 97.5)
# Luminance is smoothed before edges are counted, and an edge is where it changes by more than this
# many L* per pixel.
EDGE_BLUR_PX = 2.0
EDGE_LIGHTNESS_PER_PX = 2.0
# Categories rarer than this are one group to the cheat who knows categories.
MIN_SCENES_PER_CATEGORY = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CheatScore:
    """How well a cheat does on scenes that it never saw.

    Attributes
    ----------
    cheat
        What it knows.
    auc, auc_low, auc_high
        Area under the ROC curve for "same", and its 95 % interval over scenes.
    accuracy, accuracy_low, accuracy_high
        Share right when it says "same" for log odds above 0.
    n_trials, n_scenes
        What it was tried on.
    """

    cheat: str
    auc: float
    auc_low: float
    auc_high: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    n_trials: int
    n_scenes: int


def score_cheat(
    cheat: str, features: pd.DataFrame, trials: pd.DataFrame, *, rng: np.random.Generator
) -> CheatScore | None:
    """Return a cheat's score; None with fewer than two scenes, or only one kind of trial.

    Parameters
    ----------
    cheat
        Its name.
    features : DataFrame, index of `trials`
        What it knows; rows with a missing value are left out (and not counted).
    trials
        The displays.
    rng
        Deals scenes to folds and resamples them.
    """
    known = features.notna().all(axis=1).to_numpy()
    is_same = trials["same_object"].to_numpy(dtype=bool)[known]
    scenes = trials["scene_id"].to_numpy(dtype=str)[known]
    if len(np.unique(scenes)) < 2 or is_same.all() or not is_same.any():
        return None
    log_odds = predict_held_out(features.to_numpy(dtype=float)[known], is_same, scenes, rng=rng)
    auc_low, auc_high, accuracy_low, accuracy_high = bootstrap_over_scenes(
        log_odds, is_same, scenes, rng=rng
    )
    return CheatScore(
        cheat=cheat,
        auc=compute_auc(log_odds, is_same),
        auc_low=auc_low,
        auc_high=auc_high,
        accuracy=float(((log_odds > 0) == is_same).mean()),
        accuracy_low=accuracy_low,
        accuracy_high=accuracy_high,
        n_trials=int(known.sum()),
        n_scenes=len(np.unique(scenes)),
    )


def bootstrap_over_scenes(
    log_odds: np.ndarray, is_same: np.ndarray, scenes: np.ndarray, *, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Return 95 % intervals of AUC and accuracy over resampled scenes: low, high, low, high."""
    names, members = np.unique(scenes, return_inverse=True)
    n_scenes = len(names)
    drawn = rng.multinomial(n_scenes, np.full(n_scenes, 1 / n_scenes), size=N_RESAMPLES)
    weights = drawn[:, members]
    aucs = compute_weighted_aucs(log_odds, is_same, weights)
    accuracies = weights @ ((log_odds > 0) == is_same) / weights.sum(axis=1)
    auc_low, auc_high = np.nanpercentile(aucs, INTERVAL_PERCENT)
    accuracy_low, accuracy_high = np.percentile(accuracies, INTERVAL_PERCENT)
    return float(auc_low), float(auc_high), float(accuracy_low), float(accuracy_high)


def describe_geometry(trials: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return, by cheat, what is known from the trial table alone.

    Returns
    -------
    dict of DataFrame, index of `trials`
        "distance": pixels, and the deviation from the median of close or far, with its square.
        "position": the second dot's place relative to the first, and in the image (shares).
        "eccentricity": both dots' distances from the image's centre, in pixels.
        "angle": direction from the first dot to the second (cosine and sine of it and its double).
    """
    distance = trials["distance_px"].astype(float)
    off = distance - distance.groupby(trials["distance_condition"]).transform("median")
    dx = trials["dot2_x_px"] - trials["dot1_x_px"]
    dy = trials["dot2_y_px"] - trials["dot1_y_px"]
    angle = np.arctan2(dy, dx)
    middle_x, middle_y = trials["width_px"] / 2, trials["height_px"] / 2
    x, y = trials["dot2_x_px"] / trials["width_px"], trials["dot2_y_px"] / trials["height_px"]
    return {
        "distance": pd.DataFrame({"distance": distance, "off": off, "off2": off**2}),
        "position": pd.DataFrame(
            {"dx": dx, "dy": dy, "x": x, "y": y, "x2": (x - 0.5) ** 2, "y2": (y - 0.5) ** 2}
        ),
        "eccentricity": pd.DataFrame(
            {
                f"from_centre{k}": np.hypot(
                    trials[f"dot{k}_x_px"] - middle_x, trials[f"dot{k}_y_px"] - middle_y
                )
                for k in (1, 2)
            }
        ),
        "angle": pd.DataFrame(
            {
                f"{name}{k}": wave(k * angle)
                for k in (1, 2)
                for name, wave in (("cos", np.cos), ("sin", np.sin))
            }
        ),
    }


def describe_images(
    trials: pd.DataFrame,
    load_pixels: Callable[[pd.Series], np.ndarray | None],
    *,
    radius_px: float,
) -> dict[str, pd.DataFrame]:
    """Return, by cheat, what is seen without looking for objects; missing where there is no image.

    Parameters
    ----------
    trials
        The displays.
    load_pixels
        Gives the image of a row, uint8, shape (height, width, 3), or None. Called once per scene.
    radius_px
        Colours are averaged over discs of this radius.

    Returns
    -------
    dict of DataFrame, index of `trials`
        "colour": difference of the mean CIELAB colours around the two dots, in all and by channel.
        "edges": on the line between the dots, how many edges it crosses, the steepest and the mean.
    """
    colours = pd.DataFrame(np.nan, index=trials.index, columns=["all", "l", "a", "b"])
    edges = pd.DataFrame(np.nan, index=trials.index, columns=["crossings", "steepest", "mean"])
    for _, rows in trials.groupby("scene_id", sort=False):
        pixels = load_pixels(rows.iloc[0])
        if pixels is None:
            continue
        lab = convert_to_lab(pixels)
        slope = ndimage.gaussian_gradient_magnitude(lab[..., 0], EDGE_BLUR_PX, mode="nearest")
        for index, row in rows.iterrows():
            dots = row[["dot1_x_px", "dot1_y_px", "dot2_x_px", "dot2_y_px"]].to_numpy(dtype=float)
            colours.loc[index] = _compare_colours(lab, dots, radius_px=radius_px)
            edges.loc[index] = _count_edges(slope, dots)
    return {"colour": colours, "edges": edges}


def describe_objects(trials: pd.DataFrame, objects: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return, by cheat, what is known of the object under the second dot; missing without a mask.

    Parameters
    ----------
    trials
        The displays.
    objects
        Table of objects (`Objects`), possibly empty.

    Returns
    -------
    dict of DataFrame, index of `trials`
        "category": a column per category that occurs in enough scenes, 0 or 1.
        "size": the logarithm of its area.
    """
    if not len(objects):
        nothing = pd.DataFrame({"unknown": np.nan}, index=trials.index)
        return {"category": nothing, "size": nothing}
    keys = pd.MultiIndex.from_frame(objects[["scene_id", "object_id"]])
    found = objects.set_index(keys).reindex(
        pd.MultiIndex.from_frame(trials[["scene_id", "object2_id"]])
    )
    category = found["category"].set_axis(trials.index)
    n_scenes = trials["scene_id"].groupby(category).nunique()
    common = n_scenes.index[n_scenes >= MIN_SCENES_PER_CATEGORY]
    flags = pd.DataFrame({name: category.eq(name).astype(float) for name in common})
    flags = flags.reindex(trials.index).assign(any=1.0)
    area = found["area_px"].astype(float).set_axis(trials.index)
    return {
        "category": flags.where(category.notna(), np.nan),
        "size": pd.DataFrame({"log_area": np.log(area)}),
    }


def _compare_colours(lab: np.ndarray, dots: np.ndarray, *, radius_px: float) -> np.ndarray:
    """Compare the mean colours under the two discs."""
    means = []
    for x_px, y_px in dots.reshape(2, 2):
        top, left = (max(int(np.floor(at - radius_px)), 0) for at in (y_px, x_px))
        bottom, right = (int(np.ceil(at + radius_px)) for at in (y_px, x_px))
        patch = lab[top:bottom, left:right]
        rows = np.arange(top, top + patch.shape[0]) + 0.5 - y_px
        columns = np.arange(left, left + patch.shape[1]) + 0.5 - x_px
        is_inside = rows[:, None] ** 2 + columns[None, :] ** 2 <= radius_px**2
        means.append(patch[is_inside].mean(axis=0))
    difference = np.abs(means[0] - means[1])
    return np.array([np.linalg.norm(difference), *difference])


def _count_edges(slope: np.ndarray, dots: np.ndarray) -> np.ndarray:
    """Follow the line between the dots, a sample per pixel."""
    (x1, y1), (x2, y2) = dots.reshape(2, 2)
    n_samples = max(int(np.hypot(x2 - x1, y2 - y1)), 2)
    share = np.linspace(0, 1, n_samples)
    # Coordinates of pixel centres: continuous minus a half.
    at = np.stack([y1 + share * (y2 - y1) - 0.5, x1 + share * (x2 - x1) - 0.5])
    along = ndimage.map_coordinates(slope, at, order=1, mode="nearest")
    is_edge = along > EDGE_LIGHTNESS_PER_PX
    crossings = int((is_edge[1:] & ~is_edge[:-1]).sum() + is_edge[0])
    return np.array([crossings, along.max(), along.mean()])
