"""Score files: a model's scores with everything that is needed to compute them again.

One JSON file per model in `scores/`. The leaderboard is derived from these files and can be deleted
and rebuilt.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.exclusions import rules_of
from analysis.metrics import METRIC_VERSION
from analysis.scoring import ScoreSettings
from analysis.tables import Scores
from model_eval.tables import READOUT_KEY
from stimuli.benchmark import Benchmark
from stimuli.errors import InputError
from stimuli.provenance import find_commit, find_versions
from stimuli.table_io import check_table, read_json, safe_file_name, write_json

FORMAT = "objecthood-score-1"
PACKAGES = ("objecthood", "numpy", "pandas", "scipy", "torch", "timm")


def build_record(
    benchmark: Benchmark,
    *,
    settings: ScoreSettings,
    command: str,
    model_record: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what a score file says besides the scores.

    Parameters
    ----------
    benchmark
        The trials and people that were used.
    settings
        Draws, halves, seed.
    command
        The command line.
    model_record
        What the model says of itself: source, weights hash, preprocessing.
    """
    return {
        "format": FORMAT,
        "metric_version": METRIC_VERSION,
        "benchmark": benchmark.manifest.name,
        "benchmark_version": benchmark.manifest.version,
        "is_simulated": benchmark.manifest.is_simulated,
        "trials_sha256": benchmark.trials_sha256,
        "responses_sha256": benchmark.responses_sha256,
        "exclusion_rules": [rule.name for rule in rules_of(benchmark.folder)],
        "settings": asdict(settings),
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": find_commit(),
        "versions": find_versions(PACKAGES),
        "model": dict(model_record),
    }


def summarise_readouts(readouts: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each readout's mean, SD and number of trials, for a score file.

    The mean of `object_auc_dot1` is the within/between metric of its layer (methods 1.5).
    """
    rows = []
    for key, table in readouts.groupby(READOUT_KEY, sort=False, dropna=False):
        texts = pd.Series(key, index=READOUT_KEY, dtype=object)
        named = dict(zip(READOUT_KEY, texts.where(texts.notna(), None), strict=True))
        named.pop("model")
        value = table["value"]
        spread = float(value.std()) if len(value) > 1 else None
        rows.append(named | {"mean": float(value.mean()), "sd": spread, "n_trials": len(value)})
    return rows


def fill_readout_means(
    files: Iterable[tuple[Path, dict[str, Any], pd.DataFrame]], readouts: Iterable[pd.DataFrame]
) -> None:
    """Give records that lack `readout_means` (older score files) those of their model's readouts."""
    by_model = {str(table["model"].iloc[0]): table for table in readouts if len(table)}
    for _, record, scores in files:
        table = by_model.get(str(scores["model"].iloc[0]))
        if "readout_means" not in record and table is not None:
            record["readout_means"] = summarise_readouts(table)


def write_score_file(scores: pd.DataFrame, record: Mapping[str, Any], *, folder: Path) -> Path:
    """Write one model's scores below `folder`/scores and return the file's path."""
    model = str(scores["model"].iloc[0])
    path = folder / "scores" / f"{safe_file_name(model)}.json"
    rows = scores.astype(object).where(scores.notna(), None).to_dict("records")
    write_json({**record, "scores": rows}, path)
    return path


def read_score_files(folder: Path) -> list[tuple[Path, dict[str, Any], pd.DataFrame]]:
    """Return path, record and scores of every score file below `folder`, in name order.

    Raises
    ------
    InputError
        There is none, or one is damaged or of another format.
    """
    paths = sorted((folder / "scores").glob("*.json"))
    if not paths:
        raise InputError(
            f"{folder}: no score files in {folder / 'scores'}. Make some with 'objecthood evaluate' "
            "or 'objecthood score'"
        )
    return [read_score_file(path) for path in paths]


def read_score_file(path: Path) -> tuple[Path, dict[str, Any], pd.DataFrame]:
    """Return path, record and scores of one score file.

    Raises
    ------
    InputError
        It is damaged or of another format.
    """
    content = read_json(path)
    if content.get("format") != FORMAT or not isinstance(content.get("scores"), list):
        raise InputError(
            f"{path}: format {content.get('format')!r}, expected {FORMAT!r} with a list of scores; "
            "score the model anew, or move the file away"
        )
    scores = pd.DataFrame(content.pop("scores"), columns=list(Scores.to_schema().columns))
    return path, content, check_table(scores, Scores, source=str(path))
