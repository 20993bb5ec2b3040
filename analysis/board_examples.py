"""Example trials: which displays a model finds easiest and hardest, beside people.

Both are given as places among the same trials (percent of trials that are at most as hard), so that a
model's similarity and a person's seconds can be read side by side.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from analysis.board_thumbnails import make_thumbnails
from analysis.extremes import find_extremes, predict_difficulty
from analysis.leaderboard import list_rows
from model_eval.tables import READOUT_KEY
from stimuli.benchmark import Benchmark
from stimuli.tables import name_cells

# Of each end, per row of the board.
N_EXAMPLES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """The example trials of a page.

    Attributes
    ----------
    trials
        What is known of each trial that is shown, by trial id.
    by_entry
        Of each entry of the board and set of rows: its easiest and hardest trials, as
        (trial id, the model's percentile).
    """

    trials: dict[str, dict[str, Any]] = field(default_factory=dict)
    by_entry: dict[str, dict[str, list[list[Any]]]] = field(default_factory=dict)


def choose_examples(
    board: pd.DataFrame,
    readouts: Iterable[pd.DataFrame],
    *,
    benchmark: Benchmark,
    human: pd.DataFrame,
) -> Examples:
    """Return each shown entry's easiest and hardest trials, with thumbnails where there are images.

    Parameters
    ----------
    board
        As `analysis.leaderboard.build_leaderboard` returns it.
    readouts
        The tables of readouts behind the scores; an entry without its readouts has no examples.
    benchmark, human
        Whose trials, images and reaction times are shown.
    """
    shown = {_key(row): row["entry"] for row in list_rows(board[board["is_shown"]])}
    images = benchmark.trials["image"].dropna().unique().tolist() or None
    examples = Examples()
    for table in readouts:
        for key, part in table.groupby(READOUT_KEY, sort=False, dropna=False):
            named = dict(zip(READOUT_KEY, key, strict=True))
            entry = shown.get(_key(named))
            if entry is not None:
                placed = place_trials(part, benchmark.trials, human)
                _add_examples(examples, entry, placed, images=images)
    wanted = Counter(
        trial_id
        for both in examples.by_entry.values()
        for side in both.values()
        for trial_id, _ in side
    )
    order = [trial_id for trial_id, _ in wanted.most_common()]
    for trial_id, uri in make_thumbnails(benchmark, order).items():
        examples.trials[trial_id]["image"] = uri
    return examples


def place_trials(readout: pd.DataFrame, trials: pd.DataFrame, human: pd.DataFrame) -> pd.DataFrame:
    """Return the trials that a readout and people both have, with the place of each.

    Parameters
    ----------
    readout
        One readout of one layer of one model: kind, trial_id, value.
    trials
        The trial table.
    human
        As `analysis.human.summarise_trials` returns it.

    Returns
    -------
    DataFrame
        trial_id, scene_id, image, condition, mean_rt_s; model_percentile and people_percentile, 0 to
        100, high is hard.
    """
    rows = trials.assign(condition=name_cells(trials)).merge(
        human.loc[human["mean_rt_s"].notna(), ["trial_id", "mean_rt_s"]], on="trial_id"
    )
    difficulty = predict_difficulty(readout, trials).rename("difficulty")
    rows = rows.merge(difficulty, left_on="trial_id", right_index=True)
    return rows.assign(
        model_percentile=_percentile(rows["difficulty"].to_numpy(float)),
        people_percentile=_percentile(rows["mean_rt_s"].to_numpy(float)),
    )


def _add_examples(
    examples: Examples, entry: str, placed: pd.DataFrame, *, images: list[str] | None
) -> None:
    seen = placed if images is None else placed[placed["image"].isin(images)]
    difficulty = seen.set_index("trial_id")["model_percentile"]
    chosen = find_extremes(difficulty, seen, n=N_EXAMPLES).merge(placed, on="trial_id")
    examples.by_entry[entry] = {
        name: [
            [row["trial_id"], round(row["model_percentile"])]
            for row in list_rows(chosen[chosen["end"] == end])
        ]
        for name, end in (("easy", "easiest"), ("hard", "hardest"))
    }
    for row in list_rows(chosen):
        examples.trials.setdefault(
            row["trial_id"],
            {
                "condition": row["condition"],
                "rt_ms": round(row["mean_rt_s"] * 1000),
                "people": round(row["people_percentile"]),
            },
        )


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(None if pd.isna(row[name]) else row[name] for name in READOUT_KEY)


def _percentile(values: np.ndarray) -> np.ndarray:
    """Place of each value among all, 0 to 100, mid-ranks for ties."""
    return 100 * rankdata(values) / max(len(values), 1)
