"""Reading readouts that somebody computed elsewhere: CSV or parquet, one row per trial."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from analysis.scoring import check_readouts
from model_eval.tables import KINDS, READOUT_KEY, Readouts
from stimuli.benchmark import Benchmark
from stimuli.errors import TableError
from stimuli.table_io import FIRST_CSV_LINE, check_table, name_some, read_columns, read_table

NEEDED = ("trial_id", "readout", "kind", "value")


def read_readouts(
    path: Path, *, trials: pd.DataFrame, model: str | None = None, allow_missing: bool = False
) -> pd.DataFrame:
    """Return the readouts in a file, checked against the benchmark's trials.

    Parameters
    ----------
    path
        CSV or parquet with trial_id, readout, kind and value; model, layer and representation where
        they apply.
    trials
        The benchmark's trial table.
    model
        Name of the model where the file has no such column; the file's name when not given.
    allow_missing
        Accept readouts that lack some of the trials: they are scored on those that they have.

    Returns
    -------
    DataFrame
        Valid under `model_eval.tables.Readouts`.

    Raises
    ------
    InputError
        No such file.
    TableError
        A column is missing, an id is unknown, doubled or missing, a value is not a finite number, or
        a kind is none of ours.
    """
    is_csv = path.suffix == ".csv"
    table = _read_columns(path)
    if "model" not in table.columns:
        table["model"] = model or path.stem
    for column in ("layer", "representation"):
        if column not in table.columns:
            table[column] = pd.Series(pd.NA, index=table.index, dtype="str")
    table = check_table(table, Readouts, source=str(path), is_csv=is_csv)
    first_row = FIRST_CSV_LINE if is_csv else 1
    check_readouts(table, trials, source=str(path), first_row=first_row)
    if not allow_missing:
        _check_complete(table, trials, path)
    return table[[*READOUT_KEY, "kind", "trial_id", "value"]]


def read_kept_readouts(
    results: Path,
    files: Iterable[tuple[Path, object, pd.DataFrame]],
    *,
    benchmark: Benchmark | None = None,
) -> list[pd.DataFrame]:
    """Return the readouts behind score files, where they are kept; a model without has no table.

    Parameters
    ----------
    results
        The folder with scores/ and readouts/.
    files
        The score files.
    benchmark
        Its published readouts serve where the folder has none of a model.

    Raises
    ------
    TableError
        A file breaks the schema.
    """
    found = []
    for path, _, scores in files:
        kept = results / "readouts" / f"{path.stem}.parquet"
        published = None if benchmark is None else benchmark.folder / "published_readouts.parquet"
        if kept.is_file():
            found.append(read_table(kept, Readouts))
        elif published is not None and published.is_file():
            table = read_table(published, Readouts)
            found.append(table[table["model"] == scores["model"].iloc[0]])
    return [table for table in found if len(table)]


def _read_columns(path: Path) -> pd.DataFrame:
    texts = {"trial_id", "readout", "kind", "model", "layer", "representation"}
    table = read_columns(path, text_columns=texts)
    missing = [name for name in NEEDED if name not in table.columns]
    if missing:
        raise TableError(
            f"{path}: column {name_some(missing)} is missing; expected trial_id, readout, value and "
            f"kind (one of {', '.join(KINDS)})"
        )
    return table


def _check_complete(table: pd.DataFrame, trials: pd.DataFrame, path: Path) -> None:
    for key, rows in table.groupby(READOUT_KEY, dropna=False):
        missing = trials.loc[~trials["trial_id"].isin(rows["trial_id"]), "trial_id"]
        if len(missing):
            raise TableError(
                f"{path}: model {key[0]!r}, readout {key[3]!r} lacks trial_id {name_some(missing)} "
                f"({len(missing)} of {len(trials)} trials). Add them, or pass --allow-missing to "
                "score the trials that it has"
            )
