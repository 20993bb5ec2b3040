"""Painting textured, shaded objects onto a canvas that keeps the exact map of what shows where."""

from dataclasses import dataclass

import numpy as np
from scipy import fft, ndimage

BACKGROUND = 1
Window = tuple[slice, slice]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An outline: a circle that wobbles, a star or a plank, at a place.

    The radius at angle t is ``radius_px * (1 + sum_k wobble_k cos(k t + phase_k))``, k = 2…5; a star's
    is multiplied by ``1 + 0.35 cos(5 t)``; a plank is a rectangle of half sides r and r / 3; a square
    has half side r.
    """

    category: str
    centre_x_px: float
    centre_y_px: float
    radius_px: float
    angle_rad: float = 0.0
    wobble: tuple[float, ...] = ()
    phases: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What an object's surface looks like.

    Attributes
    ----------
    colour : float array, shape (3,)
        Mean, RGB from 0 to 1.
    tint : float array, shape (3,)
        By how much one standard deviation of the texture changes each channel.
    field : float array, shape (height, width)
        The texture, mean 0, SD 1; wraps around.
    shift
        Rows and columns by which the field is displaced, as shares of its size.
    shading, shadow
        How much darker the rim and the shadowed ground are, 0 to 1.
    """

    colour: np.ndarray
    tint: np.ndarray
    field: np.ndarray
    shift: tuple[float, float] = (0.0, 0.0)
    shading: float = 0.0
    shadow: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """A picture in the making: `paint` changes its arrays in place.

    Attributes
    ----------
    pixels : float32 array, shape (height, width, 3)
        RGB from 0 to 1.
    labels : int32 array, shape (height, width)
        Which object shows; 1 is the background.
    background
        The look of the background.
    """

    pixels: np.ndarray
    labels: np.ndarray
    background: Look


def start_canvas(*, width_px: int, height_px: int, look: Look) -> Canvas:
    """Return a canvas that shows nothing but the background."""
    everywhere = (slice(0, height_px), slice(0, width_px))
    return Canvas(
        pixels=_render_surface(look, everywhere),
        labels=np.full((height_px, width_px), BACKGROUND, dtype=np.int32),
        background=look,
    )


def make_noise_field(
    shape: tuple[int, int],
    *,
    exponent: float,
    rng: np.random.Generator,
    stretch: float = 1.0,
    angle_rad: float = 0.0,
) -> np.ndarray:
    """Return Gaussian noise whose amplitude falls as frequency^-exponent.

    Parameters
    ----------
    shape
        Rows and columns.
    exponent
        1 for natural images' 1/f.
    rng
        Draws the phases.
    stretch, angle_rad
        Frequencies along `angle_rad` count `stretch` times: the texture is finer in that direction.

    Returns
    -------
    float32 array, mean 0, SD 1; it wraps around at its borders.
    """
    noise = rng.standard_normal(shape, dtype=np.float32)
    fy = fft.fftfreq(shape[0])[:, None].astype(np.float32)
    fx = fft.rfftfreq(shape[1])[None, :].astype(np.float32)
    along = np.cos(angle_rad) * fx + np.sin(angle_rad) * fy
    across = -np.sin(angle_rad) * fx + np.cos(angle_rad) * fy
    frequency = np.sqrt(along**2 / stretch + across**2 * stretch)
    frequency[0, 0] = 1.0
    spectrum = fft.rfft2(noise) * frequency ** np.float32(-exponent)
    spectrum[0, 0] = 0.0
    field = np.asarray(fft.irfft2(spectrum, s=shape))
    return (field / field.std()).astype(np.float32)


def draw_shift(rng: np.random.Generator) -> tuple[float, float]:
    """Return a random displacement of a texture."""
    return float(rng.random()), float(rng.random())


def rasterise(shape: Shape, canvas: Canvas) -> tuple[Window, np.ndarray]:
    """Return the window of the canvas that a shape reaches and which of its pixels it covers."""
    reach = shape.radius_px * (2.2 if shape.category == "leaf" else 1.6)
    height, width = canvas.labels.shape
    window = (
        slice(*_clip_span(shape.centre_y_px, reach, height)),
        slice(*_clip_span(shape.centre_x_px, reach, width)),
    )
    y = np.arange(window[0].start, window[0].stop)[:, None] + 0.5 - shape.centre_y_px
    x = np.arange(window[1].start, window[1].stop)[None, :] + 0.5 - shape.centre_x_px
    cos, sin = np.cos(shape.angle_rad), np.sin(shape.angle_rad)
    return window, _covers(shape, cos * x + sin * y, -sin * x + cos * y)


