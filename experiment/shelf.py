"""The photographs of a session: all looked at before the first trial, each composed when it is due."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from experiment.config import SessionConfig
from experiment.gaze import FixationLimit
from experiment.pictures import Pictures, compose_pictures
from experiment.plan import PlannedTrial, SessionPlan
from experiment.screen import Display, Placement, place_image
from stimuli.benchmark import Benchmark, load_trial_image
from stimuli.errors import InputError
from stimuli.table_io import name_some


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Finds a display's picture on a calibrated screen.

    Attributes
    ----------
    benchmark, practice
        Where test and practice displays come from; often the same.
    """

    benchmark: Benchmark
    practice: Benchmark
    display: Display
    config: SessionConfig

    def check_all(self, plan: SessionPlan, *, on_image: Callable[[], None] = lambda: None) -> None:
        """Raise unless every image of the plan is there, is what the table says, and fits the screen.

        Raises
        ------
        InputError
            Names the displays.
        """
        missing = [trial.trial_id for trial in plan.trials if not self.has_image(trial)]
        if missing:
            raise InputError(
                f"{self.benchmark.folder}: {len(missing)} of {len(plan.trials)} displays have no "
                f"image ({name_some(missing)}); fetch the photographs first ('objecthood data "
                "fetch'), or try the session out with --simulate --no-window"
            )
        for trial in plan.trials:
            row = self._find_row(trial)
            load_trial_image(self._find_benchmark(trial), row)
            self.place(trial)
            on_image()

    def has_image(self, planned: PlannedTrial) -> bool:
        """Return whether the trial table names an image for a display."""
        return bool(pd.notna(self._find_row(planned)["image"]))

    def find_pictures(self, planned: PlannedTrial) -> Pictures:
        """Return the pixels of a display, which has an image."""
        image = load_trial_image(self._find_benchmark(planned), self._find_row(planned))
        return compose_pictures(
            image.pixels,
            planned.dots_xy_px,
            placement=self.place(planned),
            style=self.config.dot_style,
            background_rgb=self.config.background_rgb,
        )

    def find_fixation(self, planned: PlannedTrial) -> FixationLimit:
        """Return where gaze must stay: around the first dot."""
        x_px, y_px = self.place(planned).to_window(*planned.dots_xy_px[0])
        return FixationLimit(
            x_px=x_px,
            y_px=y_px,
            radius_px=self.config.gaze_limit_deg * self.display.px_per_degree,
            loss_s=self.config.gaze_loss_s,
        )

    def place(self, planned: PlannedTrial) -> Placement:
        """Return where a display's image lies in the window."""
        row = self._find_row(planned)
        return place_image(
            int(row["width_px"]),
            int(row["height_px"]),
            display=self.display,
            image_px_per_degree=self.config.image_px_per_degree,
        )

    def _find_benchmark(self, planned: PlannedTrial) -> Benchmark:
        return self.practice if planned.is_practice else self.benchmark

    def _find_row(self, planned: PlannedTrial) -> pd.Series:
        trials = self._find_benchmark(planned).trials
        return trials.loc[trials["trial_id"] == planned.trial_id].iloc[0]
