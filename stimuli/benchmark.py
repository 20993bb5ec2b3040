"""A benchmark is a folder; this module owns its layout.

::

    benchmark.json   name, version, source, licence note, units
    trials.csv       one row per display
    objects.csv      one row per labelled object (when masks are known)
    images/ masks/   the photographs, and 16-bit PNGs of object numbers (when known)
    responses/       one row per presentation to one person
    human.csv, ceilings.json, exclusions.csv    derived: delete and rebuild at will
"""

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from stimuli.errors import InputError, TableError
from stimuli.images import LoadedImage, load_image, load_mask
from stimuli.table_io import name_some, read_json, read_table, write_json, write_table
from stimuli.tables import Objects, Trials

MANIFEST = "benchmark.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a benchmark says of itself.

    Attributes
    ----------
    name, version
        Scores of different names or versions never share a leaderboard.
    source, licence
        Where it comes from and what one may do with it.
    is_simulated
        The people are simulated; every output says so.
    errors_recorded
        Whether the responses hold error trials. Where they don't, accuracy is unknown, not 100 %.
    source_sha256
        Hash of each source file, by name.
    units
        Units of the tables' quantities.
    """

    name: str
    version: str
    source: str
    licence: str
    is_simulated: bool = False
    errors_recorded: bool = True
    source_sha256: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(
        default_factory=lambda: {"rt_s": "seconds", "x_px, y_px": "image pixels, continuous"}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """An opened benchmark folder: its place, its manifest and its trials."""

    folder: Path
    manifest: Manifest
    trials: pd.DataFrame

    @property
    def responses_folder(self) -> Path:
        """Where the response tables lie."""
        return self.folder / "responses"

    @property
    def trials_sha256(self) -> str:
        """Hash of the trial table's file: two scores with one hash saw the same displays."""
        return hash_file(self.folder / "trials.csv")

    @property
    def responses_sha256(self) -> str:
        """Hash of all response tables: two scores with one hash are of the same people."""
        hashes = sorted(hash_file(path) for path in self.responses_folder.glob("*.csv"))
        return hashlib.sha256("\n".join(hashes).encode()).hexdigest()

    def image_path(self, image: str) -> Path:
        """Return where the image of a trial row lies."""
        return self.folder / "images" / image

    def mask_path(self, scene_id: str) -> Path:
        """Return where the scene's mask lies, if it has one."""
        return self.folder / "masks" / f"{scene_id}.png"


def open_benchmark(folder: Path | str) -> Benchmark:
    """Return the benchmark in `folder`, its trial table checked.

    Raises
    ------
    InputError
        The folder or its manifest is missing or damaged.
    TableError
        The trial table breaks its schema.
    """
    folder = Path(folder)
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"{folder}: not a benchmark folder ({MANIFEST} is missing). Make one with "
            "'objecthood data import' or 'objecthood demo'"
        )
    content = read_json(folder / MANIFEST)
    try:
        manifest = Manifest(**content)
    except TypeError as error:
        raise InputError(f"{folder / MANIFEST}: {error}; expected the fields of Manifest") from None
    return Benchmark(
        folder=folder, manifest=manifest, trials=read_table(folder / "trials.csv", Trials)
    )


def write_benchmark(
    folder: Path, *, manifest: Manifest, trials: pd.DataFrame, objects: pd.DataFrame | None = None
) -> Benchmark:
    """Write manifest, trials and objects into `folder` and return the benchmark."""
    write_table(trials, folder / "trials.csv")
    if objects is not None:
        write_table(objects, folder / "objects.csv")
    write_json(asdict(manifest), folder / MANIFEST)
    return open_benchmark(folder)


def read_objects(benchmark: Benchmark) -> pd.DataFrame:
    """Return the table of labelled objects; empty when the benchmark has no masks."""
    path = benchmark.folder / "objects.csv"
    if not path.is_file():
        return pd.DataFrame({name: [] for name in Objects.to_schema().columns})
    return read_table(path, Objects)


def load_trial_image(benchmark: Benchmark, row: pd.Series) -> LoadedImage:
    """Return the image of one row of the trial table, checked against what the row says.

    Raises
    ------
    InputError
        The file is missing, or its size or bytes contradict the trial table.
    """
    path = benchmark.image_path(row["image"])
    image = load_image(path)
    found = (image.width_px, image.height_px)
    if found != (row["width_px"], row["height_px"]):
        raise InputError(
            f"{path}: the image is {found[0]}x{found[1]} px, but trial {row['trial_id']!r} says "
            f"{row['width_px']}x{row['height_px']}; restore the image or import it anew"
        )
    if pd.notna(row["image_sha256"]) and image.sha256 != row["image_sha256"]:
        raise InputError(
            f"{path}: its bytes (sha256 {image.sha256[:12]}…) are not those that trial "
            f"{row['trial_id']!r} was made with ({row['image_sha256'][:12]}…); restore the image"
        )
    return image


def load_scene_mask(benchmark: Benchmark, row: pd.Series) -> np.ndarray | None:
    """Return the scene's object map, int32, shape (height_px, width_px); None when there is none.

    Raises
    ------
    InputError
        The mask's size contradicts the trial table.
    """
    path = benchmark.mask_path(row["scene_id"])
    if not path.is_file():
        return None
    labels = load_mask(path)
    if labels.shape != (row["height_px"], row["width_px"]):
        raise InputError(
            f"{path}: the mask is {labels.shape[1]}x{labels.shape[0]} px, but trial "
            f"{row['trial_id']!r} says {row['width_px']}x{row['height_px']}"
        )
    return labels


def check_ids_match(found: pd.Series, expected: pd.Series, *, source: str) -> None:
    """Raise unless each of the ids `found` is one of `expected`.

    Raises
    ------
    TableError
        Names the ids that the benchmark doesn't have.
    """
    unknown = sorted(set(found) - set(expected))
    if unknown:
        raise TableError(
            f"{source}: trial_id {name_some(unknown)} not in the benchmark's trials.csv "
            f"({len(set(found)) - len(unknown)} of {len(set(found))} ids match); "
            "use the trial_ids of that table"
        )


def hash_file(path: Path) -> str:
    """Return the sha256 of a file's bytes.

    Raises
    ------
    InputError
        No such file.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    return hashlib.sha256(path.read_bytes()).hexdigest()
