"""What the papers report, as they report it: shown beside the board, never computed, never ranked."""

from pathlib import Path

import pandas as pd
import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series

from stimuli.table_io import read_table

PUBLISHED_SCORES = Path(__file__).parents[1] / "data" / "published_scores.csv"
# The benchmark that the published numbers are of.
REPORTED_BENCHMARK = "adeli2023"

CITATIONS = {
    "adeli2023": "Adeli et al. 2023, arXiv 2306.00294",
    "adeli2026": "Adeli, Ahn, Luo, Zhang, Kriegeskorte, Zelinsky 2026, arXiv 2603.13994",
}


class PublishedScores(pa.DataFrameModel):
    """One row is one number that a paper reports; family, objective and year are ours."""

    model: Series[str] = pa.Field(description="the model, as the paper calls it")
    family: Series[str] = pa.Field(description="our name of its family")
    objective: Series[str] = pa.Field(nullable=True, description="our name of its objective")
    year: Series[pd.Int64Dtype] = pa.Field(nullable=True, description="the model's first paper")
    readout: Series[str] = pa.Field(description="what was read out")
    quantity: Series[str] = pa.Field(description="what the number is")
    value: Series[str] = pa.Field(
        str_matches=r"^-?\d+(\.\d+)?$", description="as printed, with all its digits"
    )
    citation: Series[str] = pa.Field(isin=list(CITATIONS), description="the paper")
    place: Series[str] = pa.Field(description="figure or table")
    note: Series[str] = pa.Field(description="how it was computed, in words")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


def read_reported(benchmark: str, *, path: Path = PUBLISHED_SCORES) -> pd.DataFrame:
    """Return what papers report about a benchmark; no rows for any but the published one.

    Raises
    ------
    TableError
        The table breaks its schema.
    """
    table = read_table(path, PublishedScores)
    return table if benchmark == REPORTED_BENCHMARK else table.head(0)
