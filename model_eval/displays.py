"""The trials of one image, as patches: which patches speak for each dot, what its object covers.

A patch belongs to an object if at least half of the patch's image area is the object (ours).
Patches that hold padding only, and the patch that holds the dot, take no part in the comparison of an
object with the rest.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from stimuli.dot_patches import DotRule, read_dots
from stimuli.geometry import PatchGrid, find_patch, share_of_patches

Result = TypeVar("Result")

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
    scene_id
        The scene.
    """

    trial_ids: tuple[str, ...]
    dots_px: np.ndarray
    object_ids: np.ndarray
    labels: np.ndarray | None
    scene_id: str = ""


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
        scene_id=str(rows["scene_id"].iloc[0]),
    )


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


class Remembering:
    """Keeps results that several statistics need, for as long as it lives itself."""

    def __init__(self) -> None:
        self._remembered: dict[Hashable, Any] = {}

    def remember(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Return what `compute` gives, computed once."""
        if key not in self._remembered:
            self._remembered[key] = compute()
        return self._remembered[key]


class PatchDisplay(Remembering):
    """The trials of one image on one patch grid.

    Parameters
    ----------
    display
        The trials.
    grid
        The layer's grid.
    rule
        Which patches speak for a dot.
    """

    def __init__(self, display: Display, grid: PatchGrid, *, rule: DotRule = "contains") -> None:
        super().__init__()
        self.display = display
        self.grid = grid
        self._rule: DotRule = rule

    @property
    def n_trials(self) -> int:
        """Trials of this image."""
        return len(self.display.trial_ids)

    @cached_property
    def _seeds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Distinct dots: corners, weights, own patch, and which of them each dot is."""
        flat = self.display.dots_px.reshape(-1, 2)
        read = read_dots(self.grid, self._rule, x_px=flat[:, 0], y_px=flat[:, 1])
        own = find_patch(self.grid, x_px=flat[:, 0], y_px=flat[:, 1])
        if self._rule == "published_rounding":
            own = read.patches[:, 0]
        rows = np.concatenate([read.patches, read.weights, own[:, None]], axis=1)
        _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        seed_of_dot = index.reshape(-1, 2)
        return read.patches[first], read.weights[first], own[first], seed_of_dot

    @property
    def seed_corners(self) -> np.ndarray:
        """Patches that speak for each distinct dot; int array, shape (n_seeds, n_corners)."""
        return self._seeds[0]

    @property
    def seed_weights(self) -> np.ndarray:
        """Their weights; float array, shape (n_seeds, n_corners)."""
        return self._seeds[1]

    @property
    def seed_patches(self) -> np.ndarray:
        """The patch that each distinct dot counts as lying in; int array, shape (n_seeds,)."""
        return self._seeds[2]

    @property
    def seed_of_dot(self) -> np.ndarray:
        """Which distinct dot each dot is; int array, shape (n_trials, 2)."""
        return self._seeds[3]

    @property
    def dot_patches(self) -> np.ndarray:
        """The patch that each dot counts as lying in; int array, shape (n_trials, 2)."""
        return self.seed_patches[self.seed_of_dot]

    @cached_property
    def has_image(self) -> np.ndarray:
        """Whether a patch holds any image; bool array, shape (n_patches,)."""
        columns = np.arange(self.grid.n_columns) * self.grid.stride_px < self.grid.content_width_px
        rows = np.arange(self.grid.n_rows) * self.grid.stride_px < self.grid.content_height_px
        return np.outer(rows, columns).ravel()

    @cached_property
    def objects(self) -> tuple[tuple[DotObject | str, DotObject | str], ...]:
        """Of each trial and dot: the patches of its object and the others, or why there are none."""
        return tuple(
            (self._find_object(k, 0), self._find_object(k, 1)) for k in range(self.n_trials)
        )

    @cached_property
    def patch_labels(self) -> np.ndarray:
        """Object of each patch, over all labelled objects; int array, shape (n_patches,).

        0: no object covers half of the patch's image, or the scene has no mask.
        """
        found = np.zeros(self.grid.n_patches, int)
        if self.display.labels is None:
            return found
        numbers = set(np.unique(self.display.labels).tolist()) - {0}
        for number, is_object in self._cover(numbers).items():
            found[is_object & (found == 0)] = number
        return found

    @cached_property
    def _dot_objects(self) -> dict[int, np.ndarray]:
        return self._cover(set(self.display.object_ids.ravel().tolist()) - {0})

    def _cover(self, numbers: Iterable[int]) -> dict[int, np.ndarray]:
        """Of each object, whether a patch belongs to it; bool, shape (n_patches,)."""
        labels = self.display.labels
        covered = {}
        for number in sorted(numbers) if labels is not None else ():
            region, image = share_of_patches(self.grid, np.asarray(labels == number))
            covered[number] = (image > 0) & (region >= OBJECT_SHARE * image)
        return covered

    def _find_object(self, trial: int, dot: int) -> DotObject | str:
        if self.display.labels is None:
            return "the scene has no mask"
        number = int(self.display.object_ids[trial, dot])
        if number == 0:
            return f"no object is known under dot {dot + 1}"
        is_compared = self.has_image.copy()
        is_compared[self.dot_patches[trial, dot]] = False
        is_object = self._dot_objects[number] & is_compared
        is_other = ~self._dot_objects[number] & is_compared
        if not is_object.any():
            return f"the object under dot {dot + 1} covers half of no patch but the dot's own"
        if not is_other.any():
            return f"the object under dot {dot + 1} covers every patch"
        return DotObject(object_id=number, is_object=is_object, is_other=is_other)
