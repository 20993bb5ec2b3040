"""Responses as a Psych-DS data set: CSV files named by keywords, and schema.org metadata."""

from pathlib import Path
from typing import Any

from experiment.export import (
    TASK,
    TASK_DESCRIPTION,
    About,
    collect_runs,
    describe_columns,
    is_all_simulated,
    write_readme_text,
)
from stimuli.benchmark import Benchmark
from stimuli.table_io import building_folder, write_json, write_table, write_text


def export_psych_ds(benchmark: Benchmark, folder: Path, *, about: About) -> int:
    """Write a benchmark's responses as a Psych-DS data set, and return how many runs it holds.

    Raises
    ------
    InputError
        No people, ids that can't be told apart, or `folder` isn't empty.
    """
    runs = collect_runs(benchmark)
    is_simulated = is_all_simulated(runs)
    columns = list(dict.fromkeys(name for run in runs for name in run.rows.columns))
    n_people = len({run.participant_id for run in runs})
    with building_folder(folder) as place:
        described = _describe_dataset(about, columns, is_simulated=is_simulated)
        write_json(described, place / "dataset_description.json")
        text = write_readme_text(about, is_simulated=is_simulated, n_people=n_people)
        write_text(text, place / "README.md")
        write_table(benchmark.trials, place / "materials" / "trials.csv")
        for run in runs:
            name = f"subject-{run.subject}_session-{run.visit}_task-{TASK}_run-{run.run}_data.csv"
            write_table(run.rows, place / "data" / name)
    return len(runs)


def _describe_dataset(about: About, columns: list[str], *, is_simulated: bool) -> dict[str, Any]:
    known = describe_columns()
    who = "Simulated people (drift diffusion). " if is_simulated else ""
    described: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": about.name,
        "description": who + TASK_DESCRIPTION,
        "license": about.licence,
        "variableMeasured": [_describe_variable(name, known.get(name, {})) for name in columns],
    }
    authors = [{"@type": "Person", "name": name} for name in about.authors]
    return described | ({"author": authors} if authors else {})


def _describe_variable(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    described = {"@type": "PropertyValue", "name": name}
    if "Description" in entry:
        described["description"] = entry["Description"]
    if "Units" in entry:
        described["unitText"] = entry["Units"]
    return described
