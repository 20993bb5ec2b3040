"""Checking a score file that somebody sends, so that a board can be kept by pull request.

Three steps, each deeper than the last: what the file says of itself (schema, versions, hashes, numbers
that must follow from each other); with the benchmark, whether it is of these trials and people; with the
readouts, whether scoring them again gives the numbers that the file claims. All reasons are collected, so
that a sender can mend a file in one go. `objecthood submit-check` prints them.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.exclusions import rules_of
from analysis.leaderboard import WHOLE_FACTS
from analysis.metrics import METRIC_VERSION
from analysis.people import load_times
from analysis.prepared import ScoreSettings
from analysis.readout_files import read_readouts
from analysis.records import FORMAT, read_score_file, summarise_readouts
from analysis.scoring import score_readouts
from model_eval.tables import READOUT_KEY
from stimuli.benchmark import Benchmark, hash_file
from stimuli.errors import InputError
from stimuli.table_io import name_some, safe_file_name

# Scores are stored with all their digits; two machines' sums may differ in the last few.
TOLERANCE = 1e-6
MAX_FILE_BYTES = 50_000_000
MAX_DRAWS = 100_000  # more would keep a checking machine busy for hours
SHA256 = re.compile(r"[0-9a-f]{64}")
NEEDED: Mapping[str, type | tuple[type, ...]] = {
    "format": str,
    "metric_version": str,
    "benchmark": str,
    "benchmark_version": str,
    "is_simulated": bool,
    "trials_sha256": str,
    "settings": dict,
    "command": str,
    "created": str,
    "versions": dict,
    "model": dict,
}
# Least and most. Files from before ceilings had intervals lack n_left_out_halves: none, 0.
SETTINGS = {
    "n_draws": (1, MAX_DRAWS),
    "n_halves": (1, MAX_DRAWS),
    "n_left_out_halves": (0, 1000),
    "seed": (0, 2**63),
}
RATIOS = ("split_half", "attainable", "one_vs_rest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was found.

    Attributes
    ----------
    model
        The model's name, where the file could be read.
    reasons
        Why the file is refused; none: it may go on the board.
    remarks
        What a maintainer should know of a file that is not refused for it.
    checked
        The steps that were made.
    """

    model: str | None
    reasons: tuple[str, ...]
    remarks: tuple[str, ...]
    checked: tuple[str, ...]


def check_submission(
    path: Path, *, benchmark: Benchmark | None = None, readouts: Path | None = None
) -> Verdict:
    """Return whether a score file may go on a board, and every reason why not.

    Parameters
    ----------
    path
        A score file, as `objecthood evaluate` or `objecthood score` writes it.
    benchmark
        The board's benchmark, with its people: checks that the file is of it.
    readouts
        The readouts that the file was scored from (CSV or parquet): scores them again. Needs the
        benchmark.

    Raises
    ------
    InputError
        Readouts were given without a benchmark, or the benchmark has no people.
    """
    if readouts is not None and benchmark is None:
        raise InputError("--readouts needs --benchmark: they are scored again against its people")
    try:
        _check_size(path)
        _, record, scores = read_score_file(path)
    except InputError as error:
        return Verdict(model=None, reasons=(str(error),), remarks=(), checked=("file",))
    reasons = list(_check_fields(record))
    checked = ["file", "fields"]
    if not reasons:
        reasons += [*_check_record(record), *_check_scores(scores, record, path)]
        checked += ["versions", "hashes", "values"]
    if not reasons and benchmark is not None:
        reasons += _check_benchmark(record, scores, benchmark)
        checked.append("benchmark")
    if not reasons and benchmark is not None and readouts is not None:
        reasons += _score_again(record, scores, benchmark, readouts=readouts)
        checked.append("scored again")
    return Verdict(
        model=str(scores["model"].iloc[0]) if len(scores) else None,
        reasons=tuple(reasons),
        remarks=() if reasons else tuple(_find_remarks(record, scores, checked)),
        checked=tuple(checked),
    )


def _check_size(path: Path) -> None:
    if path.is_file() and path.stat().st_size > MAX_FILE_BYTES:
        raise InputError(
            f"{path}: {path.stat().st_size} bytes; a score file has at most {MAX_FILE_BYTES}. Send "
            "scores, not readouts"
        )


