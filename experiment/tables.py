"""The table that a session writes: one row per presentation to one person."""

from typing import Literal

import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series

Outcome = Literal["correct", "wrong", "timeout", "early", "gaze_break", "aborted"]
OUTCOMES: tuple[Outcome, ...] = ("correct", "wrong", "timeout", "early", "gaze_break", "aborted")
RESPONSES = ("same", "different")


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

    class Config(BaseConfig):
        """Extra columns (position, block, onsets, frames, keyboard) are kept; types are coerced."""

        coerce = True
