"""The leaderboard: derived from score files, and from nothing else.

Readouts are ranked by the headline metric among those scored on the same rows: a score on 152 trials
is not compared with one on 1020. Of each model's readout the board shows the last layer that was
evaluated, a rule fixed beforehand; the best layer stands beside it and never ranks, since it was
chosen on the scenes that it is scored on. Files of another benchmark, trial table, set of people or
metric version are refused by name. No statistic is computed here: ranks are orders of scores, and rank
intervals are those of a comparison (`analysis.rank_intervals`).
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics import HEADLINE_METRIC
from analysis.tables import METRIC_NAMES
from model_eval.tables import READOUT_KEY
from stimuli.benchmark import Benchmark
from stimuli.errors import InputError
from stimuli.table_io import name_some

# What has to agree between files on one board.
MUST_AGREE = (
    "benchmark",
    "benchmark_version",
    "trials_sha256",
    "responses_sha256",
    "exclusion_rules",
    "metric_version",
)

# Older score files don't say it.
MAY_BE_SILENT = ("responses_sha256",)

HEADLINE_R = f"{HEADLINE_METRIC}_r"
# Columns of the board that a model says of itself (the `model` object of its score file).
MODEL_FACTS = ("family", "objective", "year", "n_parameters", "source", "weights_sha256")
WHOLE_FACTS = ("year", "n_parameters")
# The within/between metric of an entry: the mean of the first of these readouts that its model has.
OBJECT_METRICS = ("object_auc_dot1", "object_auc_dot2", "object_auc_2023_dot2")
CONTROL_PREFIX = "control:"

RecordedScores = list[tuple[Path, dict[str, Any], pd.DataFrame]]

_QUANTITIES = (
    "r",
    "se_r",
    "ci_low_r",
    "ci_high_r",
    "split_half_r",
    "attainable_r",
    "one_vs_rest_r",
    "r_over_split_half",
    "r_over_attainable",
    "r_over_one_vs_rest",
    "attainable_low_r",
    "attainable_high_r",
    "r_over_attainable_low",
    "r_over_attainable_high",
    "control_condition_r",
    "control_leak_r",
    "note",
)
# Comes with the comparison of models (`analysis.rank_intervals`).
RANK_INTERVAL = ("rank_low", "rank_high")


def build_leaderboard(files: RecordedScores) -> pd.DataFrame:
    """Return the board: a row per model, layer, representation and readout; metrics side by side.

    Parameters
    ----------
    files
        As `analysis.records.read_score_files` returns them.

    Returns
    -------
    DataFrame
        Sorted: sets of rows by size, then by the headline r. `rank` counts headline rows within
        their set, equal scores sharing the lower number (`n_sharing_rank` of them); rows without a
        headline value have none. `rank_low` and `rank_high` are empty until
        `analysis.rank_intervals` fills them. `is_shown` marks the last layer of each readout. `<metric>_<quantity>` are the
        columns of `analysis.tables.Scores`. Without files, these columns and no row.

    Raises
    ------
    InputError
        The files are of different benchmarks, trial tables, people or metric versions, or two files
        score the same readout of the same model.
    """
    if not files:
        return _empty_board()
    check_files_agree(files)
    board = _widen(files)
    _check_entries_differ(board, files)
    board = _add_best_layers(board).sort_values(
        ["n_trials", "rows_sha256", HEADLINE_R, "all_r", "model"],
        ascending=[False, True, False, False, True],
        na_position="last",
        ignore_index=True,
    )
    return _add_ranks(board)


def check_files_agree(files: RecordedScores) -> None:
    """Raise unless all score files are of one benchmark, trial table, people and metric version.

    Raises
    ------
    InputError
        Names the files that differ from most others (from the first, where there is no majority),
        and in what.
    """
    for key in MUST_AGREE:
        said = [(path, record.get(key)) for path, record, _ in files]
        if key in MAY_BE_SILENT:
            said = [(path, value) for path, value in said if value is not None]
        usual = Counter(repr(value) for _, value in said).most_common(1)
        odd = [(path, value) for path, value in said if repr(value) != usual[0][0]]
        if odd:
            path, value = odd[0]
            others = f" ({len(odd) - 1} more files differ too)" if len(odd) > 1 else ""
            n_usual = len(files) - len(odd)
            raise InputError(
                f"{path}: {key} is {value!r}, but {usual[0][0]} in {n_usual} of {len(files)} files"
                f"{others}; scores of different versions don't share a board. Score the model anew, "
                "or move the file away"
            )


def check_benchmark(files: RecordedScores, benchmark: Benchmark) -> None:
    """Raise unless the score files are of this benchmark's trial table.

    Raises
    ------
    InputError
        Names the first file that isn't.
    """
    for path, record, _ in files:
        if record["trials_sha256"] != benchmark.trials_sha256:
            raise InputError(
                f"{path}: scored on another trial table than {benchmark.folder / 'trials.csv'}; "
                "name the benchmark that was scored"
            )


def split_sets(board: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the shown rows of each set of trials, the largest set first."""
    shown = board[board["is_shown"]]
    return [part for _, part in shown.groupby("rows_sha256", sort=False)]


