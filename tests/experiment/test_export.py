"""Exports: they validate, and come back as they went."""

import csv
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.people import analyse_people, summarise_people, write_people
from analysis.tables import Human
from experiment.bids import export_bids, import_bids, read_bids
from experiment.export import About, collect_runs, describe_columns, name_labels
from experiment.launch import Request, plant_difficulty, prepare, run_request
from experiment.psych_ds import export_psych_ds
from experiment.study import simulate_study
from experiment.tables import Responses
from stimuli.benchmark import open_benchmark, write_benchmark
from stimuli.errors import InputError, TableError
from stimuli.table_io import read_table
from tests.experiment.apparatus import FAST
from tests.experiment.displays import make_benchmark, make_trials

ABOUT = About(name="Dots & dots", licence="CC0", authors=("Ada B", "Çelik Ö"))
NASTY = "tab\there, line\nbreak, \\n literal, \"quotes\"; 'semi' \r日本"


def run(folder, participant, **changes):
    request = Request(
        benchmark=folder,
        participant=participant,
        session="1",
        config=FAST,
        display=None,
        existing="resume",
        is_simulated=True,
    )
    return run_request(prepare(replace(request, **changes)), ask=lambda _: "refuse")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return a benchmark with people whose ids and sessions are awkward."""
    folder = make_benchmark(tmp_path_factory.mktemp("e") / "b").folder
    for participant in ("07", "sim-001", "Zoë M.", "日本"):
        run(folder, participant)
    run(folder, "07", session="2 früh", despite=NASTY)
    run(folder, "sim-001", existing="restart")
    return open_benchmark(folder)


def all_rows(benchmark):
    files = sorted(benchmark.responses_folder.glob("*.csv"))
    return pd.concat([read_table(path, Responses) for path in files], ignore_index=True)


def by_key(table):
    keys = ["participant_id", "session", "run", "position", "presentation"]
    columns = sorted(Responses.to_schema().columns)
    return table.sort_values(keys, ignore_index=True)[columns]


def test_the_bids_data_set_passes_the_validator(study, tmp_path):
    folder = tmp_path / "a bids folder"
    assert export_bids(study, folder, about=ABOUT) == 5
    validator = Path(sys.executable).with_name("bids-validator-deno")
    if not validator.exists():
        pytest.skip("no bids-validator-deno here: pip install bids-validator-deno")
    done = subprocess.run(
        [str(validator), str(folder), "--format", "json", "--max-rows", "-1"],
        capture_output=True,
        text=True,
        env={"NO_COLOR": "1", "HOME": str(tmp_path)},
        check=False,
    )
    report = json.loads(done.stdout)
    errors = [i for i in report["issues"]["issues"] if i["severity"] == "error"]
    assert errors == []
    assert report["summary"]["tasks"] == ["grouping"]
    assert len(report["summary"]["subjects"]) == 4
    # And the validator does see faults.
    next(folder.glob("sub-*/ses-*/beh/*_beh.tsv")).rename(folder / "sub-07" / "what.tsv")
    done = subprocess.run(
        [str(validator), str(folder), "--format", "json"],
        capture_output=True,
        text=True,
        env={"NO_COLOR": "1", "HOME": str(tmp_path)},
        check=False,
    )
    issues = json.loads(done.stdout)["issues"]["issues"]
    assert any(issue["severity"] == "error" for issue in issues)


def test_every_row_comes_back_from_bids_as_it_went(study, tmp_path):
    export_bids(study, tmp_path / "d", about=ABOUT)
    before, after = by_key(all_rows(study)), by_key(read_bids(tmp_path / "d"))
    assert NASTY in set(before["despite"])
    pd.testing.assert_frame_equal(before, after, check_dtype=False)


def test_a_bids_cell_holds_no_tab_or_line_break(study, tmp_path):
    export_bids(study, tmp_path / "d", about=ABOUT)
    for path in (tmp_path / "d").rglob("*.tsv"):
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        assert len({line.count("\t") for line in lines}) == 1
        assert "\r" not in path.read_text(encoding="utf-8")
        assert all(cell != "" for line in lines for cell in line.split("\t"))


def test_the_export_describes_itself_and_leaves_the_computer_s_name_at_home(study, tmp_path):
    export_bids(study, tmp_path / "d", about=ABOUT)
    described = json.loads((tmp_path / "d" / "dataset_description.json").read_text("utf-8"))
    assert (described["Name"], described["License"]) == ("Dots & dots", "CC0")
    assert described["Authors"] == ["Ada B", "Çelik Ö"]
    assert "4 SIMULATED people" in (tmp_path / "d" / "README.md").read_text("utf-8")
    columns = json.loads((tmp_path / "d" / "task-grouping_beh.json").read_text("utf-8"))
    path = next((tmp_path / "d").glob("sub-07/ses-1/beh/*.tsv"))
    header = path.read_text("utf-8").split("\n", 1)[0].split("\t")
    assert set(header) <= set(columns)
    assert columns["response_time"]["Units"] == "s"
    record = path.with_suffix(".json").read_text("utf-8")
    assert '"key_map"' in record
    assert '"host"' not in record
    assert '"command"' not in record


def test_superseded_runs_are_not_exported(study, tmp_path):
    export_bids(study, tmp_path / "d", about=ABOUT)
    names = [path.name for path in (tmp_path / "d" / "sub-sim001").rglob("*.tsv")]
    assert names == ["sub-sim001_ses-1_task-grouping_run-02_beh.tsv"]


def test_the_psych_ds_data_set_follows_the_rules_of_the_standard(study, tmp_path):
    """Rules of psychds-docs, reference/rules_and_conventions.md, written down anew."""
    folder = tmp_path / "d"
    assert export_psych_ds(study, folder, about=ABOUT) == 5
    described = json.loads((folder / "dataset_description.json").read_text("utf-8"))
    assert described["@context"].startswith("https://schema.org")
    assert described["@type"] == "Dataset"
    assert described["name"]
    assert described["description"]
    variables = {item["name"] for item in described["variableMeasured"]}
    assert all(item["@type"] == "PropertyValue" for item in described["variableMeasured"])
    files = sorted((folder / "data").rglob("*"))
    assert len(files) == 5
    for path in files:
        assert re.fullmatch(r"([a-z]+-[A-Za-z0-9]+_)+data\.csv", path.name), path.name
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file, strict=True)
        assert set(header) <= variables
        assert {len(row) for row in rows} == {len(header)}
    again = pd.concat([read_table(path, Responses) for path in files], ignore_index=True)
    pd.testing.assert_frame_equal(by_key(all_rows(study)), by_key(again), check_dtype=False)


def test_other_labs_tables_are_exported_too(tmp_path):
    trials = make_trials(4)
    bench = write_benchmark(
        tmp_path / "b", manifest=make_benchmark(tmp_path / "x").manifest, trials=trials
    )
    core = ["participant_id", "session", "trial_id", "is_practice", "outcome", "response", "rt_s",
            "is_simulated"]  # fmt: skip
    path = bench.responses_folder / "people.csv"
    path.parent.mkdir()
    rows = [["1", "1", t, False, "correct", "same", 0.5, False] for t in trials["trial_id"][:3]]
    rows.append(["2", "1", trials["trial_id"][0], False, "timeout", None, None, False])
    pd.DataFrame(rows, columns=core).to_csv(path, index=False)
    assert export_bids(bench, tmp_path / "d", about=ABOUT) == 2
    back = read_bids(tmp_path / "d")
    assert back["rt_s"].tolist()[:3] == [0.5] * 3
    assert back["rt_s"].isna().tolist() == [False] * 3 + [True]
    assert "SIMULATED" not in (tmp_path / "d" / "README.md").read_text("utf-8")


def test_labels_are_letters_and_digits_and_never_alike():
    ids = ["07", "sim-001", "sim_001", "Zoë M.", "AB", "ab", "日本", "x" * 50, "a b"]
    labels = name_labels(ids)
    assert labels["07"] == "07"
    assert labels["a b"] == "ab" or labels["ab"] != labels["a b"]
    assert all(re.fullmatch(r"[A-Za-z0-9]+", label) for label in labels.values())
    assert len({label.lower() for label in labels.values()}) == len(ids)


def test_every_column_is_described_with_its_unit():
    described = describe_columns()
    assert described["rt_s"]["Units"] == "s"
    assert described["refresh_hz"]["Units"] == "Hz"
    assert "Units" not in described["outcome"]
    assert set(described["outcome"]["Levels"]) >= {"correct", "gaze_break"}


def test_nothing_to_export_a_full_folder_and_mixed_people_are_refused(study, tmp_path):
    empty = make_benchmark(tmp_path / "b")
    with pytest.raises(InputError, match="no people"):
        collect_runs(empty)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is not empty"):
        export_bids(study, tmp_path / "full", about=ABOUT)
    copy = tmp_path / "mixed"
    shutil.copytree(study.folder, copy)
    path = next((copy / "responses").glob("*.csv"))
    path.write_text(path.read_text("utf-8").replace(",True\n", ",False\n"), encoding="utf-8")
    with pytest.raises(InputError, match="simulated and real people lie in one benchmark"):
        export_psych_ds(open_benchmark(copy), tmp_path / "d", about=ABOUT)
    assert not (tmp_path / "d").exists()


def test_damaged_data_sets_are_refused_by_name(study, tmp_path):
    with pytest.raises(InputError, match=r"participants\.tsv: no such file"):
        read_bids(tmp_path / "nowhere")
    export_bids(study, tmp_path / "d", about=ABOUT)
    path = next((tmp_path / "d").glob("sub-07/ses-1/beh/*.tsv"))
    text = path.read_text("utf-8")
    path.write_text(text.replace("\t", "", 1), encoding="utf-8")
    with pytest.raises(TableError, match=r"line 2: 33 cells, expected 32"):
        read_bids(tmp_path / "d")
    path.write_text(text.replace("\tcorrect\t", "\tright\t"), encoding="utf-8")
    with pytest.raises(TableError, match="'right'"):
        read_bids(tmp_path / "d")
    path.write_text(text, encoding="utf-8")
    people = tmp_path / "d" / "participants.tsv"
    kept = [line for line in people.read_text("utf-8").splitlines() if "sub-07" not in line]
    people.write_text("\n".join(kept) + "\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"sub-07 of .* is missing"):
        read_bids(tmp_path / "d")
    people.write_text("participant_id\nsub-07\n", encoding="utf-8")
    with pytest.raises(InputError, match="not an export of objecthood"):
        read_bids(tmp_path / "d")


def test_importing_asks_for_a_benchmark_without_people_and_with_the_same_displays(study, tmp_path):
    export_bids(study, tmp_path / "d", about=ABOUT)
    with pytest.raises(InputError, match="holds responses"):
        import_bids(study, tmp_path / "d")
    other = make_benchmark(tmp_path / "other", n_scenes=4)
    with pytest.raises(TableError, match="not in the benchmark's trials"):
        import_bids(other, tmp_path / "d")
    same = make_benchmark(tmp_path / "same")
    path, n_rows = import_bids(same, tmp_path / "d")
    assert n_rows == len(read_table(path, Responses)) == 50
    assert open_benchmark(same.folder).manifest.is_simulated


@pytest.mark.slow
def test_72_simulated_people_exported_and_read_back_give_the_planted_effects(tmp_path):
    trials = make_trials(32)
    manifest = make_benchmark(tmp_path / "x").manifest
    bench = write_benchmark(tmp_path / "b", manifest=manifest, trials=trials)
    config = replace(FAST, n_practice=0, n_blocks=4, timeout_s=5.0)
    simulate_study(bench.folder, n_people=72, seed=2, config=config)
    export_bids(open_benchmark(bench.folder), tmp_path / "bids", about=ABOUT)
    copy = write_benchmark(tmp_path / "copy", manifest=manifest, trials=trials)
    import_bids(copy, tmp_path / "bids")
    summaries = []
    for folder in (bench.folder, copy.folder):
        opened = open_benchmark(folder)
        people = analyse_people(opened)
        write_people(people, opened)
        summaries.append(summarise_people(people, opened))
    assert summaries[0] == summaries[1]
    summary = summaries[1]
    assert (summary["n_people"], summary["is_simulated"]) == (72, True)
    mean_ms = {row["condition"]: row["mean_rt_ms"] for row in summary["conditions"]}
    assert mean_ms["same close"] < mean_ms["same far"]
    assert mean_ms["same close"] + 40 < mean_ms["different close"]
    assert mean_ms["different close"] == pytest.approx(mean_ms["different far"], abs=90)
    planted = pd.Series(plant_difficulty(open_benchmark(copy.folder), seed=2))
    human = read_table(copy.folder / "human.csv", Human).set_index("trial_id")
    assert human["mean_rt_s"].corr(planted, method="spearman") > 0.6
    assert 0.85 < summary["accuracy"] < 0.97
    assert 0.25 < summary["split_half_r"] < 0.6
