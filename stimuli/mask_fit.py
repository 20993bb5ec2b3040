"""Does a mask fit its image? Its size must, and so must the way up.

A viewer turns a photograph upright by its EXIF orientation; a mask has none. Masks drawn on the
stored pixels must be turned along, masks drawn on what the viewer showed must not. Where the sizes
tell the two apart, they decide; where they don't, the user must.
"""

from pathlib import Path
from typing import Literal

import numpy as np

from stimuli.faults import FaultLog
from stimuli.images import LoadedImage, turn_upright

DrawnOn = Literal["unknown", "upright", "stored"]


def fit_mask(
    labels: np.ndarray,
    image: LoadedImage,
    *,
    path: Path,
    faults: FaultLog,
    drawn_on: DrawnOn = "unknown",
) -> np.ndarray | None:
    """Return the mask as it lies on the upright image; None for one that doesn't fit.

    Parameters
    ----------
    labels : int array, shape (height, width)
        As stored.
    image
        Its image, loaded upright.
    path
        What messages name.
    faults
        Where a mask that doesn't fit is noted, or refused.
    drawn_on
        Whether masks were drawn on the upright image or on the stored pixels, if known.

    Raises
    ------
    InputError
        `faults` refuses.
    """
    upright = (image.height_px, image.width_px)
    stored = upright[::-1] if image.orientation >= 5 else upright
    if labels.shape not in {upright, stored}:
        faults.report(
            "mask size contradicts the image",
            where=str(path),
            detail=f"mask {labels.shape[1]}x{labels.shape[0]} px, upright image "
            f"{upright[1]}x{upright[0]} px",
        )
        return None
    if image.orientation == 1:
        return labels
    if upright != stored:
        return labels if labels.shape == upright else turn_upright(labels, image.orientation)
    if drawn_on == "unknown":
        faults.report(
            "mask may be turned",
            where=str(path),
            detail=f"EXIF orientation {image.orientation}, and the size fits both ways; say "
            "--masks-drawn-on upright or stored",
        )
        return None
    return labels if drawn_on == "upright" else turn_upright(labels, image.orientation)
