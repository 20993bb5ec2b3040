"""Fetching the published data for users with a network: tables, photographs, annotations.

The layout that `objecthood data import adeli2023` reads::

    SRC/test_data_grouping.xls, test_data_grouping_with_all_beh.xls   checked by sha256
    SRC/val2017/000000289393.jpg ...                                  255 COCO photographs
    SRC/annotations/instances_val2017.json                            COCO's instance masks

A file that is there is not fetched again, so an interrupted run continues.
"""

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from stimuli.adeli2023 import TRIALS_FILE, read_published_table
from stimuli.benchmark import hash_file
from stimuli.errors import InputError
from stimuli.table_io import replacing

TABLES_URL = (
    "https://raw.githubusercontent.com/Hosseinadeli/affinity_attention/"
    "565d87844372145d858d6705bda6e5b0790d4b4a/datasets/dataset_grouping"
)
COCO_URL = "http://images.cocodataset.org"
TABLES_SHA256 = {
    TRIALS_FILE: "b3f778729b1797c776cb7c6cd64a805de2db277ab3233b3e059b47fd7ef6aed0",
    "test_data_grouping_with_all_beh.xls": "f5f911f9750026651e048e543d7e62182311de2668f6291e3694a71704c7f61c",
}
ANNOTATIONS_ZIP = "annotations_trainval2017.zip"
INSTANCES = "annotations/instances_val2017.json"
TIMEOUT_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """One file to fetch, and where it goes below the source folder."""

    url: str
    place: str
    sha256: str | None = None


def list_tables(tables_url: str = TABLES_URL) -> list[Download]:
    """Return the downloads of the two published tables."""
    return [
        Download(url=f"{tables_url}/{name}", place=name, sha256=digest)
        for name, digest in TABLES_SHA256.items()
    ]


def list_photographs(table: pd.DataFrame, coco_url: str = COCO_URL) -> list[Download]:
    """Return the downloads of the photographs that a published table names, each once."""
    return [
        Download(url=f"{coco_url}/val2017/{name}", place=f"val2017/{name}")
        for name in table["img_name"].drop_duplicates()
    ]


def fetch_adeli2023(
    out: Path,
    *,
    tables_url: str = TABLES_URL,
    coco_url: str = COCO_URL,
    on_start: Callable[[int], None] = lambda _n: None,
    on_file: Callable[[], None] = lambda: None,
) -> None:
    """Fetch everything of the published benchmark into `out`.

    Parameters
    ----------
    out
        The source folder; files that are there are kept.
    tables_url, coco_url
        Where to fetch from; a mirror serves the same layout.
    on_start
        Called with the number of files once it is known.
    on_file
        Called after each file, for a progress bar.

    Raises
    ------
    InputError
        A file can't be fetched (what to download by hand and where to put it is said), or a table's
        bytes are not the published ones.
    """
    tables = list_tables(tables_url)
    for download in tables:
        fetch_file(download, out)
    photographs = list_photographs(read_published_table(out / TRIALS_FILE), coco_url)
    on_start(len(photographs) + 1)
    for download in photographs:
        fetch_file(download, out)
        on_file()
    fetch_instances(out, coco_url)
    on_file()


def fetch_file(download: Download, out: Path) -> Path:
    """Fetch one file unless it is there; return its path.

    Raises
    ------
    InputError
        It can't be fetched, or its bytes are not those expected.
    """
    import pooch
    from requests.exceptions import RequestException

    path = out / download.place
    if not path.is_file():
        fetcher = pooch.HTTPDownloader(timeout=TIMEOUT_S)
        try:
            with replacing(path) as temporary:
                fetcher(download.url, str(temporary), None)
        except RequestException as error:
            raise InputError(_by_hand(download, out, error)) from None
    if download.sha256 is not None and hash_file(path) != download.sha256:
        raise InputError(
            f"{path}: sha256 {hash_file(path)[:12]}…, expected {download.sha256[:12]}…: not the "
            "published file. Delete it and fetch again"
        )
    return path


def fetch_instances(out: Path, coco_url: str = COCO_URL) -> Path:
    """Fetch COCO's annotations unless they are there, and keep the instances of val2017.

    Raises
    ------
    InputError
        They can't be fetched, or the archive lacks the file.
    """
    path = out / INSTANCES
    if path.is_file():
        return path
    url = f"{coco_url}/annotations/{ANNOTATIONS_ZIP}"
    archive = fetch_file(Download(url=url, place=f"annotations/{ANNOTATIONS_ZIP}"), out)
    try:
        with zipfile.ZipFile(archive) as opened, replacing(path) as temporary:
            temporary.write_bytes(opened.read(INSTANCES))
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(
            f"{archive}: no {INSTANCES} in it ({error}); delete it and fetch again"
        ) from None
    archive.unlink()
    return path


def _by_hand(download: Download, out: Path, error: Exception) -> str:
    return (
        f"{download.url}: can't be fetched ({type(error).__name__}). On a machine with a network, "
        f"download the files below and lay them into {out}, or copy a folder that 'objecthood data "
        "fetch adeli2023' made there:\n"
        f"  {TABLES_URL}/{{{', '.join(TABLES_SHA256)}}} -> {out}/\n"
        f"  {COCO_URL}/val2017/<img_name of each trial>.jpg -> {out / 'val2017'}/ (optional: without "
        "photographs, people and tables of readouts can still be analysed)\n"
        f"  {COCO_URL}/annotations/{ANNOTATIONS_ZIP}: {INSTANCES} of it -> {out / 'annotations'}/ (optional: masks)"
    )
