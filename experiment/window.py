"""The real screen: a PsychoPy window that shows, reads back, and says when each flip happened.

One of the modules that import PsychoPy. Times are those of PsychoPy's default clock, on which both
flips and keys are timed.
"""

import gc
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from experiment.config import SessionConfig
from experiment.endings import SessionAborted
from experiment.pictures import Picture, Pictures
from experiment.screen import Display
from stimuli.errors import InputError

# Share of the window that words may fill, and lines of words on a screen.
_TEXT_WIDTH = 0.85
_TEXT_LINES = 30
_TEXT_RGB = (245, 245, 245)
# Wake up this long before a paced flip is due, and wait the rest busily.
_SPIN_S = 0.0005


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSizes:
    """Sizes in pixels, width and height: asked for, of the window, of the frame buffer behind it."""

    requested: tuple[int, int]
    window: tuple[int, int]
    frame_buffer: tuple[int, int]


def require_display() -> None:
    """Raise where no window can be opened at all.

    PsychoPy's keyboard ends the whole program with a segmentation fault on Linux without an X
    display, so this is asked before it is imported.

    Raises
    ------
    InputError
        Linux without a display.
    """
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise InputError(
            "there is no display (the variable DISPLAY is empty). Start the session from the desktop "
            "of the lab's computer; for a trial run without one, use --simulate --no-window, or "
            "xvfb-run"
        )


def require_psychopy() -> None:
    """Raise with the remedy where PsychoPy isn't installed.

    Raises
    ------
    InputError
        No PsychoPy.
    """
    try:
        import psychopy  # noqa: F401 (asked for, not used)
    except ImportError as error:
        raise InputError(
            f"PsychoPy can't be imported ({error}); install it with: pip install '.[experiment]'"
        ) from None


def count_screens() -> int:
    """Return how many screens the operating system offers."""
    import pyglet

    return len(pyglet.canvas.get_display().get_screens())


