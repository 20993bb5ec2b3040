"""Example trials: which displays a model finds easiest and hardest, beside people.

Both are given as places among the same trials (percent of trials that are at most as hard), so that a
model's similarity and a person's seconds can be read side by side.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from analysis.board_thumbnails import make_thumbnails
from analysis.leaderboard import list_rows
from analysis.metrics import signed_difficulty
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
    rows = rows.merge(readout[["trial_id", "value", "kind"]], on="trial_id")
    difficulty = signed_difficulty(
        rows["value"].to_numpy(float),
        kind=str(rows["kind"].iloc[0]) if len(rows) else "difficulty",
        is_same=rows["same_object"].to_numpy(bool),
    )
    return rows.assign(
        model_percentile=_percentile(difficulty),
        people_percentile=_percentile(rows["mean_rt_s"].to_numpy(float)),
    )


def choose_extremes(
    placed: pd.DataFrame, *, by: str, n: int, images: Sequence[str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the `n` easiest and the `n` hardest trials, each photograph at most once in either.

    Parameters
    ----------
    placed
        As `place_trials` returns it.
    by
        ``model_percentile`` or ``people_percentile``.
    n
        Of each.
    images
        Only trials with one of these images, where given.
    """
    rows = placed if images is None else placed[placed["image"].isin(images)]
    ordered = rows.sort_values([by, "trial_id"], kind="stable")
    easy = ordered.drop_duplicates("scene_id", keep="first").head(n)
    hard = ordered.iloc[::-1].drop_duplicates("scene_id", keep="first").head(n)
    return easy, hard


def _add_examples(
    examples: Examples, entry: str, placed: pd.DataFrame, *, images: list[str] | None
) -> None:
    easy, hard = choose_extremes(placed, by="model_percentile", n=N_EXAMPLES, images=images)
    examples.by_entry[entry] = {
        name: [[row["trial_id"], round(row["model_percentile"])] for row in list_rows(side)]
        for name, side in (("easy", easy), ("hard", hard))
    }
    for row in list_rows(pd.concat([easy, hard])):
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
