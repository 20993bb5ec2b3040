"""Reading and writing tables: CSV or parquet on disk, checked against a pandera schema.

Conventions (docs/design.md): UTF-8, ids are text always (``007`` stays ``007``), missing is an empty
field and nothing else (the participant ``NA`` is a participant), and nothing half-written: a file
appears complete or not at all.
"""

import csv
import hashlib
import json
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.errors import SchemaErrors

from stimuli.errors import InputError, TableError

# A CSV's header is line 1, so the first row of a table stands on line 2.
FIRST_CSV_LINE = 2


def read_table(path: Path, schema: type[pa.DataFrameModel]) -> pd.DataFrame:
    """Return the table of a CSV or parquet file, valid under `schema`.

    Parameters
    ----------
    path
        A ``.csv`` or ``.parquet`` file.
    schema
        The pandera model of the table; columns that it does not name are kept as they are.

    Returns
    -------
    DataFrame
        In the file's row order.

    Raises
    ------
    InputError
        The file is not there, or is neither CSV nor parquet.
    TableError
        A column is missing, or a value breaks the schema; the first fault is named by file, row
        and column.
    """
    table = read_columns(path, text_columns=_text_columns(schema))
    return check_table(table, schema, source=str(path), is_csv=path.suffix == ".csv")


def check_table(
    table: pd.DataFrame, schema: type[pa.DataFrameModel], *, source: str, is_csv: bool = False
) -> pd.DataFrame:
    """Return `table` coerced to `schema`, or raise a `TableError` that names the first fault.

    Parameters
    ----------
    table
        Any table.
    schema
        The pandera model that it should satisfy.
    source
        What the message calls the table: a path, or words such as "the readouts of resnet50".
    is_csv
        Count rows as lines of a CSV file (the header is line 1) instead of from 1.

    Raises
    ------
    TableError
        A column is missing or a value breaks the schema.
    """
    try:
        return schema.validate(table.reset_index(drop=True), lazy=True)
    except SchemaErrors as errors:
        raise TableError(_first_fault(errors, source, is_csv=is_csv)) from None


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write `table` as CSV or parquet, complete or not at all.

    Parameters
    ----------
    table
        The rows to write; the index is dropped.
    path
        Ends in ``.csv`` or ``.parquet``. Its folder is made if it isn't there.
    """
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            table.to_parquet(temporary, index=False)
        else:
            quoting = csv.QUOTE_NONNUMERIC if _has_lone_return(table) else csv.QUOTE_MINIMAL
            table.to_csv(
                temporary, index=False, encoding="utf-8", lineterminator="\n", quoting=quoting
            )


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises
    ------
    InputError
        The file isn't there, or doesn't hold one JSON object.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid JSON ({error}); write the file anew") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a JSON object {{...}}, found {type(content).__name__}")
    return content


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write `content` as JSON (NaN as null, since JSON has none), complete or not at all."""
    text = json.dumps(_plain(content), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(text + "\n", path)


def write_text(text: str, path: Path) -> None:
    """Write UTF-8 text, complete or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path` that takes its place if the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".writing-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def building_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes `folder` if the block ends without an error.

    Raises
    ------
    InputError
        `folder` exists and isn't empty.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder}: is not empty; name a new folder, or delete it first")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".making-{folder.name}-", dir=folder.parent))
    try:
        yield temporary
        if folder.is_dir():
            folder.rmdir()
        temporary.chmod(0o777 & ~_umask())
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def safe_file_name(name: str) -> str:
    """Return a file name for any text: readable, and different for different texts.

    >>> safe_file_name("timm/vit:b ü")
    'timm-vit-b-u-0e8ac4fb'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_.]+", "-", plain).strip("-.")[:80]
    return f"{slug or 'unnamed'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def name_some(values: object, *, limit: int = 5) -> str:
    """Return the first `limit` of `values` as text for a message, and how many more there are.

    >>> name_some(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    items = [str(value) for value in values]  # type: ignore[union-attr]
    text = ", ".join(repr(item) for item in items[:limit])
    return text if len(items) <= limit else f"{text} and {len(items) - limit} more"


def _has_lone_return(table: pd.DataFrame) -> bool:
    """Whether a text cell holds a carriage return, which the csv module leaves unquoted."""
    texts = table.select_dtypes(include=["object", "string"])
    return any(texts[name].astype("str").str.contains("\r", regex=False).any() for name in texts)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _text_columns(schema: type[pa.DataFrameModel]) -> set[str]:
    columns = schema.to_schema().columns
    return {name for name, column in columns.items() if str(column.dtype).startswith("str")}


def read_columns(path: Path, *, text_columns: set[str]) -> pd.DataFrame:
    """Return the table of a CSV or parquet file, not yet checked against any schema.

    Parameters
    ----------
    path
        A ``.csv`` or ``.parquet`` file.
    text_columns
        Columns that are text whatever they look like: ids.

    Raises
    ------
    InputError
        The file is not there, or is neither CSV nor parquet.
    TableError
        The CSV is not UTF-8, is empty, or has a ragged line.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.suffix == ".parquet":
        try:
            return pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: not a readable parquet file ({error})") from None
    if path.suffix != ".csv":
        raise InputError(
            f"{path}: expected a .csv or .parquet file, found {path.suffix or 'none'!r}"
        )
    return _read_csv(path, text_columns)


def _read_csv(path: Path, text_columns: set[str]) -> pd.DataFrame:
    try:
        return pd.read_csv(
            path,
            dtype=dict.fromkeys(text_columns, "str"),
            keep_default_na=False,
            na_values=[""],
            encoding="utf-8-sig",
        )
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: not UTF-8 ({error}); save it as UTF-8") from None
    except pd.errors.EmptyDataError:
        raise TableError(f"{path}: the file is empty; expected a header line and rows") from None
    except pd.errors.ParserError as error:
        message = f"{path}: {str(error).strip()}; look for an unquoted comma or quote on that line"
        raise TableError(message) from None


def _first_fault(errors: SchemaErrors, source: str, *, is_csv: bool) -> str:
    cases = errors.failure_cases
    missing = cases[cases["check"] == "column_in_dataframe"]["failure_case"].tolist()
    if missing:
        return f"{source}: column {name_some(missing)} is missing; add it (docs: data/codebook.md)"
    case = cases.iloc[0]
    where = _row_name(case["index"], is_csv=is_csv)
    more = "" if len(cases) == 1 else f" ({len(cases) - 1} more faults in this table)"
    return (
        f"{source}{where}: column {case['column']!r} holds {case['failure_case']!r}, "
        f"which fails {case['check']}{more}"
    )


def _row_name(index: object, *, is_csv: bool) -> str:
    if index is None or pd.isna(index):  # type: ignore[call-overload]
        return ""
    return f", line {int(index) + FIRST_CSV_LINE}" if is_csv else f", row {int(index) + 1}"  # type: ignore[call-overload]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
