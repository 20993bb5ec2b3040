"""Whole rows on disk, whatever happens to the disk or the program."""

import csv
import errno
import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiment import row_file
from experiment.endings import SessionAborted
from experiment.row_file import RowFile, read_rows
from experiment.tables import ROW_COLUMNS, ResponseRow, Responses
from stimuli.errors import InputError
from stimuli.table_io import read_table

ROW = ResponseRow(
    participant_id="007",
    session="1",
    run=1,
    list_number=1,
    position=1,
    presentation=1,
    block=1,
    is_practice=False,
    trial_id="t1",
    outcome="correct",
    response="same",
    rt_s=0.1 + 0.2,
    key="f",
    same_key="f",
    n_presses=1,
    held_keys=None,
    started_at="2026-01-01T00:00:00.000+00:00",
    fixation_onset_s=1.0,
    dots_onset_s=1.5,
    image_onset_s=2.5,
    key_time_s=2.8,
    end_s=2.81,
    n_frames=110,
    median_frame_s=1 / 60,
    longest_frame_s=0.02,
    n_dropped_frames=0,
    is_onset_dropped=False,
    refresh_hz=60.0,
    keyboard="ptb",
    tracker=None,
    resumed=False,
    segment=0,
    despite=None,
    is_simulated=False,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a folder, with 'quotes'" / "rows.csv"


def numbered(n):
    return [replace(ROW, position=k + 1, trial_id=f"t{k}") for k in range(n)]


def test_rows_are_on_disk_before_append_returns_and_valid_under_the_schema(path):
    file = RowFile.create(path)
    for k, row in enumerate(numbered(3)):
        file.append(row)
        assert len(read_rows(path).rows) == k + 1
    file.close()
    table = read_table(path, Responses)
    assert table["participant_id"].tolist() == ["007"] * 3
    assert table["rt_s"].tolist() == [0.1 + 0.2] * 3
    assert list(table.columns) == list(ROW_COLUMNS)


def test_every_row_is_synced(path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    file = RowFile.create(path)
    before = len(synced)
    file.append(ROW)
    assert len(synced) == before + 1
    file.close()


def test_without_syncing_each_row_the_file_is_synced_once_at_the_end(path, monkeypatch):
    file = RowFile.create(path)
    file.syncs_each_row = False
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for row in numbered(5):
        file.append(row)
    assert synced == []
    assert len(read_rows(path).rows) == 5
    file.close()
    assert len(synced) == 1


def test_an_existing_file_is_never_overwritten(path):
    RowFile.create(path).close()
    with pytest.raises(InputError, match="exists already"):
        RowFile.create(path)


TEXT = st.text(
    alphabet=st.one_of(st.sampled_from("\",;\n\r\t\\'=ü日🎈 "), st.characters(codec="utf-8")),
    max_size=30,
)


@settings(max_examples=60)
@given(texts=st.lists(TEXT, min_size=1, max_size=4))
def test_any_text_round_trips(texts, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "r.csv"
    file = RowFile.create(path)
    for text in texts:
        file.append(replace(ROW, participant_id=text, despite=text))
    file.close()
    finished = read_rows(path)
    assert [row["participant_id"] for row in finished.rows] == texts
    assert [row["despite"] for row in finished.rows] == texts
    assert finished.torn == b""


def test_quotes_semicolons_and_line_breaks_reach_the_analysis_unharmed(path):
    text = "he said \"no;\"\nthen, 'left'"
    file = RowFile.create(path)
    file.append(replace(ROW, participant_id="Zoë; 'x'", despite=text))
    file.append(ROW)
    file.close()
    table = read_table(path, Responses)
    assert table["despite"].iloc[0] == text
    assert table["participant_id"].tolist() == ["Zoë; 'x'", "007"]


@settings(max_examples=80)
@given(cut=st.integers(0, 2000))
def test_wherever_the_file_is_torn_the_whole_rows_are_read_and_the_rest_is_kept(
    cut, tmp_path_factory
):
    path = tmp_path_factory.mktemp("torn") / "r.csv"
    file = RowFile.create(path)
    header = path.stat().st_size
    for row in numbered(4):
        file.append(replace(row, despite='two\nlines and "quotes"'))
    file.close()
    data = path.read_bytes()
    cut = header + cut % (len(data) - header + 1)
    path.write_bytes(data[:cut])
    finished = read_rows(path)
    assert data.startswith(data[: finished.n_bytes])
    assert finished.torn == data[finished.n_bytes : cut]
    again = RowFile.reopen(path, finished)
    again.append(ROW)
    again.close()
    with path.open(newline="", encoding="utf-8") as handle:
        rows = list(csv.reader(handle, strict=True))
    assert len(rows) == 1 + len(finished.rows) + 1
    assert {len(row) for row in rows} == {len(ROW_COLUMNS)}
    asides = list(path.parent.glob("*.torn-*"))
    assert len(asides) == bool(finished.torn)


def fail_writes(monkeypatch, *, n_failures, after=0, code=errno.ENOSPC):
    """Let os.write fail some times, half-way through, as a full disk does."""
    real, calls = os.write, []

    def write(handle, data):
        calls.append(1)
        if after < len(calls) <= after + n_failures:
            real(handle, bytes(data)[:7])
            raise OSError(code, os.strerror(code))
        return real(handle, data)

    monkeypatch.setattr(row_file.os, "write", write)


def test_on_a_full_disk_the_reserve_makes_room_for_the_last_row(path, monkeypatch):
    file = RowFile.create(path)
    file.append(numbered(1)[0])
    assert list(path.parent.glob(".*.reserve"))
    fail_writes(monkeypatch, n_failures=1)
    with pytest.raises(SessionAborted, match=r"disk is full .* the last included") as caught:
        file.append(numbered(2)[1])
    assert "resume" in caught.value.detail
    file.close()
    assert [row["trial_id"] for row in read_rows(path).rows] == ["t0", "t1"]
    assert not list(path.parent.glob(".*.reserve"))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_when_nothing_can_be_written_there_the_row_goes_elsewhere(
    path, tmp_path, monkeypatch, code
):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    file = RowFile.create(path)
    file.append(numbered(1)[0])
    fail_writes(monkeypatch, n_failures=99, code=code)
    with pytest.raises(SessionAborted, match="the last one is in") as caught:
        file.append(numbered(2)[1])
    file.close()
    monkeypatch.undo()
    assert [row["trial_id"] for row in read_rows(path).rows] == ["t0"]
    (rescued,) = (tmp_path / "home").glob("*_rescued.csv")
    assert str(rescued) in caught.value.detail
    assert [row["trial_id"] for row in read_rows(rescued).rows] == ["t1"]


def test_when_no_folder_takes_the_row_the_message_holds_it(path, monkeypatch):
    file = RowFile.create(path)

    def refuse(*_):
        raise OSError(errno.EROFS, "read-only")

    monkeypatch.setattr(row_file.Path, "write_bytes", refuse)
    fail_writes(monkeypatch, n_failures=99)
    with pytest.raises(SessionAborted, match=r"(?s)no file: .*t0"):
        file.append(numbered(1)[0])
    file.close()


def test_another_version_s_columns_and_hand_made_damage_are_refused(path):
    file = RowFile.create(path)
    for row in numbered(2):
        file.append(row)
    file.close()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("participant_id,", "subject,", 1), encoding="utf-8")
    with pytest.raises(InputError, match="its columns are not those"):
        read_rows(path)
    path.write_text(text.replace("t0,", "t0,extra,"), encoding="utf-8")
    with pytest.raises(InputError, match=r"row 2: 35 fields, expected 34"):
        read_rows(path)


def test_a_folder_that_cannot_be_written_is_refused_before_anything_begins(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="can't be written"):
        RowFile.create(tmp_path / "file" / "rows.csv")
