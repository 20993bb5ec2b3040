"""Colours as people see differences: CIELAB of sRGB pixels (IEC 61966-2-1; CIE 15, D65)."""

import numpy as np

# Linear sRGB to CIE XYZ, relative to the D65 white, rows X, Y, Z.
_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = _XYZ.sum(axis=1)


def convert_to_lab(pixels: np.ndarray) -> np.ndarray:
    """Return L*, a*, b* of sRGB pixels.

    Parameters
    ----------
    pixels : array, shape (..., 3)
        uint8, 0 to 255.

    Returns
    -------
    float array, shape (..., 3)
        L* from 0 (black) to 100 (white); a*, b* are 0 for greys.

    Examples
    --------
    >>> convert_to_lab(np.array([255, 255, 255], dtype=np.uint8)).round(3) + 0.0
    array([100.,   0.,   0.])
    """
    xyz = _LINEAR[np.asarray(pixels)] @ _XYZ.T / _WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def _linearise(encoded: np.ndarray) -> np.ndarray:
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


_LINEAR = _linearise(np.arange(256) / 255)
