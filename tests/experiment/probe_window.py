"""Opens windows, draws displays, and measures what lies in the frame buffer. Run by test_display."""

import csv
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from experiment.config import PUBLISHED_SESSION
from experiment.measure import find_dots
from experiment.pictures import compose_pictures, flatten
from experiment.screen import place_image, read_display
from experiment.window import WindowStage

WINDOWS = ((640, 480), (1024, 768), (1501, 901))
IMAGES = ((500, 375), (301, 448))


def main(out):
    rng = np.random.default_rng(0)
    rows = []
    for width, height in WINDOWS:
        display = replace(
            read_display("virtual"), width_px=width, height_px=height, width_cm=36.6 * width / 950
        )
        stage = WindowStage(display, config=replace(PUBLISHED_SESSION, tone_s=0))
        rows += [probe(stage, size, rng) for size in IMAGES]
        stage.close()
    with Path(out).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def probe(stage, size, rng):
    config, display = PUBLISHED_SESSION, stage.display
    pixels = rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    dots = ((size[0] / 2 + 3.5, size[1] / 2 - 2.5), (size[0] / 2 - 103.25, size[1] / 2 + 14.5))
    placement = place_image(*size, display=display, image_px_per_degree=config.image_px_per_degree)
    pictures = compose_pictures(
        pixels,
        dots,
        placement=placement,
        style=config.dot_style,
        background_rgb=config.background_rgb,
    )
    stage.load(pictures)
    stage.draw_both_dots()
    frame = stage.grab()
    stage.flip()
    stage.draw_image(with_dots=True)
    on_image = stage.grab()
    stage.flip()
    expected = np.array([placement.to_window(*dot) for dot in dots])
    found = find_dots(frame, expected, style=config.dot_style, placement=placement)
    wanted = flatten(
        (pictures.image, *pictures.dots_on_image),
        width_px=display.width_px,
        height_px=display.height_px,
        background_rgb=config.background_rgb,
    )
    return {
        "window": stage.sizes.window,
        "frame_buffer": stage.sizes.frame_buffer,
        "image": size,
        "largest_error_px": np.inf if found is None else np.hypot(*(found - expected).T).max(),
        "largest_difference": np.abs(wanted.astype(int) - on_image).max(),
    }


if __name__ == "__main__":
    main(sys.argv[1])
