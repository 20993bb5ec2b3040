"""The published human data (Adeli et al. 2023) as responses, and the published model outputs.

The source is a wide table: for each participant a column `ID` with RTs in milliseconds and a column
`ID_p` with percentile RTs; -1 means "no correct response by that person", whether the trial was not
shown, answered wrongly, or ended by a gaze break. So every response that can be known is a correct
one, and accuracy can't be known at all.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.published_roc import ROC_FILE, integrate_roc, read_published_roc
from experiment.tables import Responses
from model_eval.tables import Readouts
from stimuli.adeli2023 import (
    LICENCE,
    SOURCE,
    TRIALS_FILE,
    TRIALS_VERSION,
    attach_images,
    attach_objects,
    find_sources,
    name_trials,
    read_published_table,
    tabulate_trials,
)
from stimuli.benchmark import Manifest, hash_file, write_benchmark
from stimuli.errors import TableError
from stimuli.table_io import building_folder, check_table, write_table

RESPONSES_FILE = "test_data_grouping_with_all_beh.xls"
NO_CORRECT_RESPONSE = -1
MODEL = "published:dinov2_vitb14"
LAYER = "11"
BENCHMARK_NAME = "adeli2023"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import found.

    Attributes
    ----------
    counts
        Trials, scenes, people, responses; trials with an image, with a mask, with object numbers.
    misfits
        A line for each trial whose mask contradicts its design.
    """

    counts: dict[str, int]
    misfits: list[str]

    @property
    def text(self) -> str:
        """The counts in words."""
        c = self.counts
        return (
            f"{c['n_trials']} trials of {c['n_scenes']} scenes; {c['n_people']} people, "
            f"{c['n_responses']} correct responses\n"
            f"{c['n_trials_with_image']} trials have an image, {c['n_trials_with_mask']} a mask, "
            f"{c['n_trials_with_objects']} the objects under their dots; the others count for people "
            "and for readouts given as a table"
        )


def import_adeli2023(
    source: Path,
    *,
    out: Path,
    image_folders: Iterable[Path] = (),
    panoptic: Iterable[Path] = (),
    on_start: Callable[[int], None] = lambda _n: None,
    on_scene: Callable[[], None] = lambda: None,
) -> ImportReport:
    """Make a benchmark folder of the published data and return what was found.

    Parameters
    ----------
    source
        Folder with the two published tables; photographs, COCO annotations and published readouts
        are used where they are.
    out
        The benchmark folder; must not hold another benchmark's files.
    image_folders, panoptic
        More photographs; COCO panoptic JSONs.
    on_start, on_scene
        For a progress bar: the number of scenes, and each of them.

    Raises
    ------
    InputError
        A file is missing or damaged, a photograph contradicts the table, or `out` isn't empty.
    TableError
        A published table breaks its form.
    """
    sources = find_sources(source, image_folders=image_folders, panoptic=panoptic)
    path = source / TRIALS_FILE
    trials = tabulate_trials(read_published_table(path), source=str(path))
    responses = read_published_responses(source)
    readouts = read_published_readouts(source, trials["trial_id"])
    curves = read_published_roc(source, trials, model=MODEL, layer=LAYER)
    on_start(trials["scene_id"].nunique())
    with building_folder(out) as folder:
        trials = attach_images(trials, sources, folder=folder / "images", on_scene=on_scene)
        trials, objects, misfits = attach_objects(
            trials, sources, images=folder / "images", folder=folder / "masks"
        )
        write_table(responses, folder / "responses" / f"{BENCHMARK_NAME}.csv")
        if readouts is not None:
            write_table(readouts, folder / "published_readouts.parquet")
        if curves is not None:
            write_table(curves, folder / ROC_FILE)
        write_benchmark(
            folder,
            manifest=_describe(source),
            trials=trials,
            objects=objects if len(objects) else None,
        )
    return ImportReport(counts=_count(trials, responses, objects), misfits=misfits)


def _describe(source: Path) -> Manifest:
    return Manifest(
        name=BENCHMARK_NAME,
        version=TRIALS_VERSION.rsplit("-", maxsplit=1)[1],
        source=SOURCE,
        licence=LICENCE,
        errors_recorded=False,
        source_sha256={name: hash_file(source / name) for name in (TRIALS_FILE, RESPONSES_FILE)},
    )


