"""The table that models write: one value per trial, model, layer, representation and readout.

Light on purpose: `analysis` reads it, and must not import torch.
"""

from typing import Literal

import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series

Kind = Literal["evidence_same", "difficulty", "ease"]
# What a readout's value means for a person's reaction time:
# evidence_same  larger speaks for "same", so easy on same trials and hard on different ones
# difficulty     larger predicts slower, as it stands
# ease           larger predicts faster, as it stands
KINDS: tuple[Kind, ...] = ("evidence_same", "difficulty", "ease")


class Readouts(pa.DataFrameModel):
    """One row is one trial as read out of one layer of one model."""

    model: Series[str] = pa.Field(description="the model's name, with its source")
    layer: Series[str] = pa.Field(nullable=True, description="block or stage, counted from 0")
    representation: Series[str] = pa.Field(
        nullable=True, description="what of the layer: tokens, tokens after the final norm, map"
    )
    readout: Series[str] = pa.Field(description="the statistic, e.g. cosine")
    kind: Series[str] = pa.Field(isin=list(KINDS), description="what a larger value means")
    trial_id: Series[str] = pa.Field(description="the display, as in trials.csv")
    value: Series[float] = pa.Field(description="the readout of that trial; never missing")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


READOUT_KEY = ["model", "layer", "representation", "readout"]


class Skipped(pa.DataFrameModel):
    """One row is something that could not be read of a trial, and why."""

    trial_id: Series[str] = pa.Field(description="the display, as in trials.csv")
    layer: Series[str] = pa.Field(
        nullable=True,
        description="where the reason lies in that layer's grid; empty for all layers",
    )
    readout: Series[str] = pa.Field(description="the readout, or 'all'")
    reason: Series[str] = pa.Field(description="why")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


class SceneStatistics(pa.DataFrameModel):
    """One row is one statistic of one whole scene, over all its labelled objects."""

    model: Series[str] = pa.Field(description="the model's name, with its source")
    layer: Series[str] = pa.Field(description="block or stage, counted from 0")
    representation: Series[str] = pa.Field(description="what of the layer")
    statistic: Series[str] = pa.Field(description="e.g. object_dprime")
    scene_id: Series[str] = pa.Field(description="the photograph")
    value: Series[float] = pa.Field(description="the statistic; never missing")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


class Summaries(pa.DataFrameModel):
    """One row is one statistic of all trials together."""

    model: Series[str] = pa.Field(description="the model's name, with its source")
    layer: Series[str] = pa.Field(description="block or stage, counted from 0")
    representation: Series[str] = pa.Field(description="what of the layer")
    statistic: Series[str] = pa.Field(description="e.g. the area of a published mean curve")
    value: Series[float] = pa.Field(description="the statistic; never missing")
    n_trials: Series[int] = pa.Field(ge=1, description="trials that it is over")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True