def paint(
    canvas: Canvas,
    *,
    number: int,
    is_inside: np.ndarray,
    look: Look,
    window: Window | None = None,
    body: np.ndarray | None = None,
) -> None:
    """Lay an object over what the canvas shows, in place: shadow, surface and label.

    Parameters
    ----------
    canvas
        Changed in place.
    number
        The object's id in the map.
    is_inside : bool array, the window's shape
        Where it lies.
    look
        Its surface.
    window
        The part of the canvas that `is_inside` covers, from `rasterise`; None: all of it.
    body : bool array, the window's shape
        The whole object, if `is_inside` is a part of it that was laid before: the part is shaded as
        the whole is, and throws no shadow.
    """
    height, width = canvas.labels.shape
    window = window or (slice(0, height), slice(0, width))
    if look.shadow and body is None:
        _cast_shadow(canvas, window, is_inside, strength=look.shadow)
    surface = _render_surface(look, window)
    if look.shading:
        surface *= _shade(is_inside if body is None else body, strength=look.shading)[..., None]
    canvas.pixels[window][is_inside] = surface[is_inside]
    canvas.labels[window][is_inside] = number


def to_8_bits(pixels: np.ndarray) -> np.ndarray:
    """Return RGB from 0 to 1 as uint8; what is out of range saturates, as in a camera."""
    return (np.clip(pixels, 0.0, 1.0) * 255).round().astype(np.uint8)


def _covers(shape: Shape, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether points, in the shape's own axes, lie in it."""
    if shape.category in {"plank", "square"}:
        half_width = shape.radius_px / (3 if shape.category == "plank" else 1)
        return (np.abs(x) <= shape.radius_px) & (np.abs(y) <= half_width)
    distance = np.hypot(x, y)
    angle = np.arctan2(y, x)
    radius = np.full_like(distance, shape.radius_px)
    for k, (size, phase) in enumerate(zip(shape.wobble, shape.phases, strict=True), start=2):
        radius += shape.radius_px * size * np.cos(k * angle + phase)
    if shape.category == "star":
        radius *= 1 + 0.35 * np.cos(5 * angle)
    return distance <= radius


def _render_surface(look: Look, window: Window) -> np.ndarray:
    """Return the look's colour and texture in a window of the canvas."""
    rows, columns = (
        (np.arange(span.start, span.stop) + int(share * size)) % size
        for span, share, size in zip(window, look.shift, look.field.shape, strict=True)
    )
    texture = look.field[np.ix_(rows, columns)]
    return look.colour + texture[..., None] * look.tint


def _shade(is_inside: np.ndarray, *, strength: float) -> np.ndarray:
    """Light on a bulging body: 1 where it faces the light, darker to its lower right rim."""
    small = _shrink(is_inside)
    bulge = ndimage.gaussian_filter(small, max(small.shape) / 12, mode="constant")
    slope_y, slope_x = (np.gradient(bulge, axis=axis) for axis in (0, 1))
    light = slope_y + slope_x
    scale = np.abs(light).max() or 1.0
    coarse = 1 + strength * (0.6 * light / scale + 0.6 * (bulge - bulge.max()))
    return _enlarge(coarse, is_inside.shape)


def _cast_shadow(canvas: Canvas, window: Window, is_inside: np.ndarray, *, strength: float) -> None:
    """Darken, in place, what lies below and to the right of the object; it fades with distance."""
    small = _shrink(is_inside)
    offset = 0.04 * max(small.shape)
    soft = ndimage.gaussian_filter(small, 1.0 + offset / 2, mode="constant")
    soft = ndimage.shift(soft, (offset, offset), order=1, mode="constant")
    canvas.pixels[window] *= (1 - strength * _enlarge(soft, is_inside.shape))[..., None]


def _shrink(is_inside: np.ndarray) -> np.ndarray:
    """Return a quarter-size map of the share that is inside."""
    whole = is_inside.astype(np.float32)
    return np.asarray(ndimage.zoom(whole, 0.25, order=1, mode="nearest", grid_mode=True))


def _enlarge(small: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Bring a coarse map to a finer grid, linearly."""
    rows = (np.arange(shape[0]) + 0.5) * small.shape[0] / shape[0] - 0.5
    columns = (np.arange(shape[1]) + 0.5) * small.shape[1] / shape[1] - 0.5
    rows = np.clip(rows, 0, small.shape[0] - 1)
    columns = np.clip(columns, 0, small.shape[1] - 1)
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    bottom = np.minimum(top + 1, small.shape[0] - 1)
    right = np.minimum(left + 1, small.shape[1] - 1)
    wy, wx = (rows - top)[:, None], (columns - left)[None, :]
    upper = small[top][:, left] * (1 - wx) + small[top][:, right] * wx
    lower = small[bottom][:, left] * (1 - wx) + small[bottom][:, right] * wx
    return (upper * (1 - wy) + lower * wy).astype(np.float32)


def _clip_span(centre_px: float, reach_px: float, size_px: int) -> tuple[int, int]:
    """First and one-past-last whole pixel within reach and on the canvas."""
    first = min(max(int(np.floor(centre_px - reach_px)), 0), size_px)
    last = min(max(int(np.ceil(centre_px + reach_px)), first), size_px)
    return first, last
