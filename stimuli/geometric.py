"""The controlled set: displays in which same texture, same class and same object come apart.

When a model's "binding" may be nothing but similar texture or one class, photographs can't tell: there
the three go together. Here they don't. Each scene is a row of two long objects that meet near the
first dot; the second dots lie along the row, towards one side on the same object and towards the other
side, equally far, on the other object. The row's direction is random, so that only the picture says
which side is which. All of it is ours.

==============  ==========================================  ============  ==========
kind            different dots lie on                       same texture  same class
==============  ==========================================  ============  ==========
touching        an object of another class and texture      no            no
one texture     an object of another class, one texture     yes           no
one class       an object of the same class, other texture  no            yes
identical       a copy side by side                         yes           yes
two textures    an object of the first dot's texture, while
                the same object changes its texture         yes           no
split           a copy out of line, both borders hidden by
                bars; the object goes on behind its bar     yes           yes
==============  ==========================================  ============  ==========
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, get_args

import numpy as np

from stimuli.design import Design
from stimuli.painting import (
    BACKGROUND,
    Canvas,
    Look,
    draw_shift,
    make_noise_field,
    paint,
    start_canvas,
    to_8_bits,
)
from stimuli.placement import Display, Placement
from stimuli.scenes import Scene, SceneObject
from stimuli.seeds import spawn_rng
from stimuli.tables import CELLS

Kind = Literal["touching", "one texture", "one class", "identical", "two textures", "split"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FIRST, SECOND, FIRST_BAR = 2, 3, 4
# Classes are told apart by their ends. Boxes meet flush, so two of one texture would be one box.
ENDS = ("capsule", "lens")
FLUSH = "box"
PAD_PX = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDesign:
    """What the rows look like, in units of the dots' radius.

    Attributes
    ----------
    thickness_radii
        Smallest and largest thickness of the row.
    end_radii
        How far the objects reach beyond the far dots.
    texture_contrast, shading, shadow
        As in `stimuli.procedural.SceneDesign`.
    """

    thickness_radii: tuple[float, float] = (8.0, 11.0)
    end_radii: float = 6.0
    texture_contrast: float = 0.1
    shading: float = 0.35
    shadow: float = 0.3


ROWS = RowDesign()


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledScene:
    """A scene with its displays, and what each display's dots share beside the object or not."""

    kind: Kind
    scene: Scene
    placement: Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """Where things lie: lengths in pixels, `along` and `across` the row, from the first dot."""

    close_px: float
    far_px: float
    thickness_px: float
    length_px: float
    along: np.ndarray
    across: np.ndarray
    direction: np.ndarray
    centre_xy: np.ndarray


def generate_controlled(
    kind: Kind,
    design: Design,
    *,
    scene_id: str,
    rng: np.random.Generator,
    rows: RowDesign = ROWS,
) -> ControlledScene:
    """Return one scene of a kind with its four displays.

    Parameters
    ----------
    kind
        What comes apart; see the module.
    design
        Distances and dot size. Distances of same and different are equal.
    scene_id
        Name of the scene.
    rng
        Direction, thickness, textures, distances within the design's tolerance.
    rows
        What rows look like.
    """
    row = _draw_row(design, rows, rng)
    looks = _draw_looks(row, rows, rng)
    first_class, second_class = _choose_classes(kind, rng)
    canvas = start_canvas(
        width_px=row.along.shape[1], height_px=row.along.shape[0], look=looks["ground"]
    )
    # A copy of the first texture has a phase of its own.
    alike = replace(looks["first"], shift=draw_shift(rng))
    second_look = looks["other"] if kind in {"touching", "one class"} else alike
    shift = 0.28 * row.thickness_px if kind == "split" else 0.0
    second = _cover(row, second_class, side=-1, shift_px=shift)
    paint(canvas, number=SECOND, is_inside=second, look=second_look)
    first = _cover(row, first_class, side=1)
    paint(canvas, number=FIRST, is_inside=first, look=looks["first"])
    if kind == "two textures":
        beyond = first & (row.along > row.close_px / 2)
        paint(canvas, number=FIRST, is_inside=beyond, look=looks["other"], body=first)
    bars = _lay_bars(canvas, row, looks["bar"]) if kind == "split" else 0
    return ControlledScene(
        kind=kind,
        scene=_finish(canvas, scene_id, classes=(first_class, second_class), n_bars=bars),
        placement=Placement(scene_id=scene_id, displays=_place(row), reason=None),
    )


def generate_controlled_set(design: Design, *, prefix: str, seed: int) -> Iterator[ControlledScene]:
    """Yield scenes without end, the kinds in turn, called ``<prefix>0001`` and so on."""
    for k in count(1):
        scene_id = f"{prefix}{k:04d}"
        kind = KINDS[(k - 1) % len(KINDS)]
        rng = spawn_rng(seed, scene_id, purpose="generate")
        yield generate_controlled(kind, design, scene_id=scene_id, rng=rng)


def _draw_row(design: Design, rows: RowDesign, rng: np.random.Generator) -> _Row:
    tolerance = design.distance_tolerance_px
    close_px, far_px = (
        middle + rng.uniform(-tolerance, tolerance) for middle in (design.close_px, design.far_px)
    )
    end_px = rows.end_radii * design.dot_radius_px
    reach = design.close_px + design.far_px + 2 * tolerance + end_px + PAD_PX
    side_px = 2 * int(np.ceil(reach))
    angle = rng.uniform(0, 2 * np.pi)
    direction = np.array([np.cos(angle), np.sin(angle)])
    centre_xy = np.full(2, side_px / 2)
    x = np.arange(side_px)[None, :] + 0.5 - centre_xy[0]
    y = np.arange(side_px)[:, None] + 0.5 - centre_xy[1]
    return _Row(
        close_px=close_px,
        far_px=far_px,
        thickness_px=rng.uniform(*rows.thickness_radii) * design.dot_radius_px,
        length_px=close_px / 2 + far_px + end_px,
        along=x * direction[0] + y * direction[1],
        across=-x * direction[1] + y * direction[0],
        direction=direction,
        centre_xy=centre_xy,
    )


