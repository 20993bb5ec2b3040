"""From a request to a session: earlier runs, locks, numbers, simulated people, whole studies."""

import json
import multiprocessing
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from experiment.checks import Check, make_report
from experiment.config import PUBLISHED_SESSION, fit_to_design, read_config
from experiment.endings import SessionAborted
from experiment.launch import (
    Request,
    check_not_mixed,
    decide_run,
    plant_difficulty,
    prepare,
    refuse_on_fail,
    run_request,
)
from experiment.row_file import read_rows
from experiment.runs import (
    assign_number,
    find_current_run,
    locking,
    name_run,
    next_run,
    supersede,
)
from experiment.screen import read_display
from experiment.study import simulate_study
from experiment.tables import Responses
from stimuli.benchmark import open_benchmark
from stimuli.design import DEMO_DESIGN, write_design
from stimuli.errors import InputError
from stimuli.table_io import read_table
from tests.experiment.apparatus import FAST
from tests.experiment.displays import make_benchmark

ROOT = Path(__file__).parents[2]


def make_request(bench, participant="07", **changes):
    request = Request(
        benchmark=bench,
        participant=participant,
        session="1",
        config=FAST,
        display=None,
        is_simulated=True,
    )
    return replace(request, **changes)


def run(bench, participant="07", *, answer="refuse", **changes):
    return run_request(prepare(make_request(bench, participant, **changes)), ask=lambda _: answer)


def test_a_person_needs_a_window(bench):
    with pytest.raises(InputError, match="a person needs a window"):
        prepare(make_request(bench, is_simulated=False))


def test_rows_and_sidecar_say_everything_that_made_them(bench):
    files = run(bench)
    table = read_table(files.rows, Responses)
    assert table["participant_id"].unique().tolist() == ["07"]
    assert table["is_simulated"].all()
    sidecar = json.loads(files.sidecar.read_text(encoding="utf-8"))
    assert (sidecar["participant_id"], sidecar["number"], sidecar["list_number"]) == ("07", 7, 3)
    assert sidecar["trials_sha256"] == open_benchmark(bench).trials_sha256
    assert sidecar["trial_ids"] == table["trial_id"].tolist()
    assert sidecar["config"]["fixation_s"] == FAST.fixation_s
    apparatus = sidecar["segments"][0]["apparatus"]
    assert {"host", "system", "versions", "commit", "check", "observer", "keyboard"} <= set(
        apparatus
    )
    assert apparatus["versions"]["numpy"]
    assert open_benchmark(bench).manifest.is_simulated


def test_a_simulated_person_is_the_same_each_time_and_shares_the_displays_difficulty(bench):
    def answers(folder, participant):
        rows = read_rows(run(folder, participant).rows).rows
        return [(row["trial_id"], row["outcome"], row["rt_s"]) for row in rows]

    first = answers(bench, "07")
    other = make_benchmark(bench.parent / "again").folder
    assert answers(other, "07") == first
    assert answers(other, "11") != first
    opened = open_benchmark(bench)
    assert plant_difficulty(opened, seed=0) == plant_difficulty(opened, seed=0)
    assert plant_difficulty(opened, seed=0) != plant_difficulty(opened, seed=1)


def test_an_earlier_run_is_refused_resumed_or_restarted_and_never_overwritten(bench):
    files = run(bench)
    before = files.rows.read_bytes()
    with pytest.raises(InputError, match=r"was run before .*--existing resume.*--existing restart"):
        run(bench)
    with pytest.raises(InputError, match="was run before"):
        run(bench, existing="refuse", answer="restart")
    resumed = run(bench, existing="resume")
    assert resumed == files
    assert files.rows.read_bytes() == before  # it was complete
    again = run(bench, answer="restart")
    assert again.run == 2
    aside = files.folder / "superseded" / files.rows.name
    assert aside.read_bytes() == before
    assert aside.with_suffix(".json").is_file()
    assert not files.rows.exists()
    assert run(bench, existing="restart").run == 3


def test_nobody_is_asked_when_the_policy_is_given(bench):
    run(bench)

    def fail(_):
        raise AssertionError("asked")

    prepared = prepare(make_request(bench, existing="resume"))
    assert decide_run(prepared, ask=fail)[1] is None


