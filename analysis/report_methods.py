"""The methods section of a report, written from the configuration that ran and from nothing else."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.leaderboard import RecordedScores
from analysis.metrics import HEADLINE_METRIC
from analysis.people import PeopleAnalysis
from analysis.records import PACKAGES
from stimuli.benchmark import Benchmark
from stimuli.provenance import find_commit, find_versions
from stimuli.tables import CELL_NAMES, name_cells

BIBTEX = {
    "adeli2023": (
        "@misc{adeli2023,\n  author = {Adeli, Hossein and others},\n  year = {2023},\n"
        "  eprint = {2306.00294},\n  archivePrefix = {arXiv}\n}"
    ),
    "adeli2026": (
        "@misc{adeli2026,\n  author = {Adeli and Ahn and Luo and Zhang and Kriegeskorte and Zelinsky},\n"
        "  title = {Human-like Object Grouping in Self-supervised Vision Transformers},\n"
        "  year = {2026},\n  eprint = {2603.13994},\n  archivePrefix = {arXiv}\n}"
    ),
}


def write_methods(
    benchmark: Benchmark, people: PeopleAnalysis, files: RecordedScores
) -> dict[str, str]:
    """Return the methods' paragraphs by heading.

    Parameters
    ----------
    benchmark, people, files
        What ran: the trial table, the people with their rules, and the score files with their
        settings. A setting that differs between score files is given with all its values. Without
        score files there are no paragraphs on models and scores.
    """
    methods = {
        "Displays": _write_displays(benchmark),
        "People": _write_people(people, is_simulated=benchmark.manifest.is_simulated),
    }
    if files:
        methods |= {"Models": _write_models(files), "Scores": _write_scores(files)}
    return methods


def _write_displays(benchmark: Benchmark) -> str:
    trials = benchmark.trials
    cells = name_cells(trials)
    counts = [
        f"{int((cells == name).sum())} {name}" for name in CELL_NAMES if (cells == name).any()
    ]
    distances = [
        f"{name} {part['distance_px'].mean():.1f} px (SD {part['distance_px'].std():.1f})"
        for name, part in trials.groupby("distance_condition", sort=False)
    ]
    return (
        f"Each of {len(trials)} displays showed two dots on one of {trials['scene_id'].nunique()} "
        f"scenes ({', '.join(counts)}). Mean distance between the dots: {', '.join(distances)}. "
        f"Photographs were at hand for {int(trials['image'].notna().sum())} displays and the objects "
        f"under the dots known for {int(trials['object1_id'].notna().sum())}. Source: "
        f"{benchmark.manifest.source}."
    )


def _write_people(people: PeopleAnalysis, *, is_simulated: bool) -> str:
    kind = "simulated observers (not people)" if is_simulated else "people"
    rules = "; ".join(f"{rule.name} ({rule.reason})" for rule in people.rules)
    n = int(people.human["n_people"].sum())
    each = people.human["n_people"]
    return (
        f"{len(people.times.participant_ids)} {kind} gave {n} analysed reaction times, "
        f"{int(each.min())} to {int(each.max())} per display (median {each.median():g}). Rules, in "
        f"order, each presentation counted under the first that takes it: {rules}."
    )


def _write_models(files: RecordedScores) -> str:
    models = [_describe_model(record["model"]) for _, record, _ in files]
    return f"{len(files)} models and controls were scored: {'; '.join(models)}."


def _describe_model(model: Mapping[str, Any]) -> str:
    facts = [
        "random weights" if model.get("is_random_weights") else None,
        f"geometry {model['geometry']}" if model.get("geometry") else None,
        f"weights {model['weights_sha256'][:12]}" if model.get("weights_sha256") else None,
        f"from {model['source']}" if model.get("source") else None,
    ]
    given = ", ".join(fact for fact in facts if fact)
    return f"{model.get('name', 'a model without name')} ({given})" if given else str(model["name"])


def _write_scores(files: RecordedScores) -> str:
    records = [record for _, record, _ in files]
    return (
        "Readouts were turned into predicted difficulty (evidence for 'same' standardised within each "
        "type of trial and signed by it) and correlated with people's mean reaction time (Spearman's "
        f"r). Headline: {HEADLINE_METRIC}, condition and ranked distance removed by rank regression. "
        "95 % intervals over people and scenes on Fisher's z; ceilings on the same rows and under the "
        f"same metric. Settings: {_list_settings(records)}; metric version "
        f"{records[0]['metric_version']}; trial table {records[0]['trials_sha256'][:12]}."
    )


def _list_settings(records: list[dict[str, Any]]) -> str:
    names = dict.fromkeys(name for record in records for name in record["settings"])
    parts = []
    for name in names:
        values = dict.fromkeys(str(record["settings"].get(name)) for record in records)
        parts.append(f"{name} {' or '.join(values)}")
    return ", ".join(parts)


def list_versions(files: RecordedScores) -> pd.DataFrame:
    """Return package, version and number of score files, and the commits that scored.

    Without score files, the versions of this moment.
    """
    if not files:
        now = {**find_versions(PACKAGES), "commit": find_commit()}
        return pd.DataFrame({"what": list(now), "version": [str(v) for v in now.values()]})
    rows = [
        (package, str(version))
        for _, record, _ in files
        for package, version in [*record["versions"].items(), ("commit", record.get("commit"))]
    ]
    table = pd.DataFrame(rows, columns=["what", "version"]).value_counts(sort=False)
    return table.rename("score files").reset_index()
