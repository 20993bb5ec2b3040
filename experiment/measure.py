"""Measures what the checks judge, with an open window."""

import time
from collections.abc import Callable

import numpy as np

from experiment.checks import (
    INJECTOR_JITTER_S,
    Check,
    check_colours,
    check_dots,
    check_flips_block,
    check_injected_rt,
    check_keyboard,
    check_keys_seen,
    check_refresh,
    check_screen_exists,
    check_sizes,
    check_sound,
    check_steady,
    measure_refresh_hz,
)
from experiment.config import SessionConfig
from experiment.inject import open_injector
from experiment.keys import Keys
from experiment.pictures import Pictures, compose_pictures, flatten
from experiment.screen import Placement, place_image
from experiment.window import WindowStage, count_screens
from stimuli.dots import DotStyle

N_FLIPS = 120
# A key is injected this long after a flip.
INJECTED_RT_S = 0.5
# The test picture, in image pixels, and its dots.
_TEST_SIZE = (640, 480)
_TEST_DOTS = ((322.5, 238.5), (426.5, 240.5))


def measure_display(
    stage: WindowStage, *, config: SessionConfig, n_flips: int = N_FLIPS
) -> list[Check]:
    """Return the checks of the screen, and set the stage's measured refresh."""
    display = stage.display
    stage.time_flips(10, is_paced=False)  # the first flips after opening are slow
    raw = stage.time_flips(n_flips, is_paced=False)
    paced = stage.time_flips(n_flips, is_paced=True) if display.is_paced else raw
    measured_hz = measure_refresh_hz(paced)
    stage.refresh_hz = measured_hz
    found, expected, difference = find_test_dots(stage, config)
    return [
        check_screen_exists(display, n_screens=count_screens()),
        check_sizes(stage.sizes),
        check_flips_block(raw, display),
        check_refresh(measured_hz, display, tolerance_hz=config.refresh_tolerance_hz),
        check_steady(paced, display, dropped_ratio=config.dropped_frame_ratio),
        check_dots(found, expected),
        check_colours(difference),
        check_sound(stage.tone_trouble),
    ]


def find_test_dots(
    stage: WindowStage, config: SessionConfig
) -> tuple[np.ndarray | None, np.ndarray, int]:
    """Draw a test picture and find its dots in the frame buffer.

    Returns
    -------
    found, expected : float arrays, shape (2, 2)
        Window pixels; `found` is None when a dot isn't there.
    largest_difference : int
        Between the frame buffer and the picture, 0 to 255.
    """
    display = stage.display
    placement = place_image(
        *_TEST_SIZE, display=display, image_px_per_degree=config.image_px_per_degree
    )
    pictures = make_test_pictures(placement, config)
    stage.load(pictures)
    stage.draw_both_dots()
    on_blank = stage.grab()
    stage.flip()
    stage.draw_image(with_dots=True)
    on_image = stage.grab()
    stage.flip()
    expected = np.array([placement.to_window(*dot) for dot in _TEST_DOTS])
    found = find_dots(on_blank, expected, style=config.dot_style, placement=placement)
    wanted = flatten(
        (pictures.image, *pictures.dots_on_image),
        width_px=display.width_px,
        height_px=display.height_px,
        background_rgb=config.background_rgb,
    )
    is_same_size = wanted.shape == on_image.shape
    difference = int(np.abs(wanted.astype(int) - on_image).max()) if is_same_size else 255
    return found, expected, difference


def make_test_pictures(placement: Placement, config: SessionConfig) -> Pictures:
    """Return a coloured test picture with two dots."""
    width, height = _TEST_SIZE
    rows, columns = np.mgrid[0:height, 0:width]
    pixels = np.stack([columns % 256, rows % 256, (rows + columns) % 200], axis=-1)
    return compose_pictures(
        pixels.astype(np.uint8),
        _TEST_DOTS,
        placement=placement,
        style=config.dot_style,
        background_rgb=config.background_rgb,
    )


def find_dots(
    frame: np.ndarray, expected_xy: np.ndarray, *, style: DotStyle, placement: Placement
) -> np.ndarray | None:
    """Return the centres of the dots on a blank frame, found by colour near where they should be.

    Parameters
    ----------
    frame : uint8 array, shape (height, width, 3)
        A frame buffer with dots on a blank.
    expected_xy : float array, shape (n_dots, 2)
        Window pixels.
    style, placement
        The dot in image pixels, and the scale.

    Returns
    -------
    float array, shape (n_dots, 2), or None
        Centroids of the dots' pixels; None when one has fewer than half the pixels it should.
    """
    is_dot = np.zeros(frame.shape[:2], dtype=bool)
    for colour in (style.colour, style.core_colour):
        is_dot |= np.abs(frame.astype(int) - np.array(colour)).max(axis=-1) <= 40
    radius = style.radius_px * (placement.scale_x + placement.scale_y) / 2
    rows, columns = np.nonzero(is_dot)
    found = []
    for x, y in expected_xy:
        is_near = np.hypot(columns + 0.5 - x, rows + 0.5 - y) <= 2 * radius
        if is_near.sum() < np.pi * radius**2 / 2:
            return None
        found.append([columns[is_near].mean() + 0.5, rows[is_near].mean() + 0.5])
    return np.array(found)


def measure_keys(
    stage: WindowStage,
    keys: Keys,
    *,
    config: SessionConfig,
    prompt: Callable[[str], str],
    limit_s: float = 30.0,
) -> list[Check]:
    """Return the checks of the keys: both pressed by somebody, and one injected.

    Parameters
    ----------
    prompt
        Returns the words that ask for a key.
    limit_s
        How long to wait for each key.
    """
    wanted = config.response_keys
    seen = [
        key for key in wanted if _wait_for(stage, keys, key=key, text=prompt(key), limit_s=limit_s)
    ]
    return [
        check_keyboard(keys.device.name),
        check_keys_seen(seen, wanted),
        check_injected_rt(measure_injected_rt(stage, keys, config=config), stage.display),
    ]


def measure_injected_rt(stage: WindowStage, keys: Keys, *, config: SessionConfig) -> float | None:
    """Return how far the RT of an injected key is off; None where none can be injected."""
    injector = open_injector()
    if injector is None or config.gamepad_buttons is not None:
        return None
    key = config.keys[0]
    try:
        onset_s = stage.flip()
        while stage.now() < onset_s + INJECTED_RT_S or keys.find_held((key,)):
            keys.poll()  # whatever somebody presses meanwhile
            time.sleep(0.0002)
        injected_s = stage.now()
        injector.press(key)
        give_up_s = injected_s + 1.0
        while stage.now() < give_up_s:
            stage.flip()
            for press in keys.poll():
                if press.key == key and press.time_s >= injected_s - INJECTOR_JITTER_S:
                    return (press.time_s - onset_s) - (injected_s - onset_s)
        return float("inf")
    finally:
        injector.release(key)
        injector.close()


def _wait_for(stage: WindowStage, keys: Keys, *, key: str, text: str, limit_s: float) -> bool:
    keys.poll()
    begin_s = stage.now()
    while stage.now() < begin_s + limit_s:
        stage.draw_text(text)
        stage.flip()
        if any(press.key == key for press in keys.poll()):
            return True
    return False