def _draw_looks(row: _Row, rows: RowDesign, rng: np.random.Generator) -> dict[str, Look]:
    """Return the ground, the first texture, one that is plainly another, and the bars'."""
    # Four colours a quarter turn apart in two opponent axes around grey.
    turn = rng.uniform(0, 2 * np.pi)
    axes = np.array([[0.5, -0.5, 0.1], [0.25, 0.25, -0.5]])
    looks = {}
    for k, name in enumerate(("first", "ground", "other", "bar")):
        angle = turn + k * np.pi / 2
        colour = 0.5 + 0.3 * (np.array([np.cos(angle), np.sin(angle)]) @ axes)
        looks[name] = Look(
            colour=colour.astype(np.float32),
            tint=np.full(3, rows.texture_contrast, dtype=np.float32),
            field=make_noise_field(
                row.along.shape,
                exponent=1.0,
                stretch=float(rng.uniform(1, 3)),
                angle_rad=float(rng.uniform(0, np.pi)),
                rng=rng,
            ),
            shift=draw_shift(rng),
            shading=rows.shading if name != "ground" else 0.0,
            shadow=rows.shadow if name != "ground" else 0.0,
        )
    return looks


def _choose_classes(kind: Kind, rng: np.random.Generator) -> tuple[str, str]:
    """Return the classes of the first and the second object."""
    one = ENDS[int(rng.integers(len(ENDS)))]
    if kind in {"one class", "identical", "split"}:
        return one, one
    return one, FLUSH


def _cover(row: _Row, kind: str, *, side: int, shift_px: float = 0.0) -> np.ndarray:
    """Return which pixels an object covers; `side` 1 holds the first dot, -1 the other dots.

    The objects meet half a close distance before the first dot.
    """
    half_length, half_thickness = row.length_px / 2, row.thickness_px / 2
    u = row.along + row.close_px / 2 - side * half_length
    v = row.across - shift_px
    if kind == "capsule":
        straight = half_length - half_thickness
        return np.hypot(np.maximum(np.abs(u) - straight, 0), v) <= half_thickness
    if kind == "lens":
        # A superellipse: blunt enough for the dots near its ends.
        return np.abs(u / half_length) ** 4 + np.abs(v / half_thickness) ** 2 <= 1
    return (np.abs(u) <= half_length) & (np.abs(v) <= half_thickness)


def _lay_bars(canvas: Canvas, row: _Row, look: Look) -> int:
    """Hide the border between the objects, and as much of the first object on the other side."""
    half_width = row.close_px / 6
    for k, middle in enumerate((-row.close_px / 2, row.close_px / 2)):
        bar = (np.abs(row.along - middle) <= half_width) & (
            np.abs(row.across) <= 1.1 * row.thickness_px
        )
        paint(canvas, number=FIRST_BAR + k, is_inside=bar, look=look)
    return 2


def _place(row: _Row) -> tuple[Display, ...]:
    """Return the displays: same dots ahead, different ones behind the first dot."""
    x_px, y_px = row.centre_xy
    displays = []
    for same_object, condition in CELLS:
        distance = row.close_px if condition == "close" else row.far_px
        away = row.direction * distance * (1 if same_object else -1)
        displays.append(
            Display(
                same_object=same_object,
                distance_condition=condition,
                dot1_x_px=float(x_px),
                dot1_y_px=float(y_px),
                dot2_x_px=float(x_px + away[0]),
                dot2_y_px=float(y_px + away[1]),
                object1_id=FIRST,
                object2_id=FIRST if same_object else SECOND,
            )
        )
    return tuple(displays)


def describe_display(kind: Kind, *, same_object: bool) -> dict[str, object]:
    """Return what the two dots of a display share: columns of the trial table.

    Returns
    -------
    dict
        ``controlled_kind``, ``same_texture``, ``same_class``.
    """
    if same_object:
        return {
            "controlled_kind": kind,
            "same_texture": kind != "two textures",
            "same_class": True,
        }
    return {
        "controlled_kind": kind,
        "same_texture": kind not in {"touching", "one class"},
        "same_class": kind in {"one class", "identical", "split"},
    }


def _finish(canvas: Canvas, scene_id: str, *, classes: tuple[str, str], n_bars: int) -> Scene:
    names = {BACKGROUND: "ground", FIRST: classes[0], SECOND: classes[1]}
    names |= {FIRST_BAR + k: "bar" for k in range(n_bars)}
    return Scene(
        scene_id=scene_id,
        pixels=to_8_bits(canvas.pixels),
        labels=canvas.labels,
        objects=tuple(
            SceneObject(
                object_id=number,
                category=name,
                is_thing=number != BACKGROUND,
                is_crowd=False,
                source_id=None,
                depth={BACKGROUND: 0, SECOND: 1, FIRST: 2}.get(number, 3),
            )
            for number, name in names.items()
        ),
        source="made by objecthood (stimuli/geometric.py)",
        licence="none needed: made by the user's own run",
    )
