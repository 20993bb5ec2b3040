"""The demo's benchmark: procedural scenes, dot pairs, simulated people. Built in, needs no network.

The planted difficulty of a pair holds what all simulated people share: its type, the distance, how
much the colours under the two dots mislead (alike on different objects, unlike on one), and a deviate
of its own. So a readout that sees colour predicts these people, and nothing predicts them perfectly.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from experiment.observers import DifficultyDesign, draw_true_difficulty, simulate_responses
from stimuli.benchmark import Benchmark, Manifest, load_trial_image, open_benchmark
from stimuli.build import build_benchmark
from stimuli.cheats import describe_images
from stimuli.design import DEMO_DESIGN
from stimuli.procedural import DEMO_SCENES, generate_scenes
from stimuli.scenes import Scene
from stimuli.table_io import building_folder, write_table

N_SCENES = 48
N_PEOPLE = 24
# Less of a display's difficulty is its own deviate than in the published data's image, so that the
# demo's few trials show a difference between models; difficulty per SD of misleading colour.
DEMO_DIFFICULTY = DifficultyDesign(display_sd=0.6)
COLOUR_WEIGHT = 1.0
COLOUR_RADIUS_PX = 6.0

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
        Simulated people; each sees every display, so that few people give usable means.
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
        difficulty = draw_true_difficulty(benchmark.trials, difficulty_rng, design=DEMO_DIFFICULTY)
        difficulty += COLOUR_WEIGHT * measure_misleading_colour(benchmark)
        responses = simulate_responses(
            benchmark.trials, difficulty, n_people=n_people, rng=people_rng, see_every_display=True
        )
        write_table(responses, place / "responses" / "simulated.csv")
    return open_benchmark(folder)


def measure_misleading_colour(benchmark: Benchmark) -> pd.Series:
    """Return how much the colours at each pair's dots mislead, in SDs within its type of trial.

    Returns
    -------
    float Series, index trial_id
        Positive where dots on one object differ in colour, or dots on different objects don't.
    """
    trials = benchmark.trials.set_index("trial_id", drop=False)
    seen = describe_images(
        trials, lambda row: load_trial_image(benchmark, row).pixels, radius_px=COLOUR_RADIUS_PX
    )
    unlike = np.log(seen["colour"]["all"] + 1)
    by_type = unlike.groupby(trials["same_object"])
    z = (unlike - by_type.transform("mean")) / by_type.transform("std")
    return z.where(trials["same_object"], -z)


def _count(scenes: Iterable[Scene], on_scene: Callable[[], None]) -> Iterator[Scene]:
    for scene in scenes:
        on_scene()
        yield scene
