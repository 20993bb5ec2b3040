"""Readouts that somebody computed elsewhere."""

import pytest

from analysis.readout_files import read_readouts
from stimuli.errors import InputError, TableError
from stimuli.table_io import write_table
from tests.analysis.simulate import make_readouts, make_trials

TRIALS = make_trials(3)
NEEDED = ["trial_id", "readout", "kind", "value"]


def write(tmp_path, table, name="mine.csv"):
    path = tmp_path / name
    write_table(table, path)
    return path


@pytest.mark.parametrize("name", ["mine.csv", "mine.parquet"])
def test_four_columns_are_enough_and_the_file_names_the_model(tmp_path, name):
    path = write(tmp_path, make_readouts(TRIALS, range(12))[NEEDED], name)
    table = read_readouts(path, trials=TRIALS)
    assert table["model"].unique().tolist() == ["mine"]
    assert table["value"].tolist() == list(range(12))
    assert read_readouts(path, trials=TRIALS, model="net")["model"].unique().tolist() == ["net"]


def test_a_lacking_trial_is_named_and_may_be_allowed(tmp_path):
    path = write(tmp_path, make_readouts(TRIALS, range(12)).drop(index=5))
    with pytest.raises(TableError, match=r"lacks trial_id 's1_1' \(1 of 12 trials\)"):
        read_readouts(path, trials=TRIALS)
    assert len(read_readouts(path, trials=TRIALS, allow_missing=True)) == 11


def test_a_fault_is_named_by_its_line(tmp_path):
    table = make_readouts(TRIALS, range(12))
    table.loc[3, "value"] = float("inf")
    with pytest.raises(TableError, match=r"mine\.csv, row 5: value inf of trial 's0_3'"):
        read_readouts(write(tmp_path, table), trials=TRIALS)
    table["value"] = ["many" if k == 3 else str(k) for k in range(12)]
    with pytest.raises(TableError, match=r"mine\.csv.*'value' holds 'many'"):
        read_readouts(write(tmp_path, table), trials=TRIALS)


def test_an_empty_value_is_refused(tmp_path):
    table = make_readouts(TRIALS, range(12))
    table.loc[3, "value"] = None
    with pytest.raises(TableError, match=r"mine\.csv, line 5: column 'value'"):
        read_readouts(write(tmp_path, table), trials=TRIALS)


def test_a_missing_column_a_missing_file_and_another_format_are_refused(tmp_path):
    table = make_readouts(TRIALS, range(12))
    with pytest.raises(TableError, match="column 'kind' is missing; expected trial_id"):
        read_readouts(write(tmp_path, table.drop(columns="kind")), trials=TRIALS)
    with pytest.raises(InputError, match="no such file"):
        read_readouts(tmp_path / "nowhere.csv", trials=TRIALS)
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"expected a \.csv or \.parquet"):
        read_readouts(tmp_path / "x.xlsx", trials=TRIALS)
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a readable parquet"):
        read_readouts(tmp_path / "bad.parquet", trials=TRIALS)
