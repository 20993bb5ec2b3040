"""Where a dot fits on an object map, and which objects meet.

Both work on the map alone, in pixels: a dot fits where every pixel within the margin shows the object
under its centre; two objects touch where their pixels meet across at most a small unlabelled gap.
"""

import numpy as np


def find_fitting_labels(
    labels: np.ndarray, *, object_margin_px: float, image_margin_px: float
) -> np.ndarray:
    """Return the object map where a dot fits, and 0 where none does.

    A dot is centred on a pixel's centre. It fits if every pixel whose centre lies nearer than
    `object_margin_px` is in the image and shows its object, and the image's border is at least
    `image_margin_px` away.

    Parameters
    ----------
    labels : int array, shape (height, width)
        Object numbers; 0 is unlabelled.

    Returns
    -------
    Array of the same type and shape.
    """
    height, width = labels.shape
    reach = _largest_below(object_margin_px)
    if min(height, width) <= 2 * reach:
        return np.zeros_like(labels)
    fits = _is_constant_along(labels, half_lengths={reach}, axis=0)[reach]
    halves = {dy: _largest_below(np.sqrt(object_margin_px**2 - dy**2)) for dy in range(reach + 1)}
    rows = _is_constant_along(labels, half_lengths=set(halves.values()), axis=1)
    for dy in range(-reach, reach + 1):
        top, bottom = max(0, -dy), height - max(0, dy)
        # Rows without a neighbour dy away failed the vertical test already.
        fits[top:bottom] &= rows[halves[abs(dy)]][top + dy : bottom + dy]
    x_is_in = _is_within(width, image_margin_px)
    y_is_in = _is_within(height, image_margin_px)
    return np.where(fits & y_is_in[:, None] & x_is_in[None, :], labels, 0).astype(labels.dtype)


def count_contacts(labels: np.ndarray, *, gap_px: int) -> np.ndarray:
    """Return how many pixel pairs of two objects meet, across unlabelled gaps up to `gap_px` wide.

    Pairs are counted along rows and columns.

    Returns
    -------
    int array, shape (n, n), n = largest object number + 1
        Symmetric; row and column 0 (unlabelled) and the diagonal are 0.
    """
    n = int(labels.max()) + 1
    counts = np.zeros(n * n, dtype=np.int64)
    for axis in (0, 1):
        lines = labels if axis == 1 else labels.T
        counts += _count_along_rows(np.ascontiguousarray(lines), gap_px=gap_px, n=n)
    table = counts.reshape(n, n)
    table = table + table.T
    np.fill_diagonal(table, 0)
    return table


def _count_along_rows(lines: np.ndarray, *, gap_px: int, n: int) -> np.ndarray:
    """Count (first, second) at each change of label, skipping unlabelled runs up to the gap."""
    rows, columns = np.nonzero(lines[:, 1:] != lines[:, :-1])
    first, second = lines[rows, columns], lines[rows, columns + 1]
    direct = (first > 0) & (second > 0)
    pairs = [first[direct].astype(np.int64) * n + second[direct]]
    # A run of unlabelled pixels begins at one change and ends at the next one in the same row.
    opens = (first > 0) & (second == 0)
    following = np.flatnonzero(opens[:-1]) + 1
    begins = following - 1
    is_bridged = (rows[following] == rows[begins]) & (
        columns[following] - columns[begins] <= gap_px
    )
    pairs.append(first[begins[is_bridged]].astype(np.int64) * n + second[following[is_bridged]])
    return np.bincount(np.concatenate(pairs), minlength=n * n)


def _is_constant_along(
    labels: np.ndarray, *, half_lengths: set[int], axis: int
) -> dict[int, np.ndarray]:
    """By half length: are the 2 * half + 1 pixels along the axis around each one alike, and there."""
    size = labels.shape[axis]
    along = np.moveaxis(labels, axis, -1)
    n_changes = np.zeros(labels.shape, dtype=np.int16)
    np.cumsum(
        along[..., 1:] != along[..., :-1], axis=-1, out=np.moveaxis(n_changes, axis, -1)[..., 1:]
    )
    n_changes = np.moveaxis(n_changes, axis, -1)
    constant = {}
    for half in half_lengths:
        constant[half] = np.zeros(labels.shape, dtype=bool)
        if size > 2 * half:
            np.moveaxis(constant[half], axis, -1)[..., half : size - half] = (
                n_changes[..., 2 * half :] == n_changes[..., : size - 2 * half]
            )
    return constant


def _largest_below(length: float) -> int:
    """Return the largest whole number below a length, 0 at least."""
    return max(int(np.ceil(length)) - 1, 0)


def _is_within(size_px: int, margin_px: float) -> np.ndarray:
    """Whether each pixel's centre keeps the margin from both ends."""
    centres = np.arange(size_px) + 0.5
    return (centres >= margin_px) & (size_px - centres >= margin_px)