def test_another_session_of_the_same_participant_keeps_number_and_keys(bench):
    first = run(bench, "Zoë")
    run(bench, "Jürgen")
    second = run(bench, "Zoë", session="2")
    a, b = (json.loads(f.sidecar.read_text(encoding="utf-8")) for f in (first, second))
    assert (a["number"], b["number"]) == (1, 1)
    assert a["key_map"] == b["key_map"]
    assert a["list_number"] != b["list_number"]


def test_numbers_are_given_remembered_or_read_from_the_id(bench):
    responses = open_benchmark(bench).responses_folder
    assert assign_number(responses, "07") == 7
    assert assign_number(responses, "Zoë", given=5) == 5
    run(bench, "Zoë", number=5)
    assert assign_number(responses, "Zoë") == 5
    assert assign_number(responses, "Ana") == 6
    with pytest.raises(InputError, match="has number 5 in an earlier session"):
        assign_number(responses, "Zoë", given=6)
    with pytest.raises(InputError, match="--number is 0"):
        assign_number(responses, "x", given=0)


@pytest.mark.parametrize(
    "participant",
    [
        "Zoë Müller",
        "日本語 1",
        "a/b\\c:d*e?",
        "q\"u;o,t'e 2",
        "NA",
        "nul",
        "x" * 300,
        "-3",
        "..",
        "=1+1",
    ],
)
def test_any_participant_id_and_path_round_trips_through_every_file(tmp_path, participant):
    folder = make_benchmark(tmp_path / "Ordner mit ü; und 'Zeichen'", n_scenes=4).folder
    files = run(folder, participant, number=3, session="Sitzung 1; früh")
    table = read_table(files.rows, Responses)
    assert set(table["participant_id"]) == {participant}
    assert set(table["session"]) == {"Sitzung 1; früh"}
    sidecar = json.loads(files.sidecar.read_text(encoding="utf-8"))
    assert sidecar["participant_id"] == participant
    assert files.rows.name.isascii()
    assert len(files.rows.name) < 255
    responses = open_benchmark(folder).responses_folder
    found = find_current_run(responses, participant_id=participant, session="Sitzung 1; früh")
    assert found == files


def test_different_ids_never_share_files_even_where_case_is_ignored(tmp_path):
    ids = ["ab", "AB", "a b", "a-b", "ä", "a", "a/b", "07", "7", "007"]
    names = {
        name_run(tmp_path, participant_id=i, session="1", run=1).rows.name.lower() for i in ids
    }
    assert len(names) == len(ids)


def test_decomposed_and_composed_ids_are_one_person(bench):
    run(bench, "Zoe\u0308")
    with pytest.raises(InputError, match="was run before"):
        run(bench, "Zo\u00eb")


def test_run_numbers_count_superseded_runs(tmp_path):
    label = {"participant_id": "a", "session": "1"}
    assert find_current_run(tmp_path, **label) is None
    assert next_run(tmp_path, **label) == 1
    files = name_run(tmp_path, **label, run=1)
    files.rows.write_text("x", encoding="utf-8")
    supersede(files)
    assert find_current_run(tmp_path, **label) is None
    assert next_run(tmp_path, **label) == 2
    files.rows.write_text("y", encoding="utf-8")
    with pytest.raises(InputError, match="nothing is overwritten"):
        supersede(files)


