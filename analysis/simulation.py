"""Simulated studies with planted truth, for coverage, comparison and power (docs/statistics.md).

A person's RT to a trial is the person's own level, the cell's effect, the person's slope times the
trial's true difficulty (scene and trial effects), and noise. A person sees some of each scene's four
conditions and answers some of those wrongly, which leaves no RT. Models are planted by their
correlation with the true difficulty within the cells of the design.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.human import ReactionTimes
from analysis.rows import Rows, select_rows
from stimuli.errors import InputError
from stimuli.tables import CELLS

N_CELLS = len(CELLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A kind of study; the defaults are the published design with the published reliability."""

    n_people: int = 72  # 1.2 [data]
    n_scenes: int = 255  # 1.2 [data]
    conditions_per_scene: int = 1  # of four that one person sees
    accuracy: float = 0.93  # share of seen trials that leave an RT
    person_sd_s: float = 0.15  # people's own levels
    slope_sd: float = 0.3  # spread over people of how much difficulty moves them
    scene_sd_s: float = 0.03
    trial_sd_s: float = 0.08  # so that split halves of trial means come out at .42
    noise_sd_s: float = 0.25  # residual of one RT
    cell_effects_s: tuple[float, ...] = (0.0, 0.032, 0.08, 0.08)  # 1.2 [data], order of CELLS
    mean_rt_s: float = 0.842  # of the first cell, 1.2 [data]

    def __post_init__(self) -> None:
        """Check that the study can be simulated."""
        if self.n_people < 1 or self.n_scenes < 1:
            raise InputError(
                f"{self.n_people} people and {self.n_scenes} scenes; a study needs at least one each"
            )
        if not 1 <= self.conditions_per_scene <= N_CELLS:
            raise InputError(
                f"{self.conditions_per_scene} conditions per scene; expected 1 to {N_CELLS}"
            )
        if not 0 < self.accuracy <= 1:
            raise InputError(f"accuracy {self.accuracy}; expected above 0 and at most 1")
        sds = (self.person_sd_s, self.slope_sd, self.scene_sd_s, self.trial_sd_s, self.noise_sd_s)
        if min(sds) < 0 or self.scene_sd_s + self.trial_sd_s == 0:
            raise InputError(
                f"standard deviations {sds}; expected none below 0, and scenes or trials that differ"
            )
        if len(self.cell_effects_s) != N_CELLS:
            raise InputError(f"{len(self.cell_effects_s)} cell effects; expected {N_CELLS}")


PUBLISHED_STUDY = Study()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedStudy:
    """The rows of a simulated study and their true difficulty, s, shape (n_trials,), without cells."""

    rows: Rows
    truth: np.ndarray


def simulate_study(study: Study, rng: np.random.Generator) -> SimulatedStudy:
    """Return the rows of one simulated study and the true difficulty of their trials."""
    n_trials = N_CELLS * study.n_scenes
    scenes = np.repeat(np.arange(study.n_scenes), N_CELLS)
    cells = np.tile(np.arange(N_CELLS), study.n_scenes)
    truth = rng.normal(0, study.trial_sd_s, n_trials)
    truth = truth + rng.normal(0, study.scene_sd_s, study.n_scenes)[scenes]
    levels = rng.normal(study.mean_rt_s, study.person_sd_s, (study.n_people, 1))
    slopes = rng.normal(1, study.slope_sd, (study.n_people, 1))
    rt_s = levels + np.asarray(study.cell_effects_s)[cells] + slopes * truth
    rt_s = rt_s + rng.normal(0, study.noise_sd_s, rt_s.shape)
    # Each person's conditions of each scene, at random.
    order = rng.random((study.n_people, study.n_scenes, N_CELLS)).argsort(axis=2).argsort(axis=2)
    is_seen = (order < study.conditions_per_scene).reshape(rt_s.shape)
    rt_s[~is_seen | (rng.random(rt_s.shape) >= study.accuracy)] = np.nan
    is_far = np.array([condition == "far" for _, condition in CELLS])[cells]
    trials = pd.DataFrame(
        {
            "trial_id": [f"t{k}" for k in range(n_trials)],
            "scene_id": scenes.astype(str),
            "same_object": np.array([bool(same) for same, _ in CELLS])[cells],
            "distance_condition": np.where(is_far, "far", "close"),
            "distance_px": rng.normal(100, 5, n_trials) * (1 + is_far),
        }
    )
    times = ReactionTimes(
        rt_s=rt_s,
        participant_ids=tuple(f"p{k}" for k in range(study.n_people)),
        trial_ids=tuple(trials["trial_id"]),
    )
    return SimulatedStudy(
        rows=select_rows(times, trials), truth=truth[np.isfinite(rt_s).any(axis=0)]
    )


def draw_model(truth: np.ndarray, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """Return a model's predicted difficulty, with this correlation with the truth on average.

    The truth has no effect of cell, and neither has the model: the correlation is within cells.

    Raises
    ------
    InputError
        The correlation is not between -1 and 1.
    """
    if not -1 <= correlation <= 1:
        raise InputError(f"correlation {correlation}; expected -1 to 1")
    scaled = (truth - truth.mean()) / truth.std()
    return correlation * scaled + np.sqrt(1 - correlation**2) * rng.standard_normal(len(truth))
