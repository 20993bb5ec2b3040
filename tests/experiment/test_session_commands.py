"""The commands of `objecthood session` that need no window."""

import json

from typer.testing import CliRunner

from commands.session import app
from experiment.tables import Responses
from stimuli.errors import InputError
from stimuli.table_io import read_table
from tests.experiment.displays import make_benchmark

CLI = CliRunner()


def call(*words):
    return CLI.invoke(app, [str(word) for word in words])


def test_the_commands_simulate_export_and_import_a_study(bench, tmp_path):
    config = tmp_path / "c.json"
    config.write_text(
        '{"n_practice": 2, "n_blocks": 2, "fixation_s": 0.1, "dots_s": 0.1}', encoding="utf-8"
    )
    done = call("simulate", bench, "--people", 4, "--config", config, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"n_people": 4, "n_rows": 40, "is_simulated": True}
    done = call(
        "export", bench, "--bids", tmp_path / "b", "--psych-ds", tmp_path / "p",
        "--author", "A B", "--author", "C D", "--licence", "CC0",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    described = json.loads((tmp_path / "b" / "dataset_description.json").read_text("utf-8"))
    assert described["Authors"] == ["A B", "C D"]
    copy = make_benchmark(tmp_path / "copy").folder
    assert call("import", copy, "--bids", tmp_path / "b").exit_code == 0
    assert len(read_table(copy / "responses" / "imported.csv", Responses)) == 40
    assert "name a folder with --bids or --psych-ds" in str(call("export", bench).exception)


def test_the_run_command_refuses_a_second_run_where_nobody_can_be_asked(bench, tmp_path):
    config = tmp_path / "c.json"
    config.write_text('{"n_blocks": 2, "n_practice": 5}', encoding="utf-8")
    words = ["run", bench, "--participant", "7", "--simulate", "--no-window", "--config", config]
    done = call(*words)
    assert done.exit_code == 0, done.output
    assert "practice: 2 displays; 5 are configured" in done.output
    assert "complete: " in done.output
    assert isinstance(call(*words).exception, InputError)
    assert call(*words, "--existing", "restart").exit_code == 0
    assert call(*words, "--existing", "resume", "--practice", "none").exception is not None


def test_every_session_command_has_an_example():
    for name in ("run", "simulate", "check", "preview", "export", "import"):
        done = call(name, "--help")
        assert done.exit_code == 0
        assert f"objecthood session {name}" in " ".join(done.output.split())
