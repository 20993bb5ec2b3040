"""The code book: every column of every table, written from the schemas themselves."""

import pandera.pandas as pa

from analysis.statistic_tables import Explained, MixedScores
from analysis.tables import Exclusions, Human, Scores
from experiment.tables import Responses
from model_eval.tables import Readouts, SceneStatistics, Skipped, Summaries
from stimuli.tables import Objects, Trials

TABLES: tuple[tuple[str, type[pa.DataFrameModel]], ...] = (
    ("trials.csv", Trials),
    ("objects.csv", Objects),
    ("responses/*.csv", Responses),
    ("human.csv", Human),
    ("exclusions.csv", Exclusions),
    ("readouts/*.parquet", Readouts),
    ("skipped/*.csv", Skipped),
    ("scenes/*.csv", SceneStatistics),
    ("summaries/*.csv", Summaries),
    ("scores (rows of scores/*.json)", Scores),
    ("mixed.csv", MixedScores),
    ("explained.csv", Explained),
)

INTRODUCTION = """# Code book

Written by `objecthood data codebook`; don't edit. UTF-8; ids are text (`007` stays `007`); a missing
value is an empty field. Units stand in the names: `_px` image pixels, continuous, x right, y down,
(0, 0) the outer corner of the top-left pixel; `_s` seconds; `_r` a Spearman correlation, never
squared.
"""


def render_codebook() -> str:
    """Return the code book as Markdown: a table of columns for each table."""
    parts = [INTRODUCTION]
    for name, model in TABLES:
        schema = model.to_schema()
        purpose = (model.__doc__ or "").split("\n\n", maxsplit=1)[0].strip()
        rows = [
            f"| {column} | {_name_type(str(field.dtype))} | {_name_emptiness(field)} | {field.description} |"
            for column, field in schema.columns.items()
        ]
        header = "| column | type | may be empty | meaning |\n| --- | --- | --- | --- |"
        parts.append("\n".join([f"## {name}\n\n{purpose}\n", header, *rows, ""]))
    return "\n".join(parts)


def _name_emptiness(field: pa.Column) -> str:
    """Say whether values, or the whole column, may be missing."""
    words = ["yes"] if field.nullable else []
    return ", ".join(words if field.required else [*words, "column optional"])


def _name_type(dtype: str) -> str:
    for start, name in (
        ("str", "text"),
        ("int", "integer"),
        ("float", "number"),
        ("bool", "yes/no"),
    ):
        if dtype.lower().startswith(start):
            return name
    return dtype
