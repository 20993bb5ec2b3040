"""The readouts of a results folder, grouped by the rows that they and people share."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.human import ReactionTimes
from analysis.metrics import signed_difficulty
from analysis.rows import Rows, select_rows
from analysis.scoring import check_readouts
from model_eval.tables import READOUT_KEY, Readouts
from stimuli.errors import InputError
from stimuli.table_io import read_table

Key = tuple[str, ...]
# Where in a results folder the deeper statistics lie, unless somebody says otherwise.
STATISTICS_FOLDER = "statistics"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSet:
    """Readouts on the same trials.

    Attributes
    ----------
    rows
        The trials and people.
    difficulty : dict of float arrays, shape (n_trials,)
        Predicted difficulty by key (model, layer, representation, readout).
    """

    rows: Rows
    difficulty: dict[Key, np.ndarray]


def read_results(folder: Path, trials: pd.DataFrame) -> pd.DataFrame:
    """Return all readouts below `folder`/readouts, or of one parquet or CSV file.

    Raises
    ------
    InputError
        There are none.
    TableError
        They aren't of this trial table.
    """
    paths = [folder] if folder.is_file() else sorted((folder / "readouts").glob("*.parquet"))
    if not paths:
        raise InputError(
            f"{folder}: no readouts in {folder / 'readouts'}. Make some with 'objecthood evaluate', "
            "or name a file of readouts"
        )
    tables = [read_table(path, Readouts) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        check_readouts(table, trials, source=str(path))
    return pd.concat(tables, ignore_index=True)


def keep_last_layers(readouts: pd.DataFrame) -> pd.DataFrame:
    """Return the last layer of each model's readout and representation: what the board ranks.

    Parameters
    ----------
    readouts
        Layers in the order in which they were written.
    """
    entry = ["model", "representation", "readout"]
    last = readouts.groupby(entry, dropna=False)["layer"].transform(lambda layers: layers.iloc[-1])
    return readouts[readouts["layer"].fillna("").eq(last.fillna(""))]


def group_by_rows(
    readouts: pd.DataFrame, *, times: ReactionTimes, trials: pd.DataFrame
) -> list[RowSet]:
    """Return the readouts grouped by the trials that they and people share, largest set first."""
    sets: dict[str, RowSet] = {}
    for _, table in readouts.groupby(READOUT_KEY, sort=False, dropna=False):
        value = table.set_index("trial_id")["value"].reindex(trials["trial_id"]).to_numpy(float)
        rows = select_rows(times, trials, is_wanted=np.isfinite(value))
        rows = sets.setdefault(rows.sha256, RowSet(rows=rows, difficulty={})).rows
        on_rows = value[trials["trial_id"].isin(rows.trial_ids).to_numpy()]
        named = tuple(table[READOUT_KEY].iloc[0].fillna("").astype(str))
        sets[rows.sha256].difficulty[named] = signed_difficulty(
            on_rows, kind=str(table["kind"].iloc[0]), is_same=rows.is_same
        )
    return sorted(sets.values(), key=lambda one: -len(one.rows.trial_ids))


def name_key(key: Key) -> str:
    """Return a readout's name in words.

    >>> name_key(("vit", "11", "", "cosine"))
    'vit: cosine, layer 11'
    """
    model, layer, representation, readout = key
    what = f"{model}: {readout}"
    what += f", layer {layer}" if layer else ""
    return what + (f", {representation}" if representation else "")
