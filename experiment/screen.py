"""A calibrated display, and where an image and its dots lie on it.

Window pixels are continuous like image pixels: x right, y down, (0, 0) the outer corner of the
window's top-left pixel. An image is centred in the window, at its own aspect; its size in degrees is
its size in pixels over the configuration's `image_px_per_degree`, whatever the display.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from stimuli.errors import InputError
from stimuli.table_io import name_some

DISPLAYS_FILE = "displays.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """A monitor as somebody measured it.

    Attributes
    ----------
    name
        What the lab calls it.
    width_px, height_px
        Size of the window; of the whole screen when `is_fullscreen`.
    width_cm
        Width of those pixels on the glass, measured with a ruler.
    distance_cm
        From the eye to the glass.
    refresh_hz
        As set in the operating system.
    screen
        Which screen, counted from 0.
    is_fullscreen
        False opens a window of that size.
    is_paced
        Flips are held back to `refresh_hz` by the program itself, for virtual screens whose flips
        don't block. Never for measurements: the check that flips block then fails.
    """

    name: str
    width_px: int
    height_px: int
    width_cm: float
    distance_cm: float
    refresh_hz: float
    screen: int = 0
    is_fullscreen: bool = True
    is_paced: bool = False

    def __post_init__(self) -> None:
        for item in ("width_px", "height_px", "width_cm", "distance_cm", "refresh_hz"):
            value = getattr(self, item)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not value > 0:
                raise InputError(
                    f"display {self.name!r}: {item} is {value!r}; expected a number above 0"
                )
        if not isinstance(self.screen, int) or self.screen < 0:
            raise InputError(
                f"display {self.name!r}: screen is {self.screen!r}; expected 0 for the first, "
                "1 for the second"
            )

    @property
    def px_per_degree(self) -> float:
        """Pixels of one degree of visual angle at the centre of the screen."""
        return self.distance_cm * math.tan(math.radians(1)) * self.width_px / self.width_cm


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where an image lies in the window: whole window pixels, and the scale on either axis.

    Attributes
    ----------
    left_px, top_px
        The image's top-left corner in the window.
    width_px, height_px
        The image's size in the window.
    scale_x, scale_y
        Window pixels per image pixel.
    """

    left_px: int
    top_px: int
    width_px: int
    height_px: int
    scale_x: float
    scale_y: float

    def to_window(self, x_px: float, y_px: float) -> tuple[float, float]:
        """Return the window coordinates of a place in the image."""
        return self.left_px + x_px * self.scale_x, self.top_px + y_px * self.scale_y


def place_image(
    width_px: int, height_px: int, *, display: Display, image_px_per_degree: float
) -> Placement:
    """Return where an image of that size lies in the window.

    Raises
    ------
    InputError
        The image is larger than the window.
    """
    scale = display.px_per_degree / image_px_per_degree
    shown_width, shown_height = round(width_px * scale), round(height_px * scale)
    if shown_width > display.width_px or shown_height > display.height_px:
        raise InputError(
            f"display {display.name!r}: an image of {width_px}x{height_px} px takes "
            f"{shown_width}x{shown_height} of its {display.width_px}x{display.height_px} pixels at "
            f"{image_px_per_degree:.1f} image pixels per degree. Sit further away, use a larger "
            "display, or raise image_px_per_degree in the configuration"
        )
    return Placement(
        left_px=(display.width_px - shown_width) // 2,
        top_px=(display.height_px - shown_height) // 2,
        width_px=shown_width,
        height_px=shown_height,
        scale_x=shown_width / width_px,
        scale_y=shown_height / height_px,
    )


def read_display(source: str, *, name: str | None = None) -> Display:
    """Return a display from a YAML file, or one of those that come with the program.

    Parameters
    ----------
    source
        A YAML file that maps names to displays, or the name of a display in ``data/displays.yaml``.
    name
        Which display of the file; may be left out when it holds one.

    Raises
    ------
    InputError
        No such file or display, or a faulty entry.
    """
    path = Path(source)
    if path.suffix in {".yaml", ".yml"} or path.is_file():
        if not path.is_file():
            raise InputError(
                f"{path}: no such file; write the display down as in docs/experiment.md"
            )
        return _choose(_parse(path.read_text(encoding="utf-8"), path), name, source=str(path))
    known = _parse((files("data") / DISPLAYS_FILE).read_text(encoding="utf-8"), Path(DISPLAYS_FILE))
    return _choose(known, source, source=f"{DISPLAYS_FILE} of the program")


def _parse(text: str, path: Path) -> dict[str, Display]:
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML ({error})") from None
    if not isinstance(content, Mapping) or not content:
        raise InputError(f"{path}: expected names of displays, each with its fields below it")
    return {str(name): _make_display(str(name), entry, path) for name, entry in content.items()}


def _make_display(name: str, entry: Any, path: Path) -> Display:  # noqa: ANN401 (YAML holds anything)
    if not isinstance(entry, Mapping):
        raise InputError(f"{path}: display {name!r} has no fields; give width_px and so on")
    known = {item.name for item in fields(Display)} - {"name"}
    unknown = sorted(str(key) for key in set(entry) - known)
    if unknown:
        raise InputError(
            f"{path}: display {name!r} has no field {name_some(unknown)}; known: "
            f"{', '.join(sorted(known))}"
        )
    try:
        return Display(name=name, **entry)
    except TypeError as error:
        raise InputError(f"{path}: display {name!r}: {error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _choose(displays: dict[str, Display], name: str | None, *, source: str) -> Display:
    if name is None and len(displays) == 1:
        return next(iter(displays.values()))
    if name is None:
        raise InputError(
            f"{source} holds {len(displays)} displays ({name_some(displays)}); name one with "
            "--display-name"
        )
    if name not in displays:
        raise InputError(f"{source} has no display {name!r}; it has {name_some(displays)}")
    return displays[name]