def _count(trials: pd.DataFrame, responses: pd.DataFrame, objects: pd.DataFrame) -> dict[str, int]:
    masked = set(objects["scene_id"]) if len(objects) else set()
    return {
        "n_trials": len(trials),
        "n_scenes": int(trials["scene_id"].nunique()),
        "n_people": int(responses["participant_id"].nunique()),
        "n_responses": len(responses),
        "n_trials_with_image": int(trials["image"].notna().sum()),
        "n_trials_with_mask": int(trials["scene_id"].isin(masked).sum()),
        "n_trials_with_objects": int(trials["object1_id"].notna().sum()),
    }


def read_published_responses(source: Path) -> pd.DataFrame:
    """Return the published correct responses, one row per person and trial, RT in seconds.

    Parameters
    ----------
    source
        The folder with `test_data_grouping_with_all_beh.xls`.

    Raises
    ------
    TableError
        No participant columns, or an RT that is neither positive nor -1.
    """
    path = source / RESPONSES_FILE
    table = read_published_table(path)
    people = find_participants(table)
    if not people:
        raise TableError(
            f"{path}: no participant columns; expected pairs such as CG01034, CG01034_p"
        )
    long = table[people].assign(trial_id=name_trials(table), same=table["same_diff"])
    long = long.melt(["trial_id", "same"], var_name="participant_id", value_name="rt_ms")
    is_wrong = ~(long["rt_ms"].gt(0) | long["rt_ms"].eq(NO_CORRECT_RESPONSE))
    if is_wrong.any():
        row = long[is_wrong].iloc[0]
        raise TableError(
            f"{path}, trial {row['trial_id']!r}, participant {row['participant_id']!r}: RT "
            f"{row['rt_ms']} ms; expected a positive number, or -1 for no correct response"
        )
    known = long[long["rt_ms"] > 0].reset_index(drop=True)
    responses = pd.DataFrame(
        {
            "participant_id": known["participant_id"],
            "session": "1",
            "trial_id": known["trial_id"],
            "is_practice": False,
            "outcome": "correct",
            "response": known["same"].map({"same": "same", "diff": "different"}),
            "rt_s": known["rt_ms"] / 1000,
            "is_simulated": False,
        }
    )
    return check_table(responses, Responses, source=str(path))


def find_participants(table: pd.DataFrame) -> list[str]:
    """Return the columns that are a participant: those with a partner `ID_p`."""
    return [str(name) for name in table.columns if f"{name}_p" in table.columns]


def read_published_readouts(source: Path, trial_ids: pd.Series) -> pd.DataFrame | None:
    """Return the published DINOv2-B/14 outputs as readouts, or None where the folder has none.

    Spread steps (keys; kind *difficulty*; 21 is never) and, for queries and keys, the area under
    each trial's published ROC curve (2023 form of the object-centric metric; kind *ease*).

    Parameters
    ----------
    source
        The folder with `published_readouts`.
    trial_ids
        In the order of the published table, which is the order of the arrays.

    Raises
    ------
    TableError
        An array's length is not that of the table.
    """
    folder = source / "published_readouts"
    if not folder.is_dir():
        return None
    tables = []
    for path in sorted(folder.glob("dinov2_vitb14_test_14_*.npy")):
        values = np.load(path, allow_pickle=False)
        if len(values) < len(trial_ids):
            raise TableError(f"{path}: {len(values)} values for {len(trial_ids)} trials")
        representation = path.stem.removeprefix("dinov2_vitb14_test_14_")[0]
        if values.ndim == 1:
            tables.append(
                _tabulate(
                    "spread_steps",
                    values,
                    kind="difficulty",
                    queries_or_keys=representation,
                    trial_ids=trial_ids,
                )
            )
        else:
            area = integrate_roc(values[: len(trial_ids)])
            tables.append(
                _tabulate(
                    "object_auc_2023_dot2",
                    area,
                    kind="ease",
                    queries_or_keys=representation,
                    trial_ids=trial_ids,
                )
            )
    if not tables:
        return None
    table = pd.concat(tables, ignore_index=True)
    return check_table(table, Readouts, source=str(folder))


def _tabulate(
    readout: str, values: np.ndarray, *, kind: str, queries_or_keys: str, trial_ids: pd.Series
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": MODEL,
            "layer": LAYER,
            "representation": {"q": "queries", "k": "keys"}[queries_or_keys],
            "readout": readout,
            "kind": kind,
            "trial_id": trial_ids,
            "value": values[: len(trial_ids)].astype(float),
        }
    )
