"""Scenes to a benchmark folder: place the dots of each scene, write images, masks and tables.

What a scene's displays are depends on the seed, the design and the scene alone: its generator is
spawned from the seed and the scene's id, so other scenes in the folder don't matter.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import pandas as pd

from stimuli.benchmark import Benchmark, Manifest, hash_file, open_benchmark, write_benchmark
from stimuli.design import PUBLISHED, Design, read_design, write_design
from stimuli.errors import InputError
from stimuli.geometric import Kind, describe_display, generate_controlled_set
from stimuli.images import write_image, write_mask
from stimuli.lists import ListDesign, assign_lists
from stimuli.placement import Placement, place_trials
from stimuli.scenes import Scene, check_scene, tabulate_objects
from stimuli.seeds import spawn_rng
from stimuli.table_io import building_folder, write_table
from stimuli.tables import Objects, Trials

DESIGN_FILE = "design.json"
PLACEMENT_FILE = "placement.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A benchmark and what became of each scene that was offered.

    Attributes
    ----------
    benchmark
        The folder that was written.
    placement : table with scene_id and reason
        One row per scene, in the order offered; an empty reason: it gave its four displays.
    """

    benchmark: Benchmark
    placement: pd.DataFrame

    @property
    def n_by_reason(self) -> dict[str, int]:
        """How many scenes gave no displays, by reason, the most frequent first."""
        return dict(Counter(self.placement["reason"].dropna()).most_common())


def build_benchmark(
    scenes: Iterable[Scene],
    folder: Path,
    *,
    design: Design,
    seed: int,
    manifest: Manifest,
    lists: ListDesign | None = None,
    max_scenes: int | None = None,
) -> Build:
    """Write the displays of all scenes that allow them as a benchmark folder.

    Parameters
    ----------
    scenes
        Read one at a time.
    folder
        Gets images/, masks/, objects.csv, trials.csv, design.json, placement.csv and benchmark.json.
    design, seed
        Where dots may lie, and the root of what is drawn.
    manifest
        What the benchmark says of itself.
    lists
        How displays are dealt to people; by default the table leaves that open.
    max_scenes
        Stop when so many scenes have given their displays; the others are not read.

    Raises
    ------
    InputError
        The folder isn't empty, two scenes have one id, a scene contradicts itself, or no scene gave
        a display. Nothing is left half-written.
    """
    return build_placed(
        place_scenes(scenes, design=design, seed=seed, max_scenes=max_scenes),
        folder,
        design=design,
        seed=seed,
        manifest=manifest,
        lists=lists,
    )


def build_controlled(
    folder: Path,
    *,
    n_scenes: int,
    design: Design,
    seed: int,
    manifest: Manifest,
    lists: ListDesign | None = None,
) -> Build:
    """Write the controlled set (`stimuli.geometric`) as a benchmark folder.

    The trial table tells of each display its ``controlled_kind``, and whether the dots share
    texture and class (``same_texture``, ``same_class``).

    Raises
    ------
    InputError
        The folder isn't empty.
    """
    made = list(islice(generate_controlled_set(design, prefix="controlled", seed=seed), n_scenes))
    kinds: dict[str, Kind] = {item.scene.scene_id: item.kind for item in made}
    return build_placed(
        ((item.scene, item.placement) for item in made),
        folder,
        design=design,
        seed=seed,
        manifest=manifest,
        lists=lists,
        describe=lambda row: describe_display(
            kinds[str(row["scene_id"])], same_object=bool(row["same_object"])
        ),
    )


def build_placed(
    placed: Iterable[tuple[Scene, Placement]],
    folder: Path,
    *,
    design: Design,
    seed: int,
    manifest: Manifest,
    lists: ListDesign | None = None,
    describe: Callable[[dict[str, object]], dict[str, object]] = lambda _: {},
) -> Build:
    """Write displays that are already placed as a benchmark folder.

    Parameters
    ----------
    placed
        Scenes with their displays, or with the reason why they have none.
    folder, design, seed, manifest, lists
        As for `build_benchmark`.
    describe
        Gives more columns of a row of the trial table.

    Raises
    ------
    InputError
        The folder isn't empty, or no scene has displays.
    """
    with building_folder(folder) as temporary:
        trials, objects, outcomes = _write_scenes(
            placed, temporary, design=design, version=manifest.version
        )
        table = pd.DataFrame([row | describe(row) for row in trials])
        if lists:
            table = assign_lists(table, lists, rng=spawn_rng(seed, "", purpose="lists"))
        write_table(outcomes, temporary / PLACEMENT_FILE)
        write_design(design, temporary / DESIGN_FILE)
        write_benchmark(
            temporary,
            manifest=manifest,
            trials=Trials.validate(table),
            objects=Objects.validate(objects),
        )
    return Build(benchmark=open_benchmark(folder), placement=outcomes)


