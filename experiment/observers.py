"""Simulated people: drift diffusion whose drift depends on the pair's true difficulty.

Ours, not a model of the published study: a stand-in for people in demonstrations and tests, and
every row that it makes says so. An answer is the bound that noisy evidence reaches first, the
reaction time is the time to get there plus a non-decision time. Drift falls with the difficulty of
the display, and differs between people and, unpredictably, between a person's displays. The default
numbers give roughly the published means, accuracy and split-half reliability (methods 1.2).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiment.diffusion import sample_exits
from experiment.lists import find_lists
from experiment.tables import Responses
from stimuli.errors import InputError
from stimuli.lists import is_practice_trial
from stimuli.table_io import check_table, name_some

SIMULATED_SESSION = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverDesign:
    """The declared parameters of simulated people. Evidence has noise 1 per square root of a second."""

    # Drift of an average person at difficulty 0, evidence per second.
    drift: float = 2.6
    # Drift lost per unit of difficulty.
    drift_per_difficulty: float = 0.72
    # Distance between the bounds, evidence.
    threshold: float = 1.6
    # Seeing and moving, seconds.
    non_decision_s: float = 0.51
    # Share of displays answered by a guess at any time up to the time-out.
    lapse: float = 0.01
    # Share of displays not answered at all.
    blank: float = 0.002
    # Longest wait for an answer, seconds; as in the task's default configuration.
    timeout_s: float = 5.0
    # Spread between people: SD of drift, and SD of the logarithm of the other two.
    person_drift_sd: float = 0.25
    person_log_threshold_sd: float = 0.12
    person_log_non_decision_sd: float = 0.10
    # Spread of drift between a person's displays, over and above difficulty.
    person_trial_drift_sd: float = 0.20

    def __post_init__(self) -> None:
        positive = ("threshold", "non_decision_s", "timeout_s")
        at_least_0 = (
            "lapse",
            "blank",
            "person_drift_sd",
            "person_log_threshold_sd",
            "person_log_non_decision_sd",
            "person_trial_drift_sd",
        )
        for name in positive:
            if not getattr(self, name) > 0:
                raise InputError(f"observer: {name} is {getattr(self, name)}; expected above 0")
        for name in at_least_0:
            if not getattr(self, name) >= 0:
                raise InputError(f"observer: {name} is {getattr(self, name)}; expected 0 or more")
        if self.lapse + self.blank > 1:
            raise InputError(
                f"observer: lapse {self.lapse} and blank {self.blank} add up to more than 1"
            )


DESIGN = ObserverDesign()


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyDesign:
    """What makes a display hard, in units of difficulty; 0 is an average same-close display.

    Planted after the published condition means (methods 1.2): different is slower than same, far is
    slower than close on one object, and displays of a condition differ among themselves.
    """

    different: float = 1.1
    # Per doubling of distance; on one object only, since for two the published means are equal.
    doubling_same: float = 0.40
    doubling_different: float = 0.0
    # SD between displays of a condition.
    display_sd: float = 1.0


DIFFICULTY = DifficultyDesign()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """One simulated person."""

    drift: float
    drift_per_difficulty: float
    threshold: float
    non_decision_s: float
    design: ObserverDesign


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a simulated person does on a number of displays.

    Attributes
    ----------
    is_correct : bool array, shape (n_trials,)
        Whether the answer is the right one; meaningless where there is none.
    rt_s : float array, shape (n_trials,)
        Seconds from onset; infinite where no answer comes.
    """

    is_correct: np.ndarray
    rt_s: np.ndarray


def draw_true_difficulty(
    trials: pd.DataFrame,
    rng: np.random.Generator,
    *,
    design: DifficultyDesign = DIFFICULTY,
) -> pd.Series:
    """Return a planted difficulty for each display, by trial_id.

    Parameters
    ----------
    trials
        Valid under `Trials`.
    rng
        Source of the displays' own deviates, one per row in the table's order.
    design
        What makes a display hard.

    Returns
    -------
    float Series, index trial_id
        Larger is harder.
    """
    is_same = trials["same_object"].to_numpy(dtype=bool)
    distance_px = trials["distance_px"].to_numpy(dtype=float)
    is_close = trials["distance_condition"].eq("close").to_numpy()
    reference_px = distance_px[is_close].mean() if is_close.any() else distance_px.mean()
    doublings = np.log2(distance_px / reference_px)
    difficulty = (
        np.where(is_same, 0.0, design.different)
        + doublings * np.where(is_same, design.doubling_same, design.doubling_different)
        + rng.normal(0, design.display_sd, len(trials))
    )
    return pd.Series(difficulty, index=pd.Index(trials["trial_id"]), name="difficulty")


def draw_observer(design: ObserverDesign, rng: np.random.Generator) -> Observer:
    """Return one person drawn from the population that `design` declares."""
    return Observer(
        drift=design.drift + design.person_drift_sd * rng.standard_normal(),
        drift_per_difficulty=design.drift_per_difficulty,
        threshold=design.threshold * np.exp(design.person_log_threshold_sd * rng.standard_normal()),
        non_decision_s=design.non_decision_s
        * np.exp(design.person_log_non_decision_sd * rng.standard_normal()),
        design=design,
    )