def _check_fields(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the record lacks, or has of another type."""
    for name, kind in NEEDED.items():
        if name not in record:
            yield f"{name} is missing; expected what 'objecthood score' writes ({FORMAT})"
        elif not isinstance(record[name], kind):
            expected = getattr(kind, "__name__", str(kind))
            yield f"{name} is {record[name]!r}; expected a {expected}"
    settings = record.get("settings")
    if isinstance(settings, dict):
        for name, (low, high) in SETTINGS.items():
            value = settings.get(name, 0 if name == "n_left_out_halves" else None)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                yield f"settings: {name} is {value!r}; expected a whole number from {low} to {high}"


def _check_record(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with versions, hashes, time and the model's own facts."""
    if record["metric_version"] != METRIC_VERSION:
        yield (
            f"metric_version is {record['metric_version']!r}, but this board's is "
            f"{METRIC_VERSION!r}; score the readouts anew with this version of objecthood"
        )
    model = record["model"]
    hashes = {
        "trials_sha256": record["trials_sha256"],
        "responses_sha256": record.get("responses_sha256"),
        "readouts_sha256": record.get("readouts_sha256"),
        "model: weights_sha256": model.get("weights_sha256"),
        "model: readouts_sha256": model.get("readouts_sha256"),
    }
    for name, value in hashes.items():
        if value is not None and not SHA256.fullmatch(str(value)):
            yield f"{name} is {value!r}; expected 64 hexadecimal digits"
    yield from _check_time(record["created"])
    if bool(model.get("is_random_weights", False)) != (model.get("random_seed") is not None):
        yield (
            f"model: is_random_weights is {model.get('is_random_weights')!r} with random_seed "
            f"{model.get('random_seed')!r}; random weights have a seed, and others have none"
        )
    for name in WHOLE_FACTS:
        value = model.get(name)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or value < 0
        ):
            yield f"model: {name} is {value!r}; expected a whole number or null"


def _check_time(created: str) -> Iterator[str]:
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        yield f"created is {created!r}; expected a time such as 2026-01-31T12:00:00+00:00"
        return
    if moment.tzinfo is None:
        yield f"created is {created!r}, without a time zone; expected one, such as +00:00"
    elif moment > datetime.now(UTC) + timedelta(days=1):
        yield f"created is {created!r}, which lies in the future"


def _check_scores(scores: pd.DataFrame, record: Mapping[str, Any], path: Path) -> Iterator[str]:
    """Yield what is wrong with the rows: whose they are, which they are, and their numbers."""
    if scores.empty:
        yield "it holds no scores"
        return
    names = scores["model"].unique()
    if len(names) > 1:
        yield f"scores of {len(names)} models ({name_some(names)}); expected one model a file"
    elif record["model"].get("name") != names[0]:
        yield f"the model calls itself {record['model'].get('name')!r}, its scores {names[0]!r}"
    elif path.name != f"{safe_file_name(str(names[0]))}.json":
        yield f"the file is called {path.name!r}; call it '{safe_file_name(str(names[0]))}.json'"
    twice = scores.duplicated([*READOUT_KEY, "metric"])
    if twice.any():
        yield f"{_name_row(scores[twice].iloc[0])} occurs twice"
    for key, rows in scores.groupby(READOUT_KEY, sort=False, dropna=False):
        missing = {"partial", "all", "published"} - set(rows["metric"])
        if missing:
            yield f"readout {key[3]!r}, layer {key[1]}: metric {name_some(sorted(missing))} is missing"
        yield from _check_counts(rows)
    for _, row in scores.iterrows():
        yield from (f"{_name_row(row)}: {fault}" for fault in _check_numbers(row))