def place_scenes(
    scenes: Iterable[Scene], *, design: Design, seed: int, max_scenes: int | None = None
) -> Iterator[tuple[Scene, Placement]]:
    """Yield each scene with its placement, until `max_scenes` have given their displays.

    Raises
    ------
    InputError
        Two scenes have one id, or a scene contradicts itself.
    """
    seen: set[str] = set()
    n_placed = 0
    for scene in scenes:
        check_scene(scene)
        if scene.scene_id in seen:
            raise InputError(
                f"scene {scene.scene_id!r} comes twice; scene ids name files and must be unique"
            )
        seen.add(scene.scene_id)
        rng = spawn_rng(seed, scene.scene_id, purpose="place")
        placement = place_trials(scene, design, rng)
        yield scene, placement
        n_placed += bool(placement.displays)
        if n_placed == max_scenes:
            return


def read_benchmark_design(benchmark: Benchmark) -> Design:
    """Return the design that a benchmark was made with; the published one if it doesn't say."""
    path = benchmark.folder / DESIGN_FILE
    return read_design(str(path)) if path.is_file() else PUBLISHED


def tabulate_placement(placement: Placement, design: Design) -> list[dict[str, object]]:
    """Return the rows of a scene's displays, without what is known of the image."""
    return [
        {
            "trial_id": name_trial(
                placement.scene_id, display.same_object, display.distance_condition
            ),
            "scene_id": placement.scene_id,
            **asdict(display),
            "distance_px": display.distance_px,
            "distance_deg": display.distance_px / design.px_per_degree,
        }
        for display in placement.displays
    ]


def name_trial(scene_id: str, same_object: bool, distance_condition: str) -> str:
    """Return the id of a scene's display in one cell, e.g. ``000000000139_same_close``."""
    return f"{scene_id}_{'same' if same_object else 'different'}_{distance_condition}"


def _write_scene(
    scene: Scene, placement: Placement, folder: Path, *, design: Design, version: str
) -> list[dict[str, object]]:
    """Write a scene's image and mask; return its trial rows."""
    image, sha256 = _write_image(scene, folder / "images")
    write_mask(scene.labels, folder / "masks" / f"{scene.scene_id}.png")
    height_px, width_px = scene.labels.shape
    about_image = {
        "image": image,
        "image_sha256": sha256,
        "width_px": width_px,
        "height_px": height_px,
        "list_id": None,
        "trials_version": version,
        "image_source": scene.source,
        "image_licence": scene.licence,
    }
    return [row | about_image for row in tabulate_placement(placement, design)]


def _write_image(scene: Scene, folder: Path) -> tuple[str, str]:
    """Keep the source's file, or write the pixels as PNG; return the file's name and sha256."""
    if scene.image_path is None:
        name = f"{scene.scene_id}.png"
        return name, write_image(scene.pixels, folder / name)
    name = scene.scene_id + scene.image_path.suffix.lower()
    folder.mkdir(exist_ok=True)
    shutil.copyfile(scene.image_path, folder / name)
    return name, hash_file(folder / name)


def _write_scenes(
    placed: Iterable[tuple[Scene, Placement]], folder: Path, *, design: Design, version: str
) -> tuple[list[dict[str, object]], pd.DataFrame, pd.DataFrame]:
    """Write images and masks; return trial rows, objects, and what became of each scene."""
    trials: list[dict[str, object]] = []
    objects: list[pd.DataFrame] = []
    outcomes: dict[str, str | None] = {}
    for scene, placement in placed:
        outcomes[scene.scene_id] = placement.reason
        if placement.displays:
            trials += _write_scene(scene, placement, folder, design=design, version=version)
            objects.append(tabulate_objects(scene))
    if not trials:
        raise InputError(_explain_nothing(outcomes))
    table = pd.DataFrame({"scene_id": list(outcomes), "reason": list(outcomes.values())})
    return trials, pd.concat(objects, ignore_index=True), table


def _explain_nothing(outcomes: dict[str, str | None]) -> str:
    if not outcomes:
        return "no scenes were given; point to a folder that holds some"
    reasons = Counter(outcomes.values()).most_common()
    told = "; ".join(f"{reason}: {n}" for reason, n in reasons)
    return (
        f"none of {len(outcomes)} scenes has places for all four displays ({told}); "
        "use a smaller design (--design smaller) or other scenes"
    )