def list_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table's rows as mappings from its column names; numbers are Python's own."""
    columns = [str(name) for name in table.columns]
    rows = table.itertuples(index=False, name=None)
    plain = ([v.item() if isinstance(v, np.generic) else v for v in row] for row in rows)
    return [dict(zip(columns, row, strict=True)) for row in plain]


def pick_layers(board: pd.DataFrame, row: Mapping[str, Any]) -> pd.DataFrame:
    """Return all layers of a row's model and readout on the same trials, whatever was read of them.

    The last block's output after the final norm is a representation of its own, and belongs into the
    same curve.
    """
    is_alike = board["model"].eq(row["model"]) & board["readout"].eq(row["readout"])
    is_alike &= board["rows_sha256"].eq(row["rows_sha256"])
    return board[is_alike].sort_values("order", kind="stable")


def _empty_board() -> pd.DataFrame:
    """Return a board of nothing, with the columns that every board has."""
    texts = [*READOUT_KEY, "kind", "rows_sha256", "family", "objective", "source", "entry"]
    texts += ["weights_sha256", "best_layer"]
    whole = ["rank", *RANK_INTERVAL, "n_sharing_rank", "n_trials", "n_scenes", "n_people"]
    whole += [*WHOLE_FACTS, "order", "n_layers"]
    numbers = [f"{metric}_{name}" for metric in METRIC_NAMES for name in _QUANTITIES]
    types = dict.fromkeys(texts, "str") | dict.fromkeys(whole, "Int64")
    types |= dict.fromkeys([*numbers, "object_auc", "best_layer_r"], "float64")
    types |= dict.fromkeys(["is_random_weights", "is_shown"], "bool")
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in types.items()})


def _widen(files: RecordedScores) -> pd.DataFrame:
    """Return one row per layer and readout of each file's model, with columns `<metric>_<quantity>`."""
    scores = pd.concat([table.assign(file=k) for k, (_, _, table) in enumerate(files)])
    place = scores.groupby(["file", *READOUT_KEY], sort=False, dropna=False).ngroup()
    scores = scores.assign(place=place)
    whole = scores.drop_duplicates("place").set_index("place")
    board = whole[["file", *READOUT_KEY, "kind", "rows_sha256"]].copy()
    sizes = scores[scores["metric"] == "all"].set_index("place")
    for name in ("n_trials", "n_scenes", "n_people"):
        board[name] = sizes[name].reindex(board.index).astype("Int64")
    records = [record for _, record, _ in files]
    board = board.join(_tabulate_facts(files), on="file")
    board["object_auc"] = find_object_auc(records, board)
    quantities = [name for name in _QUANTITIES if name in scores.columns]
    wide = scores.pivot(index="place", columns="metric", values=quantities)
    named = {
        f"{metric}_{name}": wide[name, metric] if (name, metric) in wide.columns else None
        for metric in METRIC_NAMES
        for name in quantities
    }
    board = pd.concat([board, pd.DataFrame(named, index=board.index)], axis=1)
    board = board.drop(columns="file").reset_index(drop=True).infer_objects()
    # A copy has one block per type; without it more columns count as a fragmented table.
    return _number_layers(board.copy())


