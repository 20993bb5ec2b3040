"""The design of the displays: every parameter of where dots may lie, with its reason.

One first dot near the image's centre; four second dots, same or different object by close or far, at
distances that are matched between same and different (Adeli 2023, 2026; methods 1.1). The default
is the published design; what the sources don't say is ours, and says so.
"""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from stimuli.errors import InputError
from stimuli.table_io import name_some, read_json, write_json

SecondObject = Literal["thing", "any"]
SecondCategory = Literal["any", "same", "different"]
Relation = Literal["touching", "occluding", "any"]
_CHOICES: dict[str, tuple[str, ...]] = {
    "second_object": ("thing", "any"),
    "second_category": ("any", "same", "different"),
    "relation": ("touching", "occluding", "any"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Where the dots of a display may lie.

    Lengths are image pixels unless the name says otherwise; margins are in units of the dot's radius.
    """

    # Distance of the second dot: 97..112 and 197..212 px in the published table [data], that is
    # 3 and 6 degrees at 34 px per degree [paper].
    close_px: float = 104.5
    far_px: float = 204.5
    distance_tolerance_px: float = 7.5
    # Largest difference between the distances of same and different in one scene. The published
    # table reaches 14 px [data]; ours is stricter, so that distance can't tell them apart.
    match_px: float = 1.0
    # Steps of direction within which same and different are matched, left and right alike, as far as
    # the objects allow; 0: not at all. Ours: the published displays differ in direction [data].
    match_direction_deg: float = 15.0
    # The first dot lies within 26 px of the image's centre in the published table [data].
    first_dot_within_px: float = 26.0
    # Step of the search for the first dot, nearest the centre first (ours; published mean offset
    # is 7 px [data]).
    search_step_px: int = 4
    # Dot: a disc of 8 px radius [paper, code].
    dot_radius_px: float = 8.0
    # Other objects keep a dot's radius from its centre: 8 px is the least in the published displays
    # whose masks we have [data] ...
    object_margin_radii: float = 1.0
    # ... and in the image: 9 px is the least in the published table [data].
    image_margin_radii: float = 1.125
    # An object smaller than this is not used (ours: five dots' area).
    min_object_area_px: int = 1000
    # The first object is a thing; the second is a thing, or anything labelled ("any").
    second_object: SecondObject = "thing"
    # The second object's category against the first's.
    second_category: SecondCategory = "any"
    # The second object touches the first [paper: "overlaps or touches"], stands in front of it
    # where they meet ("occluding"), or may be anywhere ("any").
    relation: Relation = "touching"
    # Objects that are this many unlabelled pixels apart still touch: annotators leave gaps (ours).
    touch_gap_px: int = 2
    # The display that distances in degrees are stated for: 1024 px over 30 degrees [paper].
    px_per_degree: float = 1024 / 30

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(
                    f"design: {name} is {getattr(self, name)!r}; expected one of {name_some(choices)}"
                )
        self._check_lengths()

    def _check_lengths(self) -> None:
        positive = ("close_px", "dot_radius_px", "match_px", "px_per_degree", "search_step_px")
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, str):
                continue
            if not value >= 0 or (item.name in positive and value == 0):
                raise InputError(f"design: {item.name} is {value}; expected a positive number")
        if self.close_px - self.distance_tolerance_px < 2 * self.dot_radius_px:
            raise InputError(
                f"design: close dots may lie {self.close_px - self.distance_tolerance_px:g} px apart, "
                f"less than two dot radii ({2 * self.dot_radius_px:g} px); one would cover the other"
            )
        if self.far_px - self.close_px < 2 * self.distance_tolerance_px:
            raise InputError(
                f"design: far_px {self.far_px:g} and close_px {self.close_px:g} overlap with a "
                f"tolerance of {self.distance_tolerance_px:g} px; move them apart"
            )

    @property
    def object_margin_px(self) -> float:
        """Least distance of a dot's centre from its object's border."""
        return self.object_margin_radii * self.dot_radius_px

    @property
    def image_margin_px(self) -> float:
        """Least distance of a dot's centre from the image's border."""
        return self.image_margin_radii * self.dot_radius_px


PUBLISHED = Design()

# A smaller display, for photographs whose objects are too small for 6 degrees.
SMALLER = Design(close_px=60.0, far_px=120.0, first_dot_within_px=60.0, second_object="any")

# The demo's scenes are half as large, so its displays are too.
DEMO_DESIGN = Design(
    close_px=40.0,
    far_px=80.0,
    distance_tolerance_px=5.0,
    first_dot_within_px=24.0,
    dot_radius_px=4.0,
    min_object_area_px=300,
    px_per_degree=512 / 30,
)

DESIGNS = {"default": PUBLISHED, "published": PUBLISHED, "smaller": SMALLER, "demo": DEMO_DESIGN}


def read_design(name_or_path: str) -> Design:
    """Return a named design, or the one in a JSON file; what the file leaves out is as published.

    Raises
    ------
    InputError
        No such design or file, a parameter that doesn't exist, or a value out of range.
    """
    if name_or_path in DESIGNS:
        return DESIGNS[name_or_path]
    path = Path(name_or_path)
    if not path.is_file():
        raise InputError(f"design {name_or_path!r}: neither a file nor one of {name_some(DESIGNS)}")
    content = read_json(path)
    known = {item.name: item.type for item in fields(Design)}
    unknown = sorted(set(content) - set(known))
    if unknown:
        raise InputError(f"{path}: no parameter {name_some(unknown)}; known: {', '.join(known)}")
    _check_types(content, path)
    try:
        return Design(**content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_design(design: Design, path: Path) -> None:
    """Write the design as JSON, to stand beside what was made with it."""
    write_json(asdict(design), path)


def _check_types(content: dict[str, object], path: Path) -> None:
    for name, value in content.items():
        default = getattr(PUBLISHED, name)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if isinstance(default, str) != isinstance(value, str) or (
            not isinstance(default, str) and not is_number
        ):
            expected = "text" if isinstance(default, str) else "a number"
            raise InputError(f"{path}: {name} is {value!r}; expected {expected}")
        if isinstance(default, int) and isinstance(value, float) and not value.is_integer():
            raise InputError(f"{path}: {name} is {value!r}; expected a whole number")
