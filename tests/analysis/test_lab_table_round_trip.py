"""Good tables of every format pass untouched, whatever their delimiter, marks, encoding and ids."""

import tomllib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.adeli2023 import read_published_responses
from analysis.human import read_responses
from analysis.lab_tables.findings import Consent
from analysis.lab_tables.folder import check_folder, fold_id
from analysis.lab_tables.importing import tabulate_presentation, write_import
from analysis.lab_tables.mapping import _parse
from analysis.lab_tables.numerals import find_decimal_mark, parse_number, plain_numeral, to_seconds
from analysis.lab_tables.reading import Declared, parse_lab_table, read_lab_table
from stimuli.benchmark import open_benchmark
from tests.analysis import lab_files as lab

LAB_READ = _parse(tomllib.loads(lab.LAB_MAPPING))
DELIMITED = {
    "objecthood": lab.own,
    "psychopy": lab.psychopy,
    "jspsych": lab.jspsych_csv,
    "eyelink": lab.eyelink,
    "mapping": lab.lab,
}
IDS = ["07", "007", "7", "NA", "None", "1e5", "Jürgen", "vp 12", "sub-01", "CG01034", "5f8d-ab"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"]


def expect(answers):
    """What a good table says, written down without the importer."""
    return [
        {
            "participant_id": a.person,
            "session": "1",
            "trial_id": a.trial_id,
            "is_practice": "False",
            "outcome": a.outcome,
            "response": a.response,
            "rt_s": lab.seconds(a),
        }
        for a in answers
    ]


def rows(table):
    names = ("participant_id", "session", "trial_id", "is_practice", "outcome", "response", "rt_s")
    written = [tabulate_presentation(p) for p in table.presentations]
    return [{name: row[name] for name in names} for row in written]


@settings(max_examples=60)
@given(
    format_=st.sampled_from(sorted(DELIMITED)),
    person=st.sampled_from(IDS),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    encoding=st.sampled_from(ENCODINGS),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    seed=st.integers(0, 99),
)
def test_a_good_table_passes_untouched(format_, person, delimiter, decimal, encoding, end, seed):
    answers = lab.make_study(person, seed=seed)
    text = DELIMITED[format_](answers, delimiter=delimiter, decimal=decimal, end=end)
    declared = Declared(
        mapping=LAB_READ if format_ == "mapping" else None,
        encoding="cp1252" if encoding == "cp1252" else None,
    )
    table = parse_lab_table(
        text.encode(encoding), file="x.csv", declared=declared, consent=Consent(), truths=lab.TRUTHS
    )
    assert [f for f in table.findings if f.stops] == []
    assert not any(f.changes for f in table.findings)
    assert table.format == format_
    assert rows(table) == expect(answers)


@settings(max_examples=25)
@given(person=st.sampled_from(IDS), encoding=st.sampled_from(ENCODINGS[:4]))
def test_good_json_passes_untouched(person, encoding):
    answers = lab.make_study(person)
    data = lab.jspsych_json(answers).encode(encoding)
    table = parse_lab_table(
        data, file="x.json", declared=Declared(), consent=Consent(), truths=lab.TRUTHS
    )
    assert [f for f in table.findings if f.stops] == []
    assert rows(table) == expect(answers)


@given(st.decimals(min_value="0.001", max_value="999999", places=3))
def test_a_numeral_keeps_every_digit(number):
    text = format(number, "f")
    assert parse_number(plain_numeral(text.replace(".", ","))) == number
    assert parse_number(to_seconds(text, "ms")) * 1000 == number
    assert to_seconds(text, "s") == text


@pytest.mark.parametrize(
    ("texts", "mark"),
    [
        (["0,02"], ","),
        (["813", "1204"], "."),
        (["1,204", "0,9"], ","),
        (["1,204", "2,119"], None),
        (["1,204", "0.813"], "."),
        (["1.234,5", "2,5"], ","),
        ([], "."),
    ],
)
def test_the_decimal_mark_is_told_from_what_cannot_be_thousands(texts, mark):
    assert find_decimal_mark(texts) == mark


@pytest.mark.parametrize("text", ["inf", "nan", "1_000", "0x1", "--1", "1,2,3", ""])
def test_what_python_takes_for_a_number_and_people_do_not_is_none(text):
    assert parse_number(text) is None


def import_study(folder, files, *, bench, consent=None, declared=None):
    """Write files, read them, check them together, and import them."""
    consent, declared = consent or Consent(), declared or Declared()
    folder.mkdir(exist_ok=True)
    tables = []
    for name, text in files.items():
        path = folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        tables.append(read_lab_table(path, declared=declared, consent=consent, trials=bench.trials))
    tables = check_folder(tables, consent=consent, is_simulated=bench.manifest.is_simulated)
    return write_import(tables, out=bench.responses_folder, declared=declared, consent=consent)


def test_files_of_four_formats_become_one_studys_responses(tmp_path):
    bench = lab.make_bench(tmp_path / "bench")
    files = {
        "a.csv": lab.own(lab.make_study("07")),
        "b.csv": lab.psychopy(lab.make_study("08")),
        "c.json": lab.jspsych_json(lab.make_study("09")),
        "d.csv": lab.eyelink(lab.make_study("10")),
    }
    done = import_study(tmp_path / "raw", files, bench=bench)
    assert (done.n_people, done.n_presentations, done.n_changes) == (4, 64, 0)
    assert (bench.responses_folder / "sub-07.csv").read_text() == files["a.csv"]
    responses = read_responses(bench)
    assert sorted(responses["participant_id"].unique()) == ["07", "08", "09", "10"]
    assert responses["outcome"].value_counts().to_dict() == {
        "correct": 52,
        "wrong": 8,
        "timeout": 4,
    }


@pytest.mark.shared
def test_the_published_people_survive_the_raw_tables_columns(shared, tmp_path):
    """72 files in the columns of the published raw table give the published responses."""
    known = read_published_responses(shared / "adeli2023").iloc[:4000]
    parts = known["trial_id"].str.extract(
        r"(?P<image_id>.+?)_(?P<img_id>\d+)_(?P<same>\w+)_(?P<close_far>\w+)"
    )
    raw = pd.DataFrame(
        {
            "RECORDING_SESSION_LABEL": known["participant_id"],
            "trial_type": "exp",
            "image_id": parts["image_id"],
            "img_id": parts["img_id"],
            "same_diff": parts["same"].map({"same": "same", "different": "diff"}),
            "close_far": parts["close_far"],
            "same_button": 6,
            "REACTION_TIME": (known["rt_s"] * 1000).round().astype(int),
            "RT_EVENT_BUTTON_ID": np.where(known["response"] == "same", 6, 7),
        }
    )
    truths = {i: s == "same" for i, s in zip(known["trial_id"], parts["same"], strict=True)}
    table = parse_lab_table(
        raw.to_csv(index=False, sep="\t").encode("utf-16"),
        file="raw.txt",
        declared=Declared(),
        consent=Consent(),
        truths=truths,
    )
    assert [f for f in table.findings if f.stops] == []
    found = pd.DataFrame(rows(table))
    assert list(found["trial_id"]) == list(known["trial_id"])
    assert (found["outcome"] == "correct").all()
    np.testing.assert_array_equal(found["rt_s"].astype(float), known["rt_s"].round(3))


# ---- several files together ----


def check(files, *, consent=None, **more):
    consent = consent or Consent()
    tables = [
        parse_lab_table(
            text.encode(), file=name, declared=Declared(), consent=consent, truths=lab.TRUTHS
        )
        for name, text in files.items()
    ]
    return check_folder(tables, consent=consent, **more)


def find(tables, rule):
    return [f for table in tables for f in table.findings if f.rule == rule]


def test_one_person_in_two_files_with_other_data_is_an_error():
    tables = check(
        {"a.csv": lab.own(lab.make_study("07")), "b.csv": lab.own(lab.make_study("07", 2))}
    )
    (finding,) = find(tables, "participant-in-two-files")
    assert (finding.file, finding.line, finding.stops) == ("b.csv", 2, True)


def test_one_person_whose_session_goes_on_in_another_file_is_only_noted():
    answers = lab.make_study("07")
    tables = check({"a.csv": lab.own(answers[:8]), "b.csv": lab.own(answers[8:])})
    (finding,) = find(tables, "participant-continues")
    assert finding.file == "b.csv"
    assert not any(f.stops for table in tables for f in table.findings)


def test_a_copy_of_a_file_is_left_out_with_a_flag_only():
    text = lab.own(lab.make_study("07"))
    files = {"a.csv": text, "copy of a.csv": text}
    assert find(check(files), "file-twice")[0].stops
    tables = check(files, consent=Consent(repair=frozenset({"file-twice"})))
    assert [len(table.presentations) for table in tables] == [16, 0]
    assert not any(f.stops for table in tables for f in table.findings)


@pytest.mark.parametrize(
    "pair", [("007", "7"), ("P01", "p01"), ("vp-1", "vp 1"), ("Sub_3", "sub3")]
)
def test_ids_that_differ_by_zeros_case_or_dashes_are_asked_about(pair):
    files = {f"{k}.csv": lab.own(lab.make_study(person)) for k, person in enumerate(pair)}
    (finding,) = find(check(files), "ids-nearly-equal")
    assert (finding.value, finding.stops) == (pair[1], True)
    accepted = check(files, consent=Consent(accept=frozenset({"ids-nearly-equal"})))
    assert not find(accepted, "ids-nearly-equal")[0].stops


@pytest.mark.parametrize("pair", [("1", "10"), ("100", "10"), ("0", "00a"), ("a1", "b1")])
def test_other_ids_are_other_people(pair):
    assert fold_id(pair[0]) != fold_id(pair[1])


def test_a_person_of_the_output_folder_is_not_imported_again():
    tables = check({"a.csv": lab.own(lab.make_study("07"))}, there_already={"07"})
    assert find(tables, "participant-there-already")[0].stops


def test_simulated_people_are_not_put_among_real_ones():
    text = lab.own(lab.make_study("07"))
    assert find(check({"a.csv": text}, is_simulated=True), "simulated-and-real")[0].stops
    assert not find(check({"a.csv": text}, is_simulated=False), "simulated-and-real")


def test_a_person_with_few_trials_is_noted():
    files = {f"{p}.csv": lab.own(lab.make_study(p)) for p in ("01", "02", "03")}
    files["04.csv"] = lab.own(lab.make_study("04")[:5])
    assert [f.file for f in find(check(files), "fewer-trials")] == ["04.csv"]


def test_what_was_changed_is_written_down(tmp_path):
    bench = lab.make_bench(tmp_path / "bench")
    text = lab.own(lab.make_study("07"))
    lines = text.splitlines(keepends=True)
    broken = "".join([*lines[:5], lines[0], *lines[5:]])
    consent = Consent(repair=frozenset({"header-repeated"}))
    done = import_study(tmp_path / "raw", {"a.csv": broken}, bench=bench, consent=consent)
    changes = pd.read_csv(done.record / "changes.csv", dtype=str, keep_default_na=False)
    assert changes[["line", "column", "after", "rule"]].to_numpy().tolist() == [
        ["6", "", "(left out)", "header-repeated"]
    ]
    assert (bench.responses_folder / "sub-07.csv").read_text() == text
    assert len(read_responses(open_benchmark(bench.folder))) == 16
