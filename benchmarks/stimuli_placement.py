"""How long placing dots takes, against decoding the images and masks that it needs.

    python benchmarks/stimuli_placement.py [SOURCE]

1000 scenes, read again and again from SOURCE (a folder of COCO panoptic annotations, ADE20K, or images/ and masks/); without SOURCE
from 25 made scenes of 640x480 px stored as JPEG and PNG. Prints milliseconds per scene for decoding
(what a reader does), for placing under each design, and the ratio. Target: at most 2.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from PIL import Image

from stimuli.design import DESIGNS
from stimuli.faults import FaultLog
from stimuli.images import write_mask
from stimuli.placement import place_trials
from stimuli.procedural import SceneDesign, generate_scenes
from stimuli.seeds import spawn_rng
from stimuli.sources import SourceOptions, open_source, read_scenes

N_SCENES = 1000
N_MADE = 25


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            source = Path(sys.argv[1])
        else:
            source = Path(folder)
            write_made_scenes(source)
        measure(source)


def write_made_scenes(folder: Path) -> None:
    """Store made scenes as photographs and masks are."""
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    for scene in islice(generate_scenes(SceneDesign(), prefix="m", seed=1), N_MADE):
        Image.fromarray(scene.pixels).save(folder / "images" / f"{scene.scene_id}.jpg", quality=92)
        write_mask(scene.labels, folder / "masks" / f"{scene.scene_id}.png")


def measure(source: Path) -> None:
    """Read and place `N_SCENES` scenes; print what each took."""
    placing_s = dict.fromkeys(("default", "smaller"), 0.0)
    n_placed = dict.fromkeys(placing_s, 0)
    start = time.perf_counter()
    for k, scene in enumerate(islice(read_for_ever(source), N_SCENES)):
        for name in placing_s:
            begin = time.perf_counter()
            rng = spawn_rng(k, scene.scene_id, purpose="place")
            n_placed[name] += bool(place_trials(scene, DESIGNS[name], rng).displays)
            placing_s[name] += time.perf_counter() - begin
    decoding_s = time.perf_counter() - start - sum(placing_s.values())
    per_scene = 1000 / N_SCENES
    print(f"decoding {decoding_s * per_scene:6.1f} ms per scene ({N_SCENES} scenes)")
    for name, seconds in placing_s.items():
        print(
            f"placing  {seconds * per_scene:6.1f} ms per scene, design {name!r}: "
            f"{seconds / decoding_s:.2f} x decoding ({n_placed[name]} with displays)"
        )


def read_for_ever(source: Path) -> Iterator:
    """Yield the scenes of a source again and again, decoded anew each time."""
    sets = open_source(source, SourceOptions())
    for _ in cycle([None]):
        yield from read_scenes(sets, FaultLog(policy="skip"))


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