HOLD = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from experiment.runs import locking
with locking(Path(sys.argv[2]), "07"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_two_programs_on_one_participant_are_refused_until_the_first_is_gone(bench):
    responses = open_benchmark(bench).responses_folder
    command = [sys.executable, "-c", HOLD, str(ROOT), str(responses)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(InputError, match="is being run by another program"):
                run(bench)
            run(bench, "08")
        finally:
            holder.kill()
    run(bench)


def test_a_lock_is_free_again_when_its_block_ends(tmp_path):
    for _ in range(2):
        with locking(tmp_path, "07"):
            pass


def test_simulated_and_real_people_never_share_a_folder(bench):
    opened = open_benchmark(bench)
    opened.responses_folder.mkdir()
    (opened.responses_folder / "real.csv").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds real people \(real\.csv\)"):
        run(bench)
    (opened.responses_folder / "real.csv").unlink()
    run(bench)
    with pytest.raises(InputError, match="its people are simulated"):
        check_not_mixed(open_benchmark(bench), is_simulated=False)


def test_a_failed_check_stops_the_session_unless_there_is_a_reason():
    display = read_display("virtual")
    bad = Check(name="refresh", status="fail", found="59 Hz", expected="60 Hz", remedy="set it")
    warn = replace(bad, status="warn")
    refuse_on_fail(make_report(display, [warn]), despite=None)
    report = make_report(display, [warn, bad])
    with pytest.raises(InputError, match=r"refresh: 59 Hz, expected 60 Hz \(set it\)"):
        refuse_on_fail(report, despite=None)
    with pytest.raises(InputError, match="--despite"):
        refuse_on_fail(report, despite="")
    refuse_on_fail(report, despite="a demonstration")


def test_the_reason_stands_in_every_row(bench):
    rows = read_rows(run(bench, despite='screen; was "odd"\nbut fine').rows).rows
    assert {row["despite"] for row in rows} == {'screen; was "odd"\nbut fine'}


def test_a_study_of_simulated_people_is_completed_by_the_same_command(bench):
    calls = []
    n_rows = simulate_study(
        bench, n_people=5, seed=3, config=FAST, on_person=lambda: calls.append(1)
    )
    assert n_rows == 5 * 10
    assert len(calls) == 5
    files = sorted((bench / "responses").glob("*.csv"))
    assert len(files) == 5
    before = [path.read_bytes() for path in files]
    assert simulate_study(bench, n_people=6, seed=3, config=FAST) == 6 * 10
    assert [path.read_bytes() for path in files] == before
    with pytest.raises(InputError, match="n_people is 0"):
        simulate_study(bench, n_people=0, seed=3, config=FAST)


def test_a_session_interrupted_by_a_full_disk_can_be_resumed(bench, monkeypatch):
    from experiment.row_file import RowFile

    real = RowFile.append

    def append(self, row):
        real(self, row)
        if row.position == 4:
            raise SessionAborted("storage failed", "full")

    monkeypatch.setattr(RowFile, "append", append)
    with pytest.raises(SessionAborted):
        run(bench)
    monkeypatch.undo()
    rows = read_rows(run(bench, existing="resume").rows).rows
    assert [int(row["position"]) for row in rows] == list(range(1, 11))


def test_no_session_starts_processes_or_needs_psychopy_without_a_window(bench):
    run(bench)
    assert not multiprocessing.active_children()
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import experiment.launch, experiment.study;"
        "assert not [m for m in sys.modules if m.split('.')[0] in {'psychopy', 'torch', 'pyglet'}]"
    )
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, str(ROOT)], check=True)
    assert time.perf_counter() - start < 20


def test_a_tracker_needs_a_window_and_the_usual_keyboard(bench):
    with pytest.raises(InputError, match="--tracker mouse needs a window"):
        prepare(make_request(bench, tracker="mouse"))
    request = make_request(
        bench, tracker="mouse", keyboard="iohub", display=read_display("virtual")
    )
    with pytest.raises(InputError, match="leave --keyboard at ptb"):
        prepare(request)


def test_events_are_told_without_a_window_too(bench, tmp_path):
    path = tmp_path / "events.jsonl"
    run(bench, events=path)
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert sum(event["event"] == "image" for event in events) == 10


def test_a_segment_whose_end_was_never_written_is_said_to_have_died(bench):
    files = run(bench)
    content = json.loads(files.sidecar.read_text(encoding="utf-8"))
    content["segments"][0] |= {"ended_because": None, "ended_at": None, "n_rows": 0}
    files.sidecar.write_text(json.dumps(content), encoding="utf-8")
    rows = files.rows.read_text(encoding="utf-8").splitlines(keepends=True)
    files.rows.write_text("".join(rows[:5]), encoding="utf-8")
    run(bench, existing="resume")
    first, second = json.loads(files.sidecar.read_text(encoding="utf-8"))["segments"]
    assert (first["ended_because"], first["n_rows"]) == ("died", 4)
    assert (second["ended_because"], second["n_rows"]) == ("complete", 6)


def test_the_dot_and_the_scale_are_those_that_the_benchmark_was_designed_for(bench):
    assert fit_to_design(bench) == PUBLISHED_SESSION
    write_design(DEMO_DESIGN, bench / "design.json")
    config = fit_to_design(bench)
    assert (config.dot_style.radius_px, config.dot_style.core_radius_px) == (4.0, 2.5)
    assert config.image_px_per_degree == DEMO_DESIGN.px_per_degree
    path = bench / "c.json"
    path.write_text('{"timeout_s": 2, "dot_style": {"radius_px": 6}}', encoding="utf-8")
    changed = read_config(path, base=config)
    assert (changed.dot_style.radius_px, changed.dot_style.core_radius_px) == (6, 2.5)