def _check_counts(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what contradicts between the metrics of one readout."""
    name = f"readout {rows['readout'].iloc[0]!r}"
    # n_people may differ: a metric's ceiling leaves out people with too few of its trials.
    for column in ("rows_sha256", "kind"):
        values = rows[column].unique()
        if len(values) > 1:
            yield f"{name}: {column} differs between its metrics ({name_some(values)})"
    n = rows.set_index("metric")["n_trials"]
    parts = [n[metric] for metric in ("same", "different") if metric in n.index]
    if n.index.is_unique and "all" in n.index and sum(parts) != n["all"]:
        yield f"{name}: {' + '.join(map(str, parts))} same and different trials aren't {n['all']}"


def _check_numbers(row: pd.Series) -> Iterator[str]:
    """Yield the numbers of a row that can't be, or don't follow from each other."""
    if not SHA256.fullmatch(row["rows_sha256"]):
        yield f"rows_sha256 is {row['rows_sha256']!r}; expected 64 hexadecimal digits"
    if not row["n_trials"] >= row["n_scenes"] >= 1 or row["n_people"] < 1:
        yield (
            f"{row['n_trials']} trials, {row['n_scenes']} scenes, {row['n_people']} people; expected "
            "at least one person and as many trials as scenes"
        )
    for name in ("split_half_r", "spearman_brown_r", "attainable_r", "one_vs_rest_r"):
        if pd.notna(row[name]) and abs(row[name]) > 1 + TOLERANCE:
            yield f"{name} is {row[name]}; a correlation lies between -1 and 1"
    yield from _check_interval(row)
    expected = {f"r_over_{name}": _divide(row["r"], row[f"{name}_r"]) for name in RATIOS}
    half = row["split_half_r"]
    if pd.notna(half) and half > 0:
        expected["spearman_brown_r"] = 2 * half / (1 + half)
        reliability = half if row["metric"] == "published" else 2 * half / (1 + half)
        expected["attainable_r"] = math.sqrt(reliability)
    for name, value in expected.items():
        if value is not None and not _is_close(row[name], value):
            yield f"{name} is {row[name]}, but {value:.6f} follows from the other columns"


def _check_interval(row: pd.Series) -> Iterator[str]:
    low, high, r, se = (row[name] for name in ("ci_low_r", "ci_high_r", "r", "se_r"))
    if pd.isna(low) != pd.isna(high):
        yield f"the interval has one end ({low}, {high})"
    elif pd.notna(low) and not (-1 - TOLERANCE <= low <= r <= high <= 1 + TOLERANCE):
        yield f"r {r} with the interval {low} to {high}; expected r inside, and both within -1 to 1"
    elif pd.notna(low) and high - low < TOLERANCE < (se if pd.notna(se) else 1):
        yield f"the interval {low} to {high} has no width, but se_r is {se}"


def _check_benchmark(
    record: Mapping[str, Any], scores: pd.DataFrame, benchmark: Benchmark
) -> Iterator[str]:
    """Yield where the file is of another benchmark, other trials or other people."""
    ours = {
        "benchmark": benchmark.manifest.name,
        "benchmark_version": benchmark.manifest.version,
        "is_simulated": benchmark.manifest.is_simulated,
        "trials_sha256": benchmark.trials_sha256,
    }
    if "responses_sha256" in record:
        ours["responses_sha256"] = benchmark.responses_sha256
    if "exclusion_rules" in record:
        ours["exclusion_rules"] = [rule.name for rule in rules_of(benchmark.folder)]
    for name, value in ours.items():
        if record[name] != value:
            yield f"{name} is {record[name]!r}, but the benchmark's is {value!r}"
    trials = benchmark.trials
    largest = {
        "n_trials": len(trials),
        "n_scenes": int(trials["scene_id"].nunique()),
        "n_people": len(load_times(benchmark).participant_ids),
    }
    for name, value in largest.items():
        if scores[name].max() > value:
            yield f"{name} is {scores[name].max()}, but the benchmark has {value}"


def _score_again(
    record: Mapping[str, Any], scores: pd.DataFrame, benchmark: Benchmark, *, readouts: Path
) -> list[str]:
    """Return where scoring the readouts gives other numbers than the file's."""
    stated = record.get("readouts_sha256", record["model"].get("readouts_sha256"))
    found = hash_file(readouts) if readouts.is_file() else None
    if found is not None and stated not in {None, found}:
        return [
            f"readouts_sha256 is {stated!r}, but {readouts} has {found!r}; send the file scored"
        ]
    try:
        table = read_readouts(readouts, trials=benchmark.trials, allow_missing=True)
        model = str(scores["model"].iloc[0])
        others = sorted(set(table["model"]) - {model})
        table = table[table["model"] == model]
        if table.empty:
            return [f"{readouts}: readouts of {name_some(others)}, none of {model!r}"]
        settings = ScoreSettings(**{name: record["settings"].get(name, 0) for name in SETTINGS})
        again = score_readouts(
            table, times=load_times(benchmark), trials=benchmark.trials, settings=settings
        )
    except InputError as error:
        return [str(error)]
    return [*_compare(scores, again), *_compare_means(record, table)]


def _compare(claimed: pd.DataFrame, again: pd.DataFrame) -> Iterator[str]:
    """Yield the rows that only one of two score tables has, and the numbers that differ."""
    key = [*READOUT_KEY, "metric"]
    both = [table.assign(**{k: table[k].fillna("") for k in key}) for table in (claimed, again)]
    merged = both[0].merge(both[1], on=key, how="outer", suffixes=("", "_again"), indicator=True)
    for side, what in (
        ("left_only", "is claimed, but its readouts are not in the file"),
        ("right_only", "follows from the readouts, but is left out; all layers and readouts go in"),
    ):
        rows = merged[merged["_merge"] == side]
        if len(rows):
            more = f" ({len(rows) - 1} more such rows)" if len(rows) > 1 else ""
            yield f"{_name_row(rows.iloc[0])} {what}{more}"
    rows = merged[merged["_merge"] == "both"]
    for name in [c for c in again.columns if c not in {*key, "note"}]:
        is_other = ~_match(rows[name], rows[f"{name}_again"])
        if is_other.any():
            row = rows[is_other].iloc[0]
            more = f" (and {int(is_other.sum()) - 1} more rows)" if is_other.sum() > 1 else ""
            yield (
                f"{_name_row(row)}: {name} is {row[name]}, but scoring the readouts again gives "
                f"{row[f'{name}_again']}{more}"
            )


def _compare_means(record: Mapping[str, Any], table: pd.DataFrame) -> Iterator[str]:
    """Yield the mean readouts (the board's within/between AUC) that are not those of the readouts."""
    keys = ("layer", "representation", "readout")
    found = {tuple(row[k] for k in keys): row["mean"] for row in summarise_readouts(table)}
    for row in record.get("readout_means") or []:
        key = tuple(row.get(k) for k in keys)
        mean = row.get("mean")
        if key not in found or mean is None or not _is_close(mean, found[key]):
            yield (
                f"readout_means of {key[2]!r}, layer {key[0]}, is {mean}, but the readouts' mean is "
                f"{found.get(key)}"
            )


def _match(first: pd.Series, second: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(first) and pd.api.types.is_numeric_dtype(second):
        is_near = (first - second).abs() <= TOLERANCE
        return is_near | (first.isna() & second.isna())
    return first.eq(second) | (first.isna() & second.isna())


def _find_remarks(
    record: Mapping[str, Any], scores: pd.DataFrame, checked: list[str]
) -> Iterator[str]:
    """Yield what a maintainer should know, though it refuses nothing."""
    above = scores[scores["r"] > scores["attainable_r"]]
    if len(above):
        yield f"{_name_row(above.iloc[0])} is above what is attainable ({len(above)} such rows)"
    commit = record.get("commit")
    if commit is None or str(commit).endswith("+changes"):
        yield "the code that made it isn't a commit; ask what was changed"
    if "scored again" not in checked:
        yield "its numbers were not computed again: give --benchmark and --readouts"


def _name_row(row: pd.Series) -> str:
    layer = f", layer {row['layer']}" if pd.notna(row["layer"]) and row["layer"] != "" else ""
    return f"readout {row['readout']!r}{layer}, metric {row['metric']!r}"


def _divide(value: float, ceiling: float) -> float | None:
    if pd.isna(value) or pd.isna(ceiling) or ceiling <= 0:
        return None
    return value / ceiling


def _is_close(value: float, expected: float) -> bool:
    return pd.notna(value) and abs(value - expected) <= TOLERANCE * max(1.0, abs(expected))
