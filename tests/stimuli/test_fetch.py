"""Fetching the published data, from a local server that serves the same layout."""

import functools
import http.server
import shutil
import threading
import zipfile
from typing import ClassVar

import pandas as pd
import pytest

from stimuli import fetch
from stimuli.adeli2023 import read_published_table
from stimuli.errors import InputError
from stimuli.fetch import fetch_adeli2023

pytestmark = pytest.mark.shared


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and remembers what was asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *words):
        """Say nothing."""


@pytest.fixture
def site(shared, tmp_path):
    """Both tables, the photographs (one small file each), and the annotations."""
    root = tmp_path / "site"
    (root / "val2017").mkdir(parents=True)
    (root / "annotations").mkdir()
    for name in fetch.TABLES_SHA256:
        shutil.copyfile(shared / "adeli2023" / name, root / name)
    for name in read_published_table(root / "test_data_grouping.xls")["img_name"].unique():
        (root / "val2017" / name).write_bytes(b"photo")
    with zipfile.ZipFile(root / "annotations" / fetch.ANNOTATIONS_ZIP, "w") as archive:
        archive.writestr(fetch.INSTANCES, "{}")
    Quiet.asked = []
    handler = functools.partial(Quiet, directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield root, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_everything_is_fetched_once_and_an_interrupted_run_continues(site, tmp_path):
    _, url = site
    out = tmp_path / "src"
    fetch_adeli2023(out, tables_url=url, coco_url=url)
    assert len(list((out / "val2017").iterdir())) == 255
    assert (out / fetch.INSTANCES).read_text() == "{}"
    assert not (out / "annotations" / fetch.ANNOTATIONS_ZIP).exists()
    photograph = sorted((out / "val2017").iterdir())[7]
    photograph.unlink()
    Quiet.asked = []
    fetch_adeli2023(out, tables_url=url, coco_url=url)
    assert Quiet.asked == [f"/val2017/{photograph.name}"]


def test_a_table_of_other_bytes_is_refused(site, tmp_path):
    root, url = site
    (root / "test_data_grouping.xls").write_bytes(b"other")
    with pytest.raises(InputError, match="not the published file"):
        fetch_adeli2023(tmp_path / "src", tables_url=url, coco_url=url)


def test_a_missing_file_and_no_server_say_what_to_download_by_hand(site, tmp_path):
    root, url = site
    shutil.rmtree(root / "val2017")
    with pytest.raises(InputError, match=r"can't be fetched \(HTTPError\).*lay them into"):
        fetch_adeli2023(tmp_path / "src", tables_url=url, coco_url=url)
    with pytest.raises(InputError, match=r"can't be fetched \(ConnectionError\)"):
        fetch_adeli2023(tmp_path / "new", tables_url="http://127.0.0.1:9", coco_url=url)
    assert not list((tmp_path / "new").glob("**/*.xls"))


def test_an_archive_without_the_instances_is_refused(site, tmp_path):
    root, url = site
    with zipfile.ZipFile(root / "annotations" / fetch.ANNOTATIONS_ZIP, "w") as archive:
        archive.writestr("other.json", "{}")
    with pytest.raises(InputError, match=r"no annotations/instances_val2017\.json in it"):
        fetch_adeli2023(tmp_path / "src", tables_url=url, coco_url=url)


def test_the_photographs_of_a_table_are_listed_once():
    table = pd.DataFrame({"img_name": ["a.jpg", "a.jpg", "b.jpg"]})
    found = fetch.list_photographs(table, "http://127.0.0.1")
    assert [item.place for item in found] == ["val2017/a.jpg", "val2017/b.jpg"]
