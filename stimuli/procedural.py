"""Made scenes: overlapping textured objects with exact masks, reproducible by seed.

Dead leaves (Lee, Mumford & Huang 2001, Int. J. Computer Vision 41): opaque objects of scale-invariant
sizes laid over each other, which gives natural images' occlusion statistics. Each object carries a
texture whose amplitude falls with frequency as 1/f (Field 1987), a colour, shading by its own bulge,
and throws a soft shadow on what it covers. Which pixels show which object is known exactly: edges are
not smoothed. Shapes, sizes and colours are ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from stimuli.errors import InputError
from stimuli.painting import (
    BACKGROUND,
    Canvas,
    Look,
    Shape,
    draw_shift,
    make_noise_field,
    paint,
    rasterise,
    start_canvas,
    to_8_bits,
)
from stimuli.scenes import Scene, SceneObject
from stimuli.seeds import spawn_rng


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneDesign:
    """What a made scene looks like. Lengths are pixels; shares run from 0 to 1."""

    width_px: int = 640
    height_px: int = 480
    # Objects laid on the background, besides the one at the centre.
    n_objects: int = 14
    # Sizes are drawn from a power law; radius^-3 makes the scene scale-invariant (Lee 2001).
    min_radius_px: float = 40.0
    max_radius_px: float = 140.0
    size_exponent: float = 3.0
    # One object near the centre, large enough for a far dot; 0 lays none.
    central_radius_px: float = 230.0
    # Small objects strewn over the others (clutter), and their radius.
    n_clutter: int = 12
    clutter_radius_px: float = 10.0
    # Amplitude falls as f^-exponent; natural images: about 1 (Field 1987).
    spectrum_exponent: float = 1.0
    texture_contrast: float = 0.12
    # Chance that an object takes over the texture of one that it touches.
    shared_texture: float = 0.0
    # 0: colours as different as they come; 1: all objects have one mean colour.
    camouflage: float = 0.0
    # How much darker an object's rim is than its middle, and how dark shadows are.
    shading: float = 0.35
    shadow: float = 0.35

    def __post_init__(self) -> None:
        for name in ("shared_texture", "camouflage", "shading", "shadow"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise InputError(f"scene design: {name} is {value}; expected 0 to 1")
        if not 0 < self.min_radius_px <= self.max_radius_px:
            raise InputError(
                f"scene design: radii from {self.min_radius_px} to {self.max_radius_px} px; expected "
                "0 < min_radius_px <= max_radius_px"
            )
        if min(self.width_px, self.height_px) < 16:
            raise InputError(
                f"scene design: {self.width_px}x{self.height_px} px; expected at least 16 a side"
            )


# Half the size of a photograph: what the demo shows to models on a CPU.
DEMO_SCENES = SceneDesign(
    width_px=320,
    height_px=240,
    n_objects=10,
    min_radius_px=28.0,
    max_radius_px=75.0,
    central_radius_px=100.0,
    n_clutter=5,
    clutter_radius_px=7.0,
)

# How much each kind's outline deviates from a circle or, for planks, from a rectangle.
WOBBLE = {"pebble": 0.12, "leaf": 0.3, "star": 0.2, "plank": 0.0}
CATEGORIES = tuple(WOBBLE)
N_FIELDS = 6


def generate_scene(design: SceneDesign, *, scene_id: str, rng: np.random.Generator) -> Scene:
    """Return a made scene.

    Object 1 is the background (stuff); the others are things, numbered from back to front, which is
    their `depth`. Objects that others cover altogether are left out.

    Parameters
    ----------
    design
        Sizes, numbers and looks.
    scene_id
        Name of the scene.
    rng
        All that is random.
    """
    palette = _make_palette(design, rng)
    canvas = start_canvas(
        width_px=design.width_px,
        height_px=design.height_px,
        look=_draw_look(design, palette, rng),
    )
    looks = {BACKGROUND: canvas.background}
    categories = {BACKGROUND: "ground"}
    for number, shape in enumerate(_draw_shapes(design, rng), start=BACKGROUND + 1):
        window, is_inside = rasterise(shape, canvas)
        if not is_inside.any():
            continue
        beneath = np.unique(canvas.labels[window][is_inside])
        looks[number] = _draw_look(design, palette, rng)
        if rng.random() < design.shared_texture:
            looks[number] = replace(looks[int(rng.choice(beneath))], shift=draw_shift(rng))
        paint(canvas, number=number, window=window, is_inside=is_inside, look=looks[number])
        categories[number] = shape.category
    return _finish(canvas, scene_id=scene_id, categories=categories)


def generate_scenes(design: SceneDesign, *, prefix: str, seed: int) -> Iterator[Scene]:
    """Yield made scenes without end: ``<prefix>0001``, ``<prefix>0002``, …, each from its own seed."""
    for k in count(1):
        scene_id = f"{prefix}{k:04d}"
        rng = spawn_rng(seed, scene_id, purpose="generate")
        yield generate_scene(design, scene_id=scene_id, rng=rng)


def _draw_shapes(design: SceneDesign, rng: np.random.Generator) -> list[Shape]:
    """From back to front: the leaves with the central object among them, then the clutter."""
    size = np.array([design.width_px, design.height_px])
    leaves = [
        _draw_shape(rng, centre_xy=rng.random(2) * size, radius_px=radius_px)
        for radius_px in _draw_radii(design, rng)
    ]
    if design.central_radius_px:
        centre_xy = size / 2 + rng.normal(scale=0.1 * design.central_radius_px, size=2)
        central = _draw_shape(rng, centre_xy=centre_xy, radius_px=design.central_radius_px)
        leaves.insert(int(rng.integers(len(leaves) // 4, len(leaves) // 2 + 1)), central)
    clutter = [
        _draw_shape(rng, centre_xy=rng.random(2) * size, radius_px=design.clutter_radius_px)
        for _ in range(design.n_clutter)
    ]
    return leaves + clutter


def _draw_radii(design: SceneDesign, rng: np.random.Generator) -> np.ndarray:
    """Radii with density r^-exponent between the limits, by inverting its distribution."""
    power = 1 - design.size_exponent
    share = rng.random(design.n_objects)
    low, high = design.min_radius_px, design.max_radius_px
    if power == 0:
        return low * (high / low) ** share
    return (low**power + share * (high**power - low**power)) ** (1 / power)


def _draw_shape(rng: np.random.Generator, *, centre_xy: np.ndarray, radius_px: float) -> Shape:
    category = CATEGORIES[int(rng.integers(len(CATEGORIES)))]
    return Shape(
        category=category,
        centre_x_px=float(centre_xy[0]),
        centre_y_px=float(centre_xy[1]),
        radius_px=float(radius_px),
        angle_rad=float(rng.uniform(0, 2 * np.pi)),
        wobble=tuple(rng.normal(scale=WOBBLE[category] / np.arange(2, 6))),
        phases=tuple(rng.uniform(0, 2 * np.pi, size=4)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Palette:
    """What the objects of a scene draw their looks from."""

    fields: tuple[np.ndarray, ...]
    common_colour: np.ndarray


def _make_palette(design: SceneDesign, rng: np.random.Generator) -> _Palette:
    fields = tuple(
        make_noise_field(
            (design.height_px, design.width_px),
            exponent=design.spectrum_exponent,
            stretch=float(rng.uniform(1, 3)),
            angle_rad=float(rng.uniform(0, np.pi)),
            rng=rng,
        )
        for _ in range(N_FIELDS)
    )
    return _Palette(fields=fields, common_colour=_draw_colour(rng))


def _draw_look(design: SceneDesign, palette: _Palette, rng: np.random.Generator) -> Look:
    own = _draw_colour(rng)
    colour = (1 - design.camouflage) * own + design.camouflage * palette.common_colour
    tint = rng.normal(scale=0.25, size=3) + 1
    return Look(
        colour=colour.astype(np.float32),
        tint=(design.texture_contrast * tint).astype(np.float32),
        field=palette.fields[int(rng.integers(N_FIELDS))],
        shift=draw_shift(rng),
        shading=design.shading,
        shadow=design.shadow,
    )


def _draw_colour(rng: np.random.Generator) -> np.ndarray:
    """Draw a muted colour: a grey level and a smaller deviation from it in each channel."""
    return rng.uniform(0.25, 0.75) + rng.normal(scale=0.09, size=3)


def _finish(canvas: Canvas, *, scene_id: str, categories: dict[int, str]) -> Scene:
    """Return the scene, without the objects of which nothing shows."""
    shown = np.bincount(canvas.labels.ravel(), minlength=max(categories) + 1)
    return Scene(
        scene_id=scene_id,
        pixels=to_8_bits(canvas.pixels),
        labels=canvas.labels,
        objects=tuple(
            SceneObject(
                object_id=number,
                category=category,
                is_thing=number != BACKGROUND,
                is_crowd=False,
                source_id=None,
                depth=number,
            )
            for number, category in categories.items()
            if shown[number]
        ),
        source="made by objecthood (stimuli/procedural.py)",
        licence="none needed: made by the user's own run",
    )