def answer_displays(
    observer: Observer, difficulty: np.ndarray, rng: np.random.Generator
) -> Answers:
    """Return one person's answers to displays of given difficulty, shape (n_trials,)."""
    design = observer.design
    n = len(difficulty)
    drift = (
        observer.drift
        - observer.drift_per_difficulty * np.asarray(difficulty, dtype=float)
        + design.person_trial_drift_sd * rng.standard_normal(n)
    )
    is_correct, decision_s = sample_exits(
        drift=drift, threshold=np.full(n, observer.threshold), rng=rng
    )
    rt_s = decision_s + observer.non_decision_s
    kind, guess, when = rng.random((3, n))
    is_lapse = kind < design.lapse
    is_blank = (kind >= design.lapse) & (kind < design.lapse + design.blank)
    latest_s = max(design.timeout_s, observer.non_decision_s)
    lapse_s = observer.non_decision_s + when * (latest_s - observer.non_decision_s)
    rt_s = np.where(is_lapse, lapse_s, np.where(is_blank, np.inf, rt_s))
    rt_s[rt_s > design.timeout_s] = np.inf
    return Answers(is_correct=np.where(is_lapse, guess < 0.5, is_correct), rt_s=rt_s)


def simulate_responses(
    trials: pd.DataFrame,
    difficulty: pd.Series | np.ndarray,
    *,
    n_people: int,
    rng: np.random.Generator,
    design: ObserverDesign = DESIGN,
    see_every_display: bool = False,
) -> pd.DataFrame:
    """Return the responses of simulated people to a benchmark's test displays.

    Parameters
    ----------
    trials
        Valid under `Trials`; practice displays are skipped.
    difficulty : Series by trial_id, or array in the rows' order
        True difficulty; larger is harder.
    n_people
        They are called ``sim-001`` and so on.
    rng
        Spawned once per person, so that more people don't change the first ones.
    design
        The declared parameters.
    see_every_display
        False: each person sees each scene in one condition, as in the published study, person k
        the list k mod 4. True: each person sees every display.

    Returns
    -------
    DataFrame
        Valid under `Responses`, people in order, each in an order of their own; `is_simulated` is
        True in every row.

    Raises
    ------
    InputError
        No people are asked for, or a display has no difficulty.
    """
    if n_people < 1:
        raise InputError(f"n_people is {n_people}; simulate at least one person")
    by_trial = _align_difficulty(trials, difficulty)
    test = trials[~is_practice_trial(trials)].reset_index(drop=True)
    values = by_trial.loc[test["trial_id"]].to_numpy(dtype=float)
    lists = find_lists(test).to_numpy()
    n_lists = int(lists.max()) + 1 if len(lists) else 1
    parts = []
    for k, person_rng in enumerate(rng.spawn(n_people)):
        rows = np.flatnonzero(see_every_display | (lists == k % n_lists))
        rows = person_rng.permutation(rows)
        answers = answer_displays(draw_observer(design, person_rng), values[rows], person_rng)
        parts.append(_tabulate_person(f"sim-{k + 1:03d}", test.iloc[rows], answers))
    table = pd.concat(parts, ignore_index=True)
    return check_table(table, Responses, source="the simulated responses")


def _align_difficulty(trials: pd.DataFrame, difficulty: pd.Series | np.ndarray) -> pd.Series:
    if not isinstance(difficulty, pd.Series):
        values = np.asarray(difficulty, dtype=float)
        if values.shape != (len(trials),):
            raise InputError(
                f"difficulty has shape {values.shape}; expected one value for each of the "
                f"{len(trials)} trials"
            )
        difficulty = pd.Series(values, index=pd.Index(trials["trial_id"]))
    aligned = difficulty.reindex(trials["trial_id"])
    if aligned.isna().any():
        missing = aligned.index[aligned.isna()]
        raise InputError(
            f"difficulty is missing for trial {name_some(missing)}; give every trial a number"
        )
    return aligned


def _tabulate_person(participant_id: str, shown: pd.DataFrame, answers: Answers) -> pd.DataFrame:
    is_same = shown["same_object"].to_numpy(dtype=bool)
    is_answered = np.isfinite(answers.rt_s)
    said_same = is_same == answers.is_correct
    response = pd.Series(np.where(said_same, "same", "different"), dtype="str")
    outcome = np.where(answers.is_correct, "correct", "wrong")
    return pd.DataFrame(
        {
            "participant_id": participant_id,
            "session": SIMULATED_SESSION,
            "position": np.arange(1, len(shown) + 1),
            "trial_id": shown["trial_id"].to_numpy(),
            "is_practice": False,
            "outcome": np.where(is_answered, outcome, "timeout"),
            "response": response.where(pd.Series(is_answered)),
            "rt_s": np.where(is_answered, answers.rt_s, np.nan),
            "is_simulated": True,
        }
    )
