"""The demo's benchmark: procedural scenes, dot pairs, simulated people. Built in, needs no network."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from experiment.observers import draw_true_difficulty, simulate_responses
from stimuli.benchmark import Benchmark, Manifest, open_benchmark
from stimuli.build import build_benchmark
from stimuli.design import DEMO_DESIGN
from stimuli.procedural import DEMO_SCENES, generate_scenes
from stimuli.scenes import Scene
from stimuli.table_io import building_folder, write_table

N_SCENES = 48
N_PEOPLE = 24

DEMO_MANIFEST = Manifest(
    name="demo",
    version="1",
    source="procedural scenes made by objecthood; simulated people (drift diffusion)",
    licence="MIT, as objecthood",
    is_simulated=True,
)


def make_demo_benchmark(
    folder: Path,
    *,
    seed: int,
    n_scenes: int = N_SCENES,
    n_people: int = N_PEOPLE,
    on_scene: Callable[[], None] = lambda: None,
) -> Benchmark:
    """Write the demo's benchmark and return it.

    Parameters
    ----------
    folder
        The benchmark folder to make.
    seed
        Root of all randomness: scenes, dots, people.
    n_scenes
        Scenes with all four displays.
    n_people
        Simulated people; each sees each scene in one of its four displays.
    on_scene
        Called before each scene is made, for a progress bar.

    Raises
    ------
    InputError
        `folder` exists and isn't empty.
    """
    with building_folder(folder) as place:
        benchmark = build_benchmark(
            _count(generate_scenes(DEMO_SCENES, prefix="demo", seed=seed), on_scene),
            place,
            design=DEMO_DESIGN,
            seed=seed,
            manifest=DEMO_MANIFEST,
            max_scenes=n_scenes,
        ).benchmark
        difficulty_rng, people_rng = np.random.default_rng(seed).spawn(2)
        difficulty = draw_true_difficulty(benchmark.trials, difficulty_rng)
        responses = simulate_responses(
            benchmark.trials, difficulty, n_people=n_people, rng=people_rng
        )
        write_table(responses, place / "responses" / "simulated.csv")
    return open_benchmark(folder)


def _count(scenes: Iterable[Scene], on_scene: Callable[[], None]) -> Iterator[Scene]:
    for scene in scenes:
        on_scene()
        yield scene
