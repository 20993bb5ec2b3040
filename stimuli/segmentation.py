"""COCO's three ways to write one object's mask: polygons, and two run-length encodings."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from pycocotools import mask as coco_mask


def decode_segmentation(
    segmentation: object, *, width_px: int, height_px: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return an annotation's mask and what is wrong with it.

    Parameters
    ----------
    segmentation
        Polygons ``[[x, y, x, y, …], …]``; or ``{"size": [h, w], "counts": …}`` with counts as a list
        (uncompressed), text or bytes (compressed).
    width_px, height_px
        The image.

    Returns
    -------
    is_inside : bool array, shape (height, width)
        Nothing where the annotation can't be used.
    problems
        Each in words; empty: none.
    """
    nothing = np.zeros((height_px, width_px), dtype=bool)
    if isinstance(segmentation, Mapping):
        return _decode_rle(segmentation, nothing)
    if not isinstance(segmentation, Sequence) or isinstance(segmentation, str | bytes):
        return nothing, (f"segmentation of type {type(segmentation).__name__}",)
    usable, n_degenerate = [], 0
    for ring in segmentation:
        is_ring = isinstance(ring, Sequence) and len(ring) >= 6 and len(ring) % 2 == 0
        if is_ring and np.isfinite(np.asarray(ring, dtype=float)).all():
            usable.append([float(value) for value in ring])
        else:
            n_degenerate += 1
    problems = (f"{n_degenerate} polygon with fewer than 3 points",) if n_degenerate else ()
    if not usable:
        return nothing, problems or ("no polygon",)
    runs = coco_mask.merge(coco_mask.frPyObjects(usable, height_px, width_px))
    return coco_mask.decode(runs).astype(bool), problems


def _decode_rle(runs: Mapping[str, Any], nothing: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    height_px, width_px = nothing.shape
    if list(runs.get("size", ())) != [height_px, width_px]:
        return nothing, (
            f"RLE size {runs.get('size')} contradicts the image, {[height_px, width_px]}",
        )
    counts = runs.get("counts")
    if isinstance(counts, list):
        total = sum(counts)
        if total != height_px * width_px or min(counts, default=0) < 0:
            return nothing, (f"RLE counts sum to {total}, not to {height_px * width_px} pixels",)
        encoded: Any = coco_mask.frPyObjects(cast("Any", runs), height_px, width_px)
    elif isinstance(counts, str | bytes):
        encoded = {"size": [height_px, width_px], "counts": counts}
    else:
        return nothing, (f"RLE counts of type {type(counts).__name__}",)
    return coco_mask.decode(encoded).astype(bool), ()
