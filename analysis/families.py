"""Families of models: what a colour in a figure stands for.

A model's family is what its score record says (`family` in its `model` object). Where the record is
silent, controls and untrained networks are families of their own, and every other model is its own
family: none is guessed from a name.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

CONTROL = "control"
RANDOM_WEIGHTS = "random weights"
CONTROL_PREFIX = "control:"


def name_family(model: str, facts: Mapping[str, Any]) -> str:
    """Return the family of a model.

    Parameters
    ----------
    model
        Its name in the score table.
    facts
        The `model` object of its score file.

    Examples
    --------
    >>> name_family("control:distance", {})
    'control'
    >>> name_family("vit_b", {"family": "DINO", "is_random_weights": True})
    'random weights'
    """
    if model.startswith(CONTROL_PREFIX):
        return CONTROL
    if facts.get("is_random_weights"):
        return RANDOM_WEIGHTS
    return str(facts.get("family") or model)


def list_model_facts(records: Iterable[Mapping[str, Any]], models: Iterable[str]) -> pd.DataFrame:
    """Return family and year of each model: columns model, family, year (empty where unknown).

    Parameters
    ----------
    records
        Score records, one per model.
    models
        The models' names in the score tables, in the same order.
    """
    rows = [
        {
            "model": name,
            "family": name_family(name, record["model"]),
            "year": _year(record["model"]),
        }
        for name, record in zip(models, records, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["model", "family", "year"])
    return table.astype({"model": "str", "family": "str", "year": "Int64"})


def _year(facts: Mapping[str, Any]) -> int | None:
    year = facts.get("year")
    return None if year is None else int(year)