class WindowStage:
    """A PsychoPy window.

    Parameters
    ----------
    display
        The calibrated display.
    config
        Background, tone.
    font, direction
        Of the words.
    """

    def __init__(
        self,
        display: Display,
        *,
        config: SessionConfig,
        font: str = "DejaVu Sans",
        direction: str = "LTR",
    ) -> None:
        require_display()
        require_psychopy()
        from psychopy import logging, monitors, visual

        logging.console.setLevel(logging.ERROR)
        monitor = monitors.Monitor(display.name, display.width_cm, display.distance_cm)
        monitor.setSizePix((display.width_px, display.height_px))
        self.display = display
        self.refresh_hz = float(display.refresh_hz)
        self.is_paced = display.is_paced
        self._clock = logging.defaultClock
        self._visual = visual
        self._font, self._direction = font, direction
        self._window: Any = visual.Window(
            size=(display.width_px, display.height_px),
            screen=display.screen,
            fullscr=display.is_fullscreen,
            monitor=monitor,
            units="pix",
            color=config.background_rgb,
            colorSpace="rgb255",
            allowGUI=not display.is_fullscreen,
            winType="pyglet",
            allowStencil=False,
            checkTiming=False,
            waitBlanking=True,
            autoLog=False,
        )
        self._window.mouseVisible = False
        self._tone, self.tone_trouble = _make_tone(config)
        self._texts: dict[str, Any] = {}
        self._stimuli: dict[str, list[Any]] = {}
        self._due_s = 0.0
        # A collection in the middle of a trial takes long enough to drop a frame.
        gc.freeze()
        gc.disable()

    @property
    def window(self) -> Any:  # noqa: ANN401 (PsychoPy has no types)
        """The PsychoPy window, for the tracker."""
        return self._window

    @property
    def sizes(self) -> WindowSizes:
        """What was asked for and what came of it."""
        window, buffer = self._window.size, self._window.frameBufferSize
        return WindowSizes(
            requested=(self.display.width_px, self.display.height_px),
            window=(int(window[0]), int(window[1])),
            frame_buffer=(int(buffer[0]), int(buffer[1])),
        )

    def load(self, pictures: Pictures | None) -> None:
        """Bring a display's pictures to the graphics card, and tidy memory while nothing is timed."""
        self._unload()
        gc.collect()
        if pictures is None:
            return
        self._stimuli = {
            "image": [self._make_stimulus(pictures.image)],
            "on blank": [self._make_stimulus(patch) for patch in pictures.dots_on_blank],
            "on image": [self._make_stimulus(patch) for patch in pictures.dots_on_image],
        }

    def draw_first_dot(self) -> None:
        """Draw the central dot on the blank."""
        self._stimuli["on blank"][0].draw()

    def draw_both_dots(self) -> None:
        """Draw both dots on the blank."""
        for stimulus in self._stimuli["on blank"]:
            stimulus.draw()

    def draw_image(self, *, with_dots: bool) -> None:
        """Draw the image, with the dots or without."""
        self._stimuli["image"][0].draw()
        if with_dots:
            for stimulus in self._stimuli["on image"]:
                stimulus.draw()

    def draw_text(self, text: str) -> None:
        """Draw words in the middle."""
        if text not in self._texts:
            self._texts = {text: self._make_text(text)}
        self._texts[text].draw()

    def flip(self) -> float:
        """Show what was drawn; return when, on the session clock."""
        if self.is_paced:
            self._wait_for_due_time()
        flipped_s = self._window.flip()
        if self._window.winHandle.has_exit:
            raise SessionAborted("window closed")
        return float(flipped_s)

    def now(self) -> float:
        """Return the time on the session clock."""
        return float(self._clock.getTime())

    def grab(self) -> np.ndarray:
        """Return what was drawn since the last flip, uint8, shape (height, width, 3), from the card."""
        picture = self._window.getMovieFrame(buffer="back")
        self._window.movieFrames = []
        return np.asarray(picture.convert("RGB"))

    def time_flips(self, n_flips: int, *, is_paced: bool) -> list[float]:
        """Return the times of empty flips, held back by the program or not."""
        before, self.is_paced = self.is_paced, is_paced
        try:
            return [self.flip() for _ in range(n_flips)]
        finally:
            self.is_paced = before

    def play_tone(self) -> None:
        """Sound the error tone; silent where there is no sound."""
        if self._tone is not None:
            self._tone.stop()
            self._tone.play()

    def close(self) -> None:
        """Close the window."""
        gc.enable()
        gc.unfreeze()
        self._unload()
        self._window.close()

    def _wait_for_due_time(self) -> None:
        period_s = 1 / self.display.refresh_hz
        now_s = self.now()
        if now_s > self._due_s + period_s:
            self._due_s = now_s
        if self._due_s - now_s > _SPIN_S:
            time.sleep(self._due_s - now_s - _SPIN_S)
        while self.now() < self._due_s:
            pass
        self._due_s += period_s

    def _make_stimulus(self, picture: Picture) -> Any:  # noqa: ANN401 (PsychoPy has no types)
        """Return a stimulus; a PIL image is shown exactly, the right way up, pixel for pixel."""
        height, width = picture.pixels.shape[:2]
        window_width, window_height = self._window.size
        return self._visual.ImageStim(
            self._window,
            image=Image.fromarray(picture.pixels),
            units="pix",
            size=(width, height),
            pos=(
                picture.left_px + width / 2 - window_width / 2,
                window_height / 2 - picture.top_px - height / 2,
            ),
            interpolate=False,
            autoLog=False,
        )

    def _make_text(self, text: str) -> Any:  # noqa: ANN401 (PsychoPy has no types)
        width_px, height_px = self._window.size
        return self._visual.TextStim(
            self._window,
            text=text,
            font=self._font,
            languageStyle=self._direction,
            height=height_px / _TEXT_LINES,
            wrapWidth=_TEXT_WIDTH * width_px,
            color=_TEXT_RGB,
            colorSpace="rgb255",
            autoLog=False,
        )

    def _unload(self) -> None:
        for stimuli in self._stimuli.values():
            for stimulus in stimuli:
                stimulus.clearTextures()
        self._stimuli = {}


def _make_tone(config: SessionConfig) -> tuple[Any, str | None]:
    """Return the error tone, or None and why there is no sound."""
    if config.tone_s == 0 or not config.tone_outcomes:
        return None, "no tone is configured"
    if not _has_sound_output():
        return None, "no sound: this computer has no audio output"
    try:
        from psychopy import sound

        return sound.Sound(config.tone_hz, secs=config.tone_s, stereo=True), None
    except Exception as error:  # noqa: BLE001 (psychtoolbox raises bare Exception without a device)
        return None, f"no sound: {str(error).strip().splitlines()[-1]}"


def _has_sound_output() -> bool:
    """Ask quietly, where it can be asked: psychtoolbox prints pages when there is none."""
    if sys.platform.startswith("linux") and not any(Path("/proc/asound").glob("card[0-9]*")):
        return False
    try:
        import sounddevice
    except (ImportError, OSError):
        return True
    return any(device["max_output_channels"] > 0 for device in sounddevice.query_devices())
