"""The tables that stimuli write: one row per display, one row per object of a scene."""

from typing import Literal

import pandas as pd
import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series

DistanceCondition = Literal["close", "far"]
DISTANCE_CONDITIONS: tuple[DistanceCondition, ...] = ("close", "far")

# The four cells of the design in reading order, as (same_object, distance_condition).
CELLS: tuple[tuple[bool, DistanceCondition], ...] = (
    (True, "close"),
    (True, "far"),
    (False, "close"),
    (False, "far"),
)
CELL_NAMES = ("same close", "same far", "different close", "different far")


class Trials(pa.DataFrameModel):
    """One row is one display: an image and two dots.

    Pixels are continuous: x right, y down, (0, 0) the outer corner of the top-left pixel, so the
    centre of that pixel is (0.5, 0.5).
    """

    trial_id: Series[str] = pa.Field(unique=True, description="name of the display")
    scene_id: Series[str] = pa.Field(description="the photograph; folds and bootstraps group by it")
    image: Series[str] = pa.Field(
        nullable=True, description="file below images/; empty when the image is not here"
    )
    image_sha256: Series[str] = pa.Field(
        nullable=True, description="hash of the image file's bytes"
    )
    width_px: Series[int] = pa.Field(gt=0, description="image width after EXIF orientation, pixels")
    height_px: Series[int] = pa.Field(
        gt=0, description="image height after EXIF orientation, pixels"
    )
    dot1_x_px: Series[float] = pa.Field(
        ge=0, description="first (central) dot, pixels from the left"
    )
    dot1_y_px: Series[float] = pa.Field(
        ge=0, description="first (central) dot, pixels from the top"
    )
    dot2_x_px: Series[float] = pa.Field(ge=0, description="second dot, pixels from the left")
    dot2_y_px: Series[float] = pa.Field(ge=0, description="second dot, pixels from the top")
    same_object: Series[bool] = pa.Field(description="True: both dots lie on one object")
    distance_condition: Series[str] = pa.Field(
        isin=list(DISTANCE_CONDITIONS), description="close or far, as designed"
    )
    distance_px: Series[float] = pa.Field(gt=0, description="distance between the dots, pixels")
    object1_id: Series[pd.Int64Dtype] = pa.Field(
        nullable=True, ge=1, description="object under the first dot, as numbered in the mask"
    )
    object2_id: Series[pd.Int64Dtype] = pa.Field(
        nullable=True, ge=1, description="object under the second dot, as numbered in the mask"
    )
    list_id: Series[str] = pa.Field(nullable=True, description="counterbalancing list, or practice")
    trials_version: Series[str] = pa.Field(description="version of the trial table")

    class Config(BaseConfig):
        """Extra columns that a source knows are kept; types are coerced."""

        coerce = True

    @pa.dataframe_check(name="dot 1 inside the image")
    def dot1_is_inside(cls, table: pd.DataFrame) -> pd.Series:  # noqa: N805 (pandera's form)
        """Both coordinates below the image's size."""
        return (table["dot1_x_px"] < table["width_px"]) & (table["dot1_y_px"] < table["height_px"])

    @pa.dataframe_check(name="dot 2 inside the image")
    def dot2_is_inside(cls, table: pd.DataFrame) -> pd.Series:  # noqa: N805 (pandera's form)
        """Both coordinates below the image's size."""
        return (table["dot2_x_px"] < table["width_px"]) & (table["dot2_y_px"] < table["height_px"])


class Objects(pa.DataFrameModel):
    """One row is one labelled object of a scene that has a mask; 0 in the mask is unlabelled."""

    scene_id: Series[str] = pa.Field(description="the photograph")
    object_id: Series[int] = pa.Field(
        ge=1, description="the object's number in masks/<scene_id>.png"
    )
    category: Series[str] = pa.Field(description="category name, as the source has it")
    is_thing: Series[bool] = pa.Field(description="thing (countable) or stuff")
    is_crowd: Series[bool] = pa.Field(description="a crowd region: several objects as one")
    source_id: Series[str] = pa.Field(nullable=True, description="annotation id in the source")
    area_px: Series[int] = pa.Field(gt=0, description="visible pixels")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


def name_cells(trials: pd.DataFrame) -> pd.Series:
    """Return each trial's cell of the design in words, e.g. "same close"."""
    same = trials["same_object"].map({True: "same", False: "different"})
    return same.astype(str) + " " + trials["distance_condition"].astype(str)
