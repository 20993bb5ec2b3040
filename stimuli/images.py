"""Images and masks from files: the one loader for screen, models and figures.

EXIF orientation is applied once, any mode becomes RGB, and the file's bytes are hashed. Masks are
integers and are only ever resized by nearest neighbour.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from stimuli.errors import InputError
from stimuli.table_io import replacing

# 32-bit greys have no one way to 8 bits (the range is the sensor's, not the file's), nor has Lab.
REFUSED_MODES = {"I", "F", "LAB"}
EXIF_ORIENTATION = 0x0112


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedImage:
    """An image as it is shown.

    Attributes
    ----------
    pixels : uint8 array, shape (height, width, 3)
        RGB, EXIF orientation applied.
    sha256
        Hash of the file's bytes.
    orientation
        The EXIF orientation that was applied, 1 to 8; 1: the file is stored upright.
    """

    pixels: np.ndarray
    sha256: str
    orientation: int = 1

    @property
    def width_px(self) -> int:
        """Columns."""
        return self.pixels.shape[1]

    @property
    def height_px(self) -> int:
        """Rows."""
        return self.pixels.shape[0]


def load_image(path: Path) -> LoadedImage:
    """Return the image of `path`, upright and in RGB.

    Transparency is laid on white; CMYK, palette and grey images are converted; 16-bit greys are
    scaled from 0..65535 to 0..255.

    Raises
    ------
    InputError
        No such file, not an image, or a mode without one way to RGB (32-bit integer or float).
    """
    if not path.is_file():
        raise InputError(f"{path}: no such image")
    data = path.read_bytes()
    with open_picture(path) as picture:
        orientation = read_orientation(picture)
        upright = ImageOps.exif_transpose(picture)
        pixels = np.asarray(_convert_to_rgb(upright, path))
    return LoadedImage(
        pixels=pixels, sha256=hashlib.sha256(data).hexdigest(), orientation=orientation
    )


def load_mask(path: Path) -> np.ndarray:
    """Return the integer object map of a mask file.

    Accepts greyscale (8, 16, 32 bit), palette (the index is the id) and grey with alpha (the grey is
    the id). No interpolation, no EXIF: a mask is stored upright.

    Returns
    -------
    int32 array, shape (height, width)
        0 is unlabelled.

    Raises
    ------
    InputError
        No such file, or a colour image, which has no ids of its own.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such mask")
    with open_picture(path) as picture:
        if picture.mode in {"LA", "La"}:
            return np.asarray(picture)[..., 0].astype(np.int32)
        if picture.mode in {"1", "L", "P", "I", "I;16", "I;16B", "I;16L"}:
            return np.asarray(picture).astype(np.int32)
        raise InputError(
            f"{path}: a mask of mode {picture.mode!r}; expected one integer per pixel "
            "(L, P, LA, I or I;16). Convert colours to ids first"
        )


def write_mask(labels: np.ndarray, path: Path) -> None:
    """Write an integer object map, shape (height, width), ids 0 to 65535, as a 16-bit PNG."""
    if labels.min() < 0 or labels.max() > np.iinfo(np.uint16).max:
        raise InputError(
            f"{path}: ids run from {labels.min()} to {labels.max()}; a mask holds 0 to 65535. "
            "Number the objects of a scene from 1"
        )
    with replacing(path) as temporary:
        Image.fromarray(labels.astype(np.uint16)).save(temporary, format="PNG")


def write_image(pixels: np.ndarray, path: Path) -> str:
    """Write RGB pixels, uint8, shape (height, width, 3), as PNG and return the file's sha256."""
    with replacing(path) as temporary:
        Image.fromarray(pixels).save(temporary, format="PNG")
        return hashlib.sha256(temporary.read_bytes()).hexdigest()


def open_picture(path: Path) -> Image.Image:
    """Return an opened PIL image.

    Raises
    ------
    InputError
        The file is not an image, or is cut short.
    """
    try:
        picture = Image.open(path)
        picture.load()
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError) as error:
        raise InputError(f"{path}: not a readable image ({error})") from None
    return picture


def read_orientation(picture: Image.Image) -> int:
    """Return a picture's EXIF orientation, 1 to 8; 1 when it states none, or nonsense."""
    value = picture.getexif().get(EXIF_ORIENTATION, 1)
    return value if value in _UPRIGHT else 1


def turn_upright(labels: np.ndarray, orientation: int) -> np.ndarray:
    """Return a map that was drawn on the stored pixels as it lies on the upright image.

    Parameters
    ----------
    labels : array, shape (height, width) of the stored image
    orientation
        The image's EXIF orientation, 1 to 8.
    """
    return np.ascontiguousarray(_UPRIGHT[orientation](labels))


# What each EXIF orientation does to the stored pixels.
_UPRIGHT: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    1: lambda stored: stored,
    2: np.fliplr,
    3: lambda stored: np.rot90(stored, 2),
    4: np.flipud,
    5: np.transpose,
    6: lambda stored: np.rot90(stored, -1),
    7: lambda stored: np.rot90(stored, 2).T,
    8: np.rot90,
}


def _convert_to_rgb(picture: Image.Image, path: Path) -> Image.Image:
    if picture.mode in REFUSED_MODES:
        raise InputError(
            f"{path}: image mode {picture.mode!r} has no one way to RGB; save it as 8-bit RGB"
        )
    if picture.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(picture) / 257).round().astype(np.uint8)).convert("RGB")
    if picture.has_transparency_data:
        rgba = picture.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    return picture.convert("RGB")
