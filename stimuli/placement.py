"""Placing the dots of one scene: one first dot, four second dots, or the reason why not.

The first dot lies near the image's centre on a thing that a second object touches or overlaps; the
second dots lie on the same or on that other object, close or far, with distances matched between same
and different (methods 1.1). The published choice was made by eye; the search here is ours: first dots
are tried from the centre outwards, and the first with places for all four second dots is taken. Same
and different dots are matched in elevation, too: things stand upright beside each other, so that
otherwise a dot above or below is on the same object more often than one to the side.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from stimuli.design import Design
from stimuli.occlusion import find_occluders
from stimuli.regions import count_contacts, find_fitting_labels
from stimuli.scenes import Scene
from stimuli.tables import CELLS, DISTANCE_CONDITIONS, DistanceCondition

# In the order in which a scene gets further; the furthest reached is the one reported.
Reason = Literal[
    "image too small for the far dots",
    "nothing usable at the centre",
    "no room for the first dot",
    "no second object",
    "no place for different far",
    "no place for same far",
    "no place for different close",
    "no place for same close",
    "distances can't be matched",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
# By cell of the design, as in `CELLS`.
LACKING: dict[tuple[bool, DistanceCondition], Reason] = {
    (False, "far"): "no place for different far",
    (True, "far"): "no place for same far",
    (False, "close"): "no place for different close",
    (True, "close"): "no place for same close",
}
N_SECTORS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """Two dots on a scene, in continuous pixels, and the objects under them."""

    same_object: bool
    distance_condition: DistanceCondition
    dot1_x_px: float
    dot1_y_px: float
    dot2_x_px: float
    dot2_y_px: float
    object1_id: int
    object2_id: int

    @property
    def distance_px(self) -> float:
        """Distance between the dots."""
        return float(np.hypot(self.dot2_x_px - self.dot1_x_px, self.dot2_y_px - self.dot1_y_px))


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The four displays of a scene in the order of `CELLS`; or none, and the reason."""

    scene_id: str
    displays: tuple[Display, ...]
    reason: Reason | None


def place_trials(scene: Scene, design: Design, rng: np.random.Generator) -> Placement:
    """Return a scene's four displays, or why it can't have them.

    Parameters
    ----------
    scene
        Image and object map.
    design
        Where dots may lie.
    rng
        Draws among the places that the design allows; nothing else is random.
    """
    search = _prepare(scene, design)
    if isinstance(search, str):
        return Placement(scene_id=scene.scene_id, displays=(), reason=search)
    reached = 0
    for row, column in search.first_dots.tolist():
        found = _place_from(search, row=row, column=column, rng=rng)
        if not isinstance(found, str):
            return Placement(scene_id=scene.scene_id, displays=found, reason=None)
        reached = max(reached, REASONS.index(found))
    return Placement(scene_id=scene.scene_id, displays=(), reason=REASONS[reached])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ring:
    """The pixels around a first dot at a distance condition, as offsets from it.

    `elevation` counts steps from straight up to straight down, left and right alike.
    """

    condition: DistanceCondition
    dx_px: np.ndarray
    dy_px: np.ndarray
    distance_bin: np.ndarray
    elevation: np.ndarray
    sector: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What the search for one scene needs, computed once.

    `flat` holds the rings as offsets in the flattened `padded`.
    `padded` is the map of fitting labels with a border of zeros as wide as the far ring; `partners`
    holds, by first object, which second objects the design allows.
    """

    padded: np.ndarray
    pad_px: int
    rings: tuple[_Ring, ...]
    flat: tuple[np.ndarray, ...]
    partners: np.ndarray
    object_ids: np.ndarray
    first_dots: np.ndarray


def _prepare(scene: Scene, design: Design) -> _Search | Reason:
    labels, object_ids = number_by_position(scene)
    height, width = labels.shape
    # The far dot must fit between the first dot and the image's corner.
    if np.hypot(width, height) / 2 + design.first_dot_within_px < (
        design.far_px - design.distance_tolerance_px
    ):
        return "image too small for the far dots"
    areas = np.bincount(labels.ravel(), minlength=len(object_ids))
    is_first, is_second = _find_usable(scene, design, areas)
    fitting = find_fitting_labels(
        labels, object_margin_px=design.object_margin_px, image_margin_px=design.image_margin_px
    )
    window = _first_dot_window(width, height, design)
    if not is_first[labels[window[:, 0], window[:, 1]]].any():
        return "nothing usable at the centre"
    first_dots = window[is_first[fitting[window[:, 0], window[:, 1]]]]
    if not len(first_dots):
        return "no room for the first dot"
    partners = _find_partners(scene, design, labels=labels, is_first=is_first, is_second=is_second)
    has_partner = np.asarray(partners.any(axis=1))
    first_dots = first_dots[has_partner[fitting[first_dots[:, 0], first_dots[:, 1]]]]
    if not len(first_dots):
        return "no second object"
    pad_px = int(np.ceil(design.far_px + design.distance_tolerance_px)) + 1
    padded = np.pad(fitting, pad_px)
    rings = _make_rings(design)
    return _Search(
        padded=padded,
        pad_px=pad_px,
        rings=rings,
        flat=tuple(ring.dy_px * padded.shape[1] + ring.dx_px for ring in rings),
        partners=partners,
        object_ids=object_ids,
        first_dots=first_dots + pad_px,
    )


def number_by_position(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Return the map with objects numbered 1..n by their place in `scene.objects`, and their ids.

    Returns
    -------
    labels : int array, shape (height, width)
    object_ids : int array, shape (n + 1,)
        Id of each number; 0 stays 0.
    """
    ids = np.array([0, *(item.object_id for item in scene.objects)], dtype=np.int64)
    if np.array_equal(ids, np.arange(len(ids))) and len(ids) <= np.iinfo(np.int16).max:
        return scene.labels.astype(np.int16), ids
    table = np.zeros(int(max(ids.max(), scene.labels.max())) + 1, dtype=np.int16)
    table[ids] = np.arange(len(ids))
    return table[scene.labels], ids


