"""The responses table: what a session writes, and what other labs' tables lack."""

import pandas as pd

from experiment.observers import simulate_responses
from experiment.tables import ROW_COLUMNS, Responses
from stimuli.table_io import check_table
from tests.experiment.displays import make_trials


def test_a_session_s_row_has_every_column_of_the_schema_in_order():
    assert set(ROW_COLUMNS) == set(Responses.to_schema().columns)


def test_only_the_core_columns_are_required(rng):
    core = [name for name, c in Responses.to_schema().columns.items() if c.required]
    assert core == [
        "participant_id", "session", "trial_id", "is_practice", "outcome", "response", "rt_s",
        "is_simulated",
    ]  # fmt: skip
    trials = make_trials(4)
    table = simulate_responses(trials, [0.0] * len(trials), n_people=1, rng=rng)[core]
    assert list(check_table(table, Responses, source="t").columns) == core


def test_every_column_says_what_it_means():
    for name, column in Responses.to_schema().columns.items():
        assert column.description, name


def test_unknown_onset_drops_stay_unknown():
    table = pd.DataFrame({"is_onset_dropped": pd.array([True, None], dtype="boolean")})
    assert table["is_onset_dropped"].isna().tolist() == [False, True]
