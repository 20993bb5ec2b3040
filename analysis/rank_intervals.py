"""Rank intervals on the board: what `objecthood compare` found, where it found it on the same scores.

A comparison is of one set of readouts; with another model among them every rank may change. So its
intervals are shown only where it holds exactly the board's ranked rows, with exactly their r.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from analysis.leaderboard import HEADLINE_R, RANK_INTERVAL
from analysis.results import STATISTICS_FOLDER
from model_eval.tables import READOUT_KEY
from stimuli.table_io import read_columns

RANKING_FILE = "ranking.csv"
SAME_R = 1e-9
_NUMBERS = ("r", *RANK_INTERVAL)


def read_ranking(results: Path) -> pd.DataFrame | None:
    """Return the ranking in a results folder; None where nothing was compared."""
    path = results / STATISTICS_FOLDER / RANKING_FILE
    if not path.is_file():
        return None
    return read_columns(path, text_columns={*READOUT_KEY, "rows_sha256", "name", "group"})


def add_rank_intervals(
    board: pd.DataFrame, ranking: pd.DataFrame
) -> tuple[pd.DataFrame, list[str]]:
    """Return the board with the rank intervals of a comparison, and why some have none.

    Parameters
    ----------
    board
        As `analysis.leaderboard.build_leaderboard` returns it.
    ranking
        As `read_ranking` returns it.

    Returns
    -------
    board : DataFrame
        `rank_low` and `rank_high` filled for the sets of rows that were compared as they are.
    notes : list of str
        One for each set that wasn't.
    """
    board = board.copy()
    notes = []
    for rows_sha256, part in board[board["rank"].notna()].groupby("rows_sha256", sort=False):
        own = _key(ranking[ranking["rows_sha256"] == rows_sha256])
        shown = _key(part)
        reason = _find_difference(shown, own)
        if reason is not None:
            n = int(part["n_trials"].iloc[0])
            if len(shown) > 1:
                notes.append(f"no rank intervals on {n} trials: {reason}")
            continue
        for name in RANK_INTERVAL:
            values = own.loc[shown.index, name].astype(int).tolist()
            board.loc[part.index, name] = pd.array(values, dtype="Int64")
    return board, notes


def _key(table: pd.DataFrame) -> pd.DataFrame:
    """Index a table by its readouts."""
    keys = table[READOUT_KEY].astype(object).where(table[READOUT_KEY].notna(), "").astype(str)
    r = table[HEADLINE_R] if HEADLINE_R in table.columns else table["r"]
    index = pd.MultiIndex.from_frame(keys)
    numbers = {name: table[name].to_numpy() for name in RANK_INTERVAL if name in table.columns}
    return pd.DataFrame({"r": r.to_numpy(float), **numbers}, index=index)


def _find_difference(shown: pd.DataFrame, compared: pd.DataFrame) -> str | None:
    """Return in what a comparison isn't one of the shown rows; None where it is."""
    if set(shown.index) != set(compared.index):
        n = len(set(shown.index) - set(compared.index))
        what = f"{n} of the ranked readouts weren't compared" if n else "others were compared too"
        return f"{what}; run 'objecthood compare' again"
    apart = np.abs(shown["r"] - compared.loc[shown.index, "r"])
    if (apart > SAME_R).any():
        name = shown.index[int(np.argmax(apart))]
        return f"{name[0]!r} was compared with another score; run 'objecthood compare' again"
    return None