def _find_usable(scene: Scene, design: Design, areas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which objects may carry the first and the second dot, by number; 0 never."""
    is_thing = np.array([False, *(item.is_thing for item in scene.objects)])
    is_crowd = np.array([True, *(item.is_crowd for item in scene.objects)])
    is_large = areas >= design.min_object_area_px
    is_usable = ~is_crowd & is_large
    is_second = is_usable if design.second_object == "any" else is_usable & is_thing
    return is_usable & is_thing, is_second


def _first_dot_window(width: int, height: int, design: Design) -> np.ndarray:
    """Pixels (row, column) on a grid around the image's centre, nearest first."""
    reach = int(design.first_dot_within_px // design.search_step_px) * design.search_step_px
    steps = np.arange(-reach, reach + 1, design.search_step_px)
    dy, dx = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    order = np.lexsort((dx, dy, dx**2 + dy**2))
    rows, columns = height // 2 + dy[order], width // 2 + dx[order]
    away = np.hypot(rows + 0.5 - height / 2, columns + 0.5 - width / 2)
    is_in = (away <= design.first_dot_within_px) & (rows >= 0) & (rows < height)
    is_in &= (columns >= 0) & (columns < width)
    return np.stack([rows, columns], axis=1)[is_in]


def _find_partners(
    scene: Scene,
    design: Design,
    *,
    labels: np.ndarray,
    is_first: np.ndarray,
    is_second: np.ndarray,
) -> np.ndarray:
    """Which second object (column) the design allows with which first one (row)."""
    allowed = is_first[:, None] & is_second[None, :]
    np.fill_diagonal(allowed, val=False)
    if design.second_category != "any":
        names = np.array(["", *(item.category for item in scene.objects)])
        is_alike = names[:, None] == names[None, :]
        allowed &= is_alike if design.second_category == "same" else ~is_alike
    if design.relation != "any":
        contacts = count_contacts(labels, gap_px=design.touch_gap_px)
        met = np.zeros_like(allowed)
        met[: len(contacts), : len(contacts)] = contacts > 0
        allowed &= met
    if design.relation == "occluding":
        depths = [None, *(item.depth for item in scene.objects)]
        allowed &= find_occluders(labels, depths, allowed)
    return allowed


@lru_cache(maxsize=8)
def _make_rings(design: Design) -> tuple[_Ring, ...]:
    """Return the offsets of each distance condition."""
    reach = int(np.ceil(design.far_px + design.distance_tolerance_px))
    steps = np.arange(-reach, reach + 1)
    dy, dx = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    distance = np.hypot(dx, dy)
    rings = []
    middles = (design.close_px, design.far_px)
    for condition, middle in zip(DISTANCE_CONDITIONS, middles, strict=True):
        near = np.flatnonzero(np.abs(distance - middle) <= design.distance_tolerance_px)
        angle = np.arctan2(dy[near], dx[near])
        rings.append(
            _Ring(
                condition=condition,
                dx_px=dx[near],
                dy_px=dy[near],
                distance_bin=(
                    (distance[near] - middle + design.distance_tolerance_px) / design.match_px
                ).astype(int),
                elevation=_count_elevation(dy[near] / distance[near], design),
                sector=((angle + np.pi) / (2 * np.pi) * N_SECTORS).astype(int) % N_SECTORS,
            )
        )
    return tuple(rings)


def _count_elevation(sine: np.ndarray, design: Design) -> np.ndarray:
    """Return the step of elevation of each direction; all alike if directions aren't matched."""
    if not design.match_direction_deg:
        return np.zeros(len(sine), dtype=int)
    elevation_deg = np.rad2deg(np.arcsin(sine)) + 90
    return (elevation_deg / design.match_direction_deg).astype(int)


def _place_from(
    search: _Search, *, row: int, column: int, rng: np.random.Generator
) -> tuple[Display, ...] | Reason:
    """Return the four displays with one first dot, or what is lacking."""
    first = int(search.padded[row, column])
    here = row * search.padded.shape[1] + column
    seconds = search.partners[first]
    around: dict[DistanceCondition, np.ndarray] = {}
    # Far places are lacking more often, so they are looked for first.
    for ring, flat in zip(search.rings[::-1], search.flat[::-1], strict=True):
        around[ring.condition] = search.padded.ravel()[here + flat]
        counts = np.bincount(around[ring.condition], minlength=len(search.object_ids))
        seconds = seconds & (counts > 0)
        if not seconds.any():
            return LACKING[False, ring.condition]
        if not counts[first]:
            return LACKING[True, ring.condition]
    for second in rng.permutation(np.flatnonzero(seconds)):
        matched = [
            _match_pair(ring, around[ring.condition], pair=(first, int(second)), rng=rng)
            for ring in search.rings
        ]
        chosen = [pair for pair in matched if pair is not None]
        if len(chosen) == len(matched):
            return _make_displays(
                search, row=row, column=column, objects=(first, int(second)), chosen=chosen
            )
    return "distances can't be matched"


def _match_pair(
    ring: _Ring, found: np.ndarray, *, pair: tuple[int, int], rng: np.random.Generator
) -> tuple[int, int] | None:
    """Draw the same and the different dot's place in the ring: one distance, elevations alike.

    Of all combinations of a distance bin and two elevations that have places, one with the least
    difference in elevation is drawn.
    """
    same, different = (np.flatnonzero(found == number) for number in pair)
    has_same, has_different = (_map_places(ring, places) for places in (same, different))
    both = has_same[:, :, None] & has_different[:, None, :]
    if not both.any():
        return None
    steps = np.arange(both.shape[1])
    cost = np.where(both, np.abs(steps[:, None] - steps[None, :]), len(steps))
    distance, *elevations = rng.choice(np.argwhere(cost == cost.min()))
    chosen = [
        places[(ring.distance_bin[places] == distance) & (ring.elevation[places] == elevation)]
        for places, elevation in zip((same, different), elevations, strict=True)
    ]
    return _draw_direction(ring, chosen[0], rng), _draw_direction(ring, chosen[1], rng)


def _map_places(ring: _Ring, places: np.ndarray) -> np.ndarray:
    """Return which distance bins (rows) and elevations (columns) have a place."""
    has_place = np.zeros((ring.distance_bin.max() + 1, ring.elevation.max() + 1), dtype=bool)
    has_place[ring.distance_bin[places], ring.elevation[places]] = True
    return has_place


def _draw_direction(ring: _Ring, places: np.ndarray, rng: np.random.Generator) -> int:
    """One of the places: a direction evenly among those there are, then a place in it."""
    sectors = ring.sector[places]
    sector = rng.choice(np.unique(sectors))
    return int(rng.choice(places[sectors == sector]))


def _make_displays(
    search: _Search,
    *,
    row: int,
    column: int,
    objects: tuple[int, int],
    chosen: list[tuple[int, int]],
) -> tuple[Display, ...]:
    """Return the displays in the order of `CELLS`."""
    x_px, y_px = column - search.pad_px + 0.5, row - search.pad_px + 0.5
    displays = []
    for same_object, condition in CELLS:
        k = 0 if condition == "close" else 1
        place = chosen[k][0 if same_object else 1]
        displays.append(
            Display(
                same_object=same_object,
                distance_condition=condition,
                dot1_x_px=x_px,
                dot1_y_px=y_px,
                dot2_x_px=float(x_px + search.rings[k].dx_px[place]),
                dot2_y_px=float(y_px + search.rings[k].dy_px[place]),
                object1_id=int(search.object_ids[objects[0]]),
                object2_id=int(search.object_ids[objects[0 if same_object else 1]]),
            )
        )
    return tuple(displays)
