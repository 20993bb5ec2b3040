"""`objecthood data check` and `data import-responses` as a lab member meets them."""

import json
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import objecthood
from analysis.lab_tables.rules import RULES
from tests.analysis import lab_files as lab

GOOD = lab.own(lab.make_study("07"))


@pytest.fixture
def bench(tmp_path):
    return lab.make_bench(tmp_path / "bench")


def run(monkeypatch, *words):
    """Run the command; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["objecthood", "data", *map(str, words)])
    with pytest.raises(SystemExit) as stopped:
        objecthood.main()
    return stopped.value.code or 0


def write(folder, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def test_a_good_folder_is_said_to_be_clean_and_stays_as_it_is(monkeypatch, capsys, tmp_path, bench):
    raw = write(tmp_path / "raw", a=GOOD, b=lab.psychopy(lab.make_study("08")))
    before = {path: path.read_bytes() for path in raw.iterdir()}
    assert run(monkeypatch, "check", raw, "--benchmark", bench.folder) == 0
    assert "2 files: 2 clean, 0 not" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in raw.iterdir()} == before


def test_a_fault_is_printed_with_file_line_value_and_what_to_do(monkeypatch, capsys, tmp_path):
    lines = GOOD.splitlines(keepends=True)
    broken = "".join([*lines[:5], lines[0], *lines[5:]])
    raw = write(tmp_path / "raw", a=broken)
    assert run(monkeypatch, "check", raw / "a.csv") == 2
    out = capsys.readouterr().out
    assert "repairable: header-repeated x 1" in out
    assert "a.csv:6" in out
    assert "--repair all-safe repairs header-repeated" in out
    assert run(monkeypatch, "check", raw, "--repair", "header-repeated") == 0


def test_json_lists_every_finding(monkeypatch, capsys, tmp_path):
    raw = write(tmp_path / "raw", a=GOOD.replace(",wrong,", ",oops,"))
    assert run(monkeypatch, "check", raw, "--json") == 2
    found = json.loads(capsys.readouterr().out)
    (file,) = found["files"]
    findings = [f for f in file["findings"] if f["rule"] == "unknown-code"]
    assert len(findings) == GOOD.count(",wrong,")
    assert findings[0]["value"] == "oops"
    assert findings[0]["line"] == 1 + next(
        k for k, line in enumerate(GOOD.splitlines()) if ",wrong," in line
    )


def test_the_template_of_an_unknown_table_lists_its_columns_and_is_toml(
    monkeypatch, capsys, tmp_path
):
    raw = write(tmp_path / "raw", a=lab.lab(lab.make_study("07")))
    assert run(monkeypatch, "check", raw / "a.csv", "--template") == 0
    text = capsys.readouterr().out
    assert all(name in text for name in ("vp", "item", "latency"))
    tomllib.loads(text)


def test_every_rule_is_listed(monkeypatch, capsys):
    assert run(monkeypatch, "check", "--list-rules", "--json") == 0
    assert [rule["name"] for rule in json.loads(capsys.readouterr().out)["rules"]] == list(RULES)


def test_the_docs_hold_every_rule_as_it_is():
    text = (Path(objecthood.__file__).parent / "docs" / "lab_tables.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[:3] for line in text.splitlines() if line.startswith("| `")]
    told = [(name.strip("|` "), severity, finds) for name, severity, finds in rows]
    assert told == [(rule.name, rule.severity, rule.finds) for rule in RULES.values()]


def test_a_mapped_table_becomes_responses_that_human_reads(monkeypatch, capsys, tmp_path, bench):
    raw = write(tmp_path / "raw", a=lab.lab(lab.make_study("07")), b=lab.lab(lab.make_study("08")))
    (tmp_path / "lab.toml").write_text(lab.LAB_MAPPING, encoding="utf-8")
    words = ("--benchmark", bench.folder, "--mapping", tmp_path / "lab.toml")
    assert run(monkeypatch, "import-responses", raw, *words) == 0
    assert "2 people, 32 presentations, 0 changes" in capsys.readouterr().out
    (record,) = (bench.responses_folder / "imports").iterdir()
    assert pd.read_csv(record / "changes.csv").empty
    monkeypatch.setattr(sys, "argv", ["objecthood", "human", str(bench.folder), "--json"])
    with pytest.raises(SystemExit):
        objecthood.main()
    assert json.loads(capsys.readouterr().out)["n_people"] == 2


def test_what_is_not_clean_is_not_imported(monkeypatch, capsys, tmp_path, bench):
    raw = write(tmp_path / "raw", a=GOOD.replace(",wrong,", ",oops,"))
    assert run(monkeypatch, "import-responses", raw, "--benchmark", bench.folder) == 2
    assert "unknown-code" in capsys.readouterr().out
    assert not bench.responses_folder.exists()


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["check"], "no file is named"),
        (["check", "missing.csv"], "missing.csv"),
        (["check", "empty"], "empty"),
        (["check", "a.csv", "--mapping", "none.toml"], "none.toml: no such file"),
        (["check", "a.csv", "--mapping", "bad.toml"], "unknown key"),
        (["check", "a.csv", "--decimal", "x"], "expected '.' or ','"),
        (["check", "a.csv", "--delimiter", "ab"], "expected one character"),
        (["check", "a.csv", "--timeout-s", "-1"], "seconds above 0"),
        (["check", "a.csv", "--encoding", "klingon"], "klingon"),
        (["check", "a.csv", "--repair", "nonsense"], "no rule 'nonsense'"),
        (["check", "--template"], "--template needs a table"),
        (["import-responses", "a.csv"], "--benchmark is missing"),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(monkeypatch, capsys, tmp_path, words, match):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.csv").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.toml").write_text('nonsense = "x"\n', encoding="utf-8")
    assert run(monkeypatch, *words) == 2
    error = capsys.readouterr().err
    assert match in " ".join(error.split())
    assert "Traceback" not in error


def test_a_file_that_may_not_be_read_is_named(monkeypatch, capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(GOOD, encoding="utf-8")

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert run(monkeypatch, "check", path) == 2
    assert "a.csv: can't be read (Permission denied)" in capsys.readouterr().err.replace("\n", "")
