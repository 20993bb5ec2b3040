"""The trials of one image, as patches: which patch each dot is in, and what its object covers.

A patch belongs to an object if at least half of the patch's image area is the object (ours).
Patches that hold padding only, and the dot's own patch, take no part in the comparison of an object
with the rest.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from stimuli.geometry import PatchGrid, find_patch, share_of_patches

# A patch is part of an object from this share of its image area on (ours).
OBJECT_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """The trials of one image, in image pixels.

    Attributes
    ----------
    trial_ids
        In the trial table's order.
    dots_px : float array, shape (n_trials, 2, 2)
        Trial, dot, (x, y).
    object_ids : int array, shape (n_trials, 2)
        The object under each dot as numbered in the mask; 0 where unknown.
    labels : int32 array, shape (height_px, width_px), or None
        The scene's object map.
    """

    trial_ids: tuple[str, ...]
    dots_px: np.ndarray
    object_ids: np.ndarray
    labels: np.ndarray | None


def make_display(rows: pd.DataFrame, labels: np.ndarray | None) -> Display:
    """Return the trials of one image.

    Parameters
    ----------
    rows
        Their rows of the trial table.
    labels
        The scene's object map, or None.
    """
    columns = [f"dot{k}_{axis}_px" for k in (1, 2) for axis in "xy"]
    return Display(
        trial_ids=tuple(rows["trial_id"]),
        dots_px=rows[columns].to_numpy(float).reshape(-1, 2, 2),
        object_ids=rows[["object1_id", "object2_id"]].fillna(0).to_numpy(int),
        labels=labels,
    )


class PatchDisplay:
    """The trials of one image on one patch grid.

    Parameters
    ----------
    display
        The trials.
    grid
        The layer's grid.
    """

    def __init__(self, display: Display, grid: PatchGrid) -> None:
        self.display = display
        self.grid = grid

    @cached_property
    def dot_patches(self) -> np.ndarray:
        """Patch of each dot; int array, shape (n_trials, 2)."""
        flat = self.display.dots_px.reshape(-1, 2)
        return find_patch(self.grid, x_px=flat[:, 0], y_px=flat[:, 1]).reshape(-1, 2)

    @cached_property
    def seeds(self) -> np.ndarray:
        """The distinct patches that hold a dot; int array, shape (n_seeds,)."""
        return np.unique(self.dot_patches)

    @cached_property
    def seed_of_dot(self) -> np.ndarray:
        """Index into `seeds` of each dot; int array, shape (n_trials, 2)."""
        return np.searchsorted(self.seeds, self.dot_patches)

    @cached_property
    def has_image(self) -> np.ndarray:
        """Whether a patch holds any image; bool array, shape (n_patches,)."""
        everywhere = np.ones((self.grid.height_px, self.grid.width_px), bool)
        _, image = share_of_patches(self.grid, everywhere)
        return image > 0

    @cached_property
    def object_patches(self) -> dict[int, np.ndarray]:
        """Of each object under a dot, whether a patch belongs to it; bool, shape (n_patches,)."""
        labels = self.display.labels
        if labels is None:
            return {}
        wanted = set(self.display.object_ids.ravel().tolist()) - {0}
        return {k: self._label_patches(labels == k) for k in wanted}

    @cached_property
    def objects(self) -> tuple[tuple["DotObject | str", "DotObject | str"], ...]:
        """Of each trial and dot: the patches of its object and the others, or why there are none."""
        n_trials = len(self.display.trial_ids)
        return tuple((self._find_object(k, 0), self._find_object(k, 1)) for k in range(n_trials))

    def _find_object(self, trial: int, dot: int) -> "DotObject | str":
        if self.display.labels is None:
            return "the scene has no mask"
        number = int(self.display.object_ids[trial, dot])
        if number == 0:
            return f"no object is known under dot {dot + 1}"
        is_compared = self.has_image.copy()
        is_compared[self.dot_patches[trial, dot]] = False
        is_object = self.object_patches[number] & is_compared
        is_other = ~self.object_patches[number] & is_compared
        if not is_object.any():
            return f"the object under dot {dot + 1} covers half of no patch but the dot's own"
        if not is_other.any():
            return f"the object under dot {dot + 1} covers every patch"
        return DotObject(object_id=number, is_object=is_object, is_other=is_other)

    def _label_patches(self, is_inside: np.ndarray) -> np.ndarray:
        region, image = share_of_patches(self.grid, is_inside)
        return (image > 0) & (region >= OBJECT_SHARE * image)


@dataclass(frozen=True, slots=True, kw_only=True)
class DotObject:
    """The patches of the object under a dot, and those of everything else.

    Attributes
    ----------
    object_id
        As numbered in the mask.
    is_object, is_other : bool arrays, shape (n_patches,)
        Neither holds the dot's own patch, nor padding.
    """

    object_id: int
    is_object: np.ndarray
    is_other: np.ndarray
