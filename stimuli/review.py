"""Looking at every scene by hand, as the published study did, and dropping what fails.

Decisions are appended to ``review.csv``, one flushed row each, and the last row of a scene counts: a
crash loses nothing, and a change of mind leaves a trace. Nothing is dropped by reviewing alone;
`apply_review` makes a new benchmark without the rejected scenes.
"""

import csv
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series

from stimuli.benchmark import Benchmark, open_benchmark, read_objects, write_benchmark
from stimuli.errors import InputError
from stimuli.lists import ListDesign, assign_lists, is_practice_trial
from stimuli.table_io import building_folder, name_some, read_table, write_table

ReviewVerdict = Literal["keep", "reject", "ambiguous"]
REVIEW_VERDICTS: tuple[ReviewVerdict, ...] = ("keep", "reject", "ambiguous")
REASONS = (
    "dot off its object",
    "dot on or beside a border",
    "objects ambiguous",
    "mask wrong",
    "photograph unsuitable",
)
REVIEW_FILE = "review.csv"
DROPPED_FILE = "dropped.csv"


class Reviews(pa.DataFrameModel):
    """One row is one decision on one scene; the last of a scene counts."""

    scene_id: Series[str] = pa.Field(description="the scene")
    verdict: Series[str] = pa.Field(isin=list(REVIEW_VERDICTS), description="keep, reject, …")
    reason: Series[str] = pa.Field(nullable=True, description="why it was rejected")
    reviewer: Series[str] = pa.Field(nullable=True, description="who looked")
    reviewed_at: Series[str] = pa.Field(description="when, UTC, ISO 8601")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One decision on one scene."""

    scene_id: str
    verdict: ReviewVerdict
    reason: str | None = None
    reviewer: str | None = None
    reviewed_at: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in REVIEW_VERDICTS:
            raise InputError(
                f"review of scene {self.scene_id!r}: verdict {self.verdict!r}; expected one of "
                f"{name_some(REVIEW_VERDICTS)}"
            )
        if (self.verdict == "reject") != bool(self.reason):
            raise InputError(
                f"review of scene {self.scene_id!r}: {self.verdict!r} with reason {self.reason!r}; a "
                "rejection needs a reason, and nothing else has one"
            )


def append_review(review: Review, folder: Path) -> Review:
    """Add a decision to the benchmark's ``review.csv``, on disk when this returns.

    Returns
    -------
    Review
        With the time at which it was written.
    """
    stamped = replace(review, reviewed_at=datetime.now(tz=UTC).isoformat(timespec="seconds"))
    path = folder / REVIEW_FILE
    is_new = not path.is_file() or path.stat().st_size == 0
    with path.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(asdict(stamped)), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(asdict(stamped))
        stream.flush()
        os.fsync(stream.fileno())
    return stamped


def read_reviews(benchmark: Benchmark) -> dict[str, Review]:
    """Return the last decision on each scene that was looked at.

    Raises
    ------
    TableError
        The table breaks its schema.
    InputError
        It names a scene that the benchmark doesn't have.
    """
    path = benchmark.folder / REVIEW_FILE
    if not path.is_file():
        return {}
    table = read_table(path, Reviews)
    unknown = sorted(set(table["scene_id"]) - set(benchmark.trials["scene_id"]))
    if unknown:
        raise InputError(
            f"{path}: scene {name_some(unknown)} isn't in trials.csv; review the benchmark anew"
        )
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return {row["scene_id"]: Review(**row) for row in rows}  # type: ignore[arg-type] (text)


def count_reviews(reviews: dict[str, Review]) -> dict[str, int]:
    """Return how many scenes were kept, marked ambiguous, and rejected for each reason."""
    return dict(
        Counter(
            f"reject: {review.reason}" if review.reason else review.verdict
            for review in reviews.values()
        ).most_common()
    )


def apply_review(
    benchmark: Benchmark,
    folder: Path,
    *,
    dropped_verdicts: Sequence[ReviewVerdict],
    rng: np.random.Generator,
) -> Benchmark:
    """Write a new benchmark without the scenes of some verdicts; its version says so.

    Lists and blocks are dealt anew, so that they stay balanced; practice scenes stay practice.

    Parameters
    ----------
    benchmark
        Reviewed; it stays as it is.
    folder
        The new benchmark. ``dropped.csv`` in it holds each dropped scene's verdict and reason.
    dropped_verdicts
        Usually "reject" and "ambiguous".
    rng
        Orders the scenes for the new lists.

    Raises
    ------
    InputError
        A scene wasn't looked at, all would be dropped, or the folder isn't empty.
    """
    reviews = read_reviews(benchmark)
    scene_ids = benchmark.trials["scene_id"].unique().tolist()
    unseen = [scene_id for scene_id in scene_ids if scene_id not in reviews]
    if unseen:
        raise InputError(
            f"{benchmark.folder}: {len(unseen)} of {len(scene_ids)} scenes weren't reviewed "
            f"({name_some(unseen)}); finish with 'objecthood trials review {benchmark.folder}'"
        )
    dropped = [item for item in reviews.values() if item.verdict in dropped_verdicts]
    names = {item.scene_id for item in dropped}
    trials = benchmark.trials[~benchmark.trials["scene_id"].isin(names)]
    if is_practice_trial(trials).all() or not len(trials):
        raise InputError(f"{benchmark.folder}: the review drops every scene; nothing would be left")
    objects = read_objects(benchmark)
    with building_folder(folder) as place:
        _copy_scenes(benchmark, trials, place)
        version = f"{benchmark.manifest.version}-reviewed"
        write_table(pd.DataFrame([asdict(item) for item in dropped]), place / DROPPED_FILE)
        write_benchmark(
            place,
            manifest=replace(benchmark.manifest, version=version),
            trials=deal_again(trials, rng=rng).assign(trials_version=version),
            objects=objects[~objects["scene_id"].isin(names)] if len(objects) else None,
        )
    return open_benchmark(folder)


def deal_again(trials: pd.DataFrame, *, rng: np.random.Generator) -> pd.DataFrame:
    """Return trials with balanced lists after scenes were dropped; a table without lists stays so.

    Raises
    ------
    InputError
        Fewer scenes are left than there are blocks.
    """
    if "block" not in trials or trials["list_id"].isna().all():
        return trials.reset_index(drop=True)
    is_practice = is_practice_trial(trials).to_numpy()
    blocks = ListDesign(n_blocks=int(trials["block"].max()))
    dealt = assign_lists(trials[~is_practice], blocks, rng=rng)
    return pd.concat([dealt, trials[is_practice]], ignore_index=True)


def _copy_scenes(benchmark: Benchmark, trials: pd.DataFrame, place: Path) -> None:
    """Copy the files of the scenes that stay, and what describes the making."""
    images = trials.drop_duplicates("scene_id")
    for row in images.to_dict("records"):
        sources = [benchmark.mask_path(row["scene_id"])]
        if pd.notna(row["image"]):
            sources.append(benchmark.image_path(row["image"]))
        for source in sources:
            if source.is_file():
                target = place / source.relative_to(benchmark.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
    for name in ("design.json", "placement.csv", REVIEW_FILE):
        if (benchmark.folder / name).is_file():
            shutil.copyfile(benchmark.folder / name, place / name)
