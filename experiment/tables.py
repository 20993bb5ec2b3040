"""The table that a session writes: one row per presentation to one person.

The first columns are what every analysis needs and every importer fills. The others are what this
task records besides; they are optional, so that other labs' tables are valid without them.
"""

from dataclasses import dataclass, fields
from typing import Literal

import pandas as pd
import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series

Outcome = Literal["correct", "wrong", "timeout", "early", "gaze_break", "aborted"]
OUTCOMES: tuple[Outcome, ...] = ("correct", "wrong", "timeout", "early", "gaze_break", "aborted")
Response = Literal["same", "different"]
RESPONSES: tuple[Response, ...] = ("same", "different")


class Responses(pa.DataFrameModel):
    """One row is one presentation of one display to one person."""

    participant_id: Series[str] = pa.Field(description="the person, as text: 007 stays 007")
    session: Series[str] = pa.Field(description="the visit")
    trial_id: Series[str] = pa.Field(description="the display, as in trials.csv")
    is_practice: Series[bool] = pa.Field(description="practice presentations are never analysed")
    outcome: Series[str] = pa.Field(isin=list(OUTCOMES), description="how the presentation ended")
    response: Series[str] = pa.Field(
        nullable=True, isin=list(RESPONSES), description="what the person said; empty: nothing"
    )
    rt_s: Series[float] = pa.Field(
        nullable=True, gt=0, description="seconds from the flip that shows image and dots"
    )
    is_simulated: Series[bool] = pa.Field(description="made by a simulated observer")

    run: Series[int] | None = pa.Field(ge=1, description="1, or higher after a restart")
    list_number: Series[int] | None = pa.Field(ge=1, description="Latin-square list")
    position: Series[int] | None = pa.Field(ge=1, description="place in the planned order")
    presentation: Series[int] | None = pa.Field(
        ge=1, description="1, or higher when the display is shown again"
    )
    block: Series[int] | None = pa.Field(ge=0, description="0 is practice, then from 1")
    key: Series[str] | None = pa.Field(
        nullable=True, description="key pressed; two joined by + when pressed in one frame"
    )
    same_key: Series[str] | None = pa.Field(description='the key that means "same"')
    n_presses: Series[int] | None = pa.Field(
        ge=0, description="response keys pressed during the presentation, repeats not counted"
    )
    held_keys: Series[str] | None = pa.Field(
        nullable=True, description="keys still down from before when the trial began"
    )
    started_at: Series[str] | None = pa.Field(
        description="wall clock at the trial's start, ISO 8601 in UTC"
    )
    fixation_onset_s: Series[float] | None = pa.Field(
        nullable=True, description="flip that shows the central dot, session clock, seconds"
    )
    dots_onset_s: Series[float] | None = pa.Field(
        nullable=True, description="flip that shows both dots, session clock, seconds"
    )
    image_onset_s: Series[float] | None = pa.Field(
        nullable=True, description="flip that shows image and dots, session clock, seconds"
    )
    key_time_s: Series[float] | None = pa.Field(
        nullable=True, description="device's time of the key that ended the trial, session clock"
    )
    end_s: Series[float] | None = pa.Field(
        nullable=True, description="flip that takes the display away, session clock, seconds"
    )
    n_frames: Series[int] | None = pa.Field(ge=0, description="flips of the presentation")
    median_frame_s: Series[float] | None = pa.Field(
        nullable=True, ge=0, description="median interval between flips, seconds"
    )
    longest_frame_s: Series[float] | None = pa.Field(
        nullable=True, ge=0, description="longest interval between flips, seconds"
    )
    n_dropped_frames: Series[int] | None = pa.Field(
        ge=0, description="intervals longer than the configured number of refresh periods"
    )
    is_onset_dropped: Series[pd.BooleanDtype] | None = pa.Field(
        nullable=True, description="the image's own onset came late by a dropped frame"
    )
    refresh_hz: Series[float] | None = pa.Field(gt=0, description="measured refresh")
    keyboard: Series[str] | None = pa.Field(description="what timed the keys: ptb, iohub, …")
    tracker: Series[str] | None = pa.Field(nullable=True, description="gaze tracker; empty: none")
    resumed: Series[bool] | None = pa.Field(description="written after a resume")
    segment: Series[int] | None = pa.Field(ge=0, description="how many resumes came before")
    despite: Series[str] | None = pa.Field(
        nullable=True, description="why the session ran although a check failed"
    )

    class Config(BaseConfig):
        """Other columns are kept; types are coerced."""

        coerce = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRow:
    """A row as a session writes it: `Responses`, every column filled or None for missing."""

    participant_id: str
    session: str
    run: int
    list_number: int
    position: int
    presentation: int
    block: int
    is_practice: bool
    trial_id: str
    outcome: Outcome
    response: str | None
    rt_s: float | None
    key: str | None
    same_key: str
    n_presses: int
    held_keys: str | None
    started_at: str
    fixation_onset_s: float | None
    dots_onset_s: float | None
    image_onset_s: float | None
    key_time_s: float | None
    end_s: float | None
    n_frames: int
    median_frame_s: float | None
    longest_frame_s: float | None
    n_dropped_frames: int
    is_onset_dropped: bool | None
    refresh_hz: float
    keyboard: str
    tracker: str | None
    resumed: bool
    segment: int
    despite: str | None
    is_simulated: bool


ROW_COLUMNS = tuple(item.name for item in fields(ResponseRow))
