"""Tables and JSON on disk: text ids, missing values, faults by line, nothing half-written."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stimuli.errors import InputError, TableError
from stimuli.table_io import (
    building_folder,
    name_some,
    read_json,
    read_table,
    replacing,
    safe_file_name,
    write_json,
    write_table,
)
from stimuli.tables import Trials
from tests.analysis.simulate import make_trials


def broken(tmp_path, change):
    path = tmp_path / "trials.csv"
    write_table(change(make_trials(2)), path)
    return path


@pytest.mark.parametrize("name", ["trials.csv", "trials.parquet"])
def test_a_good_table_comes_back_as_it_was(tmp_path, name):
    trials = Trials.validate(make_trials(3))
    write_table(trials, tmp_path / name)
    pd.testing.assert_frame_equal(read_table(tmp_path / name, Trials), trials)


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "a\nb", 'a"b', "a,b;c"])
def test_a_text_with_line_breaks_or_quotes_stays_one_cell(tmp_path, text):
    path = broken(tmp_path, lambda t: t.assign(scene_id=text))
    table = read_table(path, Trials)
    assert len(table) == 8
    assert set(table["scene_id"]) == {text}
    assert table["image"].isna().all()


def test_ids_that_look_like_numbers_or_missing_stay_text(tmp_path):
    path = broken(tmp_path, lambda t: t.assign(trial_id=["007", "1e5", "NA", "null", *"abcd"]))
    assert read_table(path, Trials)["trial_id"].tolist()[:4] == ["007", "1e5", "NA", "null"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="dot1_x_px"), r"column 'dot1_x_px' is missing"),
        (lambda t: t.assign(trial_id="x"), r"line 2: column 'trial_id' holds 'x'"),
        (lambda t: t.assign(dot1_x_px=[*t["dot1_x_px"][:3], -1.0, *t["dot1_x_px"][4:]]), r"line 5"),
        (lambda t: t.assign(dot2_x_px=700.0), r"dot 2 inside the image"),
        (lambda t: t.assign(dot1_y_px=480.0), r"dot 1 inside the image"),
        (lambda t: t.assign(distance_condition="middle"), r"holds 'middle'"),
        (lambda t: t.assign(distance_px="0,02"), r"column 'distance_px' holds '0,02'"),
        (lambda t: t.assign(scene_id=[None, *t["scene_id"][1:]]), r"line 2: column 'scene_id'"),
    ],
)
def test_a_fault_is_named_by_file_line_and_column(tmp_path, change, message):
    with pytest.raises(TableError, match=rf"trials\.csv.*{message}"):
        read_table(broken(tmp_path, change), Trials)


def test_unreadable_files_are_refused_by_name(tmp_path):
    path = tmp_path / "trials.csv"
    with pytest.raises(InputError, match="no such file"):
        read_table(path, Trials)
    path.write_bytes(b"")
    with pytest.raises(TableError, match="the file is empty"):
        read_table(path, Trials)
    path.write_bytes("trial_id\nMüller".encode("latin-1"))
    with pytest.raises(TableError, match="not UTF-8"):
        read_table(path, Trials)
    path.write_text('trial_id,scene_id\na,b\nc,d,e,"f\n')
    with pytest.raises(TableError, match="unquoted comma or quote"):
        read_table(path, Trials)


def test_a_byte_order_mark_is_not_part_of_the_first_column(tmp_path):
    path = broken(tmp_path, lambda t: t)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_table(path, Trials)) == 8


def test_an_interrupted_write_leaves_the_old_file_and_no_scraps(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def write_and_fail():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_and_fail()
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["x.txt"]


def test_a_folder_appears_complete_or_not_at_all_and_never_over_another(tmp_path):
    def make(fails):
        with building_folder(tmp_path / "new") as folder:
            (folder / "a").touch()
            if fails:
                raise InputError("no")

    with pytest.raises(InputError):
        make(fails=True)
    assert list(tmp_path.iterdir()) == []
    make(fails=False)
    assert (tmp_path / "new" / "a").is_file()
    with pytest.raises(InputError, match="is not empty"):
        make(fails=False)


def test_json_writes_not_a_number_as_null_and_refuses_what_is_no_object(tmp_path):
    write_json({"a": np.float64(np.nan), "b": [np.int64(3)], "c": "ü"}, tmp_path / "x.json")
    assert read_json(tmp_path / "x.json") == {"a": None, "b": [3], "c": "ü"}
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(InputError, match="expected a JSON object"):
        read_json(tmp_path / "x.json")
    with pytest.raises(InputError, match="no such file"):
        read_json(tmp_path / "y.json")


@given(st.text(), st.text())
def test_file_names_are_safe_and_differ_when_names_do(first, second):
    name = safe_file_name(first)
    assert name.isascii()
    assert not set(name) & set('/:\\ *?"<>|')
    assert len(name) < 100
    assert (name == safe_file_name(second)) == (first == second)


def test_a_message_names_the_first_few_and_counts_the_rest():
    assert name_some(["a"]) == "'a'"
    assert name_some(range(7)) == "'0', '1', '2', '3', '4' and 2 more"