def _tabulate_facts(files: RecordedScores) -> pd.DataFrame:
    """Return what each model says of itself; a control's family is control."""
    rows = []
    for path, record, _ in files:
        facts = record["model"]
        for name in WHOLE_FACTS:
            if not isinstance(facts.get(name), int | None):
                raise InputError(
                    f"{path}: {name} of the model is {facts[name]!r}; expected a whole number or null"
                )
        row = {name: facts.get(name) for name in MODEL_FACTS}
        if str(facts.get("name", "")).startswith(CONTROL_PREFIX):
            row["family"] = row["family"] or "control"
        rows.append(row | {"is_random_weights": bool(facts.get("is_random_weights", False))})
    return pd.DataFrame(rows).astype(dict.fromkeys(WHOLE_FACTS, "Int64"))


def find_object_auc(records: list[dict[str, Any]], board: pd.DataFrame) -> pd.Series:
    """Return each entry's within/between metric: the mean AUC of the same layer and representation.

    Parameters
    ----------
    records
        Of the score files; `readout_means` (layer, representation, readout, mean) where they have it.
    board
        Rows with file (the record's place), layer and representation.

    Returns
    -------
    Series of float
        The central dot's AUC where the model has it, else the second dot's; empty where neither.
    """
    means: dict[tuple[Any, ...], float] = {}
    for file, record in enumerate(records):
        rows = record.get("readout_means") or []
        for readout in reversed(OBJECT_METRICS):
            for row in (row for row in rows if row.get("readout") == readout):
                means[file, row.get("layer"), row.get("representation")] = row["mean"]
    keys = board[["file", "layer", "representation"]].astype(object)
    keys = keys.where(keys.notna(), None)
    found = [means.get(key) for key in keys.itertuples(index=False, name=None)]
    return pd.Series(found, index=board.index, dtype=float)


def _number_layers(board: pd.DataFrame) -> pd.DataFrame:
    """Name the entry that layers belong to, count its layers, and mark the last."""
    entry = ["model", "representation", "readout"]
    groups = board.groupby(entry, sort=False, dropna=False)
    names = board[entry].astype(object).where(board[entry].notna(), "")
    return board.assign(
        entry=names.agg("\x1f".join, axis=1),
        order=range(len(board)),
        n_layers=groups["readout"].transform("size"),
        is_shown=groups.cumcount(ascending=False) == 0,
    )


def _add_best_layers(board: pd.DataFrame) -> pd.DataFrame:
    """Set beside each entry its layer of the highest headline r, on rows like its own."""
    scored = board[board[HEADLINE_R].notna() & (board["n_layers"] > 1)]
    groups = scored.groupby(["entry", "rows_sha256"], sort=False)[HEADLINE_R]
    best = scored.loc[groups.idxmax(), ["entry", "rows_sha256", "layer", HEADLINE_R]]
    best = best.rename(columns={"layer": "best_layer", HEADLINE_R: "best_layer_r"})
    return board.merge(best, on=["entry", "rows_sha256"], how="left", validate="many_to_one")


def _add_ranks(board: pd.DataFrame) -> pd.DataFrame:
    """Give the shown headline rows of each set a number; equal scores share one."""
    ranked = board[board["is_shown"] & board[HEADLINE_R].notna()]
    ranks = ranked.groupby("rows_sha256")[HEADLINE_R].rank(ascending=False, method="min")
    sharing = ranked.groupby(["rows_sha256", HEADLINE_R])["entry"].transform("size")
    board.insert(0, "rank", ranks.astype("Int64").reindex(board.index))
    for k, name in enumerate(RANK_INTERVAL, start=1):
        board.insert(k, name, pd.Series(pd.NA, index=board.index, dtype="Int64"))
    board.insert(3, "n_sharing_rank", sharing.astype("Int64").reindex(board.index))
    return board


def _check_entries_differ(board: pd.DataFrame, files: RecordedScores) -> None:
    twice = board[board.duplicated(READOUT_KEY, keep=False)]
    if len(twice):
        model = twice["model"].iloc[0]
        paths = [path for path, _, scores in files if scores["model"].eq(model).any()]
        raise InputError(
            f"{name_some(paths)}: model {model!r}, readout {twice['readout'].iloc[0]!r} is scored "
            "twice; keep one of them, or give the other model its own name"
        )
