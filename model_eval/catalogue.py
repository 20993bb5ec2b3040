"""The models that the field compares, as a table: what they were trained on, for what, by whom's leave.

`data/models.csv`; licence, stride and size are those that timm states for the weights. iBOT and MoCo v3
have no timm weights; their checkpoints load as ``checkpoint:vit_base_patch16_224=FILE``.
"""

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series

import data
from model_eval.card import ABOUT_NAMES, About
from stimuli.table_io import read_table


class Catalogue(pa.DataFrameModel):
    """One row is one pretrained model of timm."""

    name: Series[str] = pa.Field(unique=True, description="as `objecthood evaluate` takes it")
    family: Series[str] = pa.Field(description="the published model")
    objective: Series[str] = pa.Field(description="what it was trained for")
    training_data: Series[str] = pa.Field(description="on which images")
    year: Series[int] = pa.Field(ge=2010, le=2100, description="of publication")
    licence: Series[str] = pa.Field(description="of the weights, as timm states it")
    stride_px: Series[int] = pa.Field(gt=0, description="patch size, or a CNN's coarsest stride")
    size_px: Series[int] = pa.Field(gt=0, description="the square that it was trained with")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


def find_about(name: str) -> About:
    """Return what the catalogue says of a model by its full timm name; nothing where it isn't in it."""
    rows: list[dict[str, Any]] = read_catalogue().to_dict("records")  # type: ignore[assignment]
    found = {row["name"]: {key: row[key] for key in ABOUT_NAMES} for row in rows}
    return About(**found.get(name, {}))


@cache
def read_catalogue() -> pd.DataFrame:
    """Return the catalogue, valid under `Catalogue`."""
    return read_table(Path(str(data.__file__)).parent / "models.csv", Catalogue)
