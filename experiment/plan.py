"""Who sees what in which order, with which key for "same".

Everything follows from the participant's number, the participant's name and the session alone, so
that the same participant always gets the same order. The number decides the Latin-square list (n - 1
mod 4, moved on by one in each further session) and, over groups of eight people, which key means
"same". Blocks are fixed sets of scenes with equally many displays of each condition; the order
within a block is drawn from a stream named after participant and session.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from experiment.config import SessionConfig
from experiment.lists import find_lists
from experiment.tables import Outcome
from stimuli.errors import InputError
from stimuli.lists import is_practice_trial
from stimuli.seeds import spawn_rng
from stimuli.tables import name_cells

PRACTICE_BLOCK = 0
# The order's only seed; what makes it differ is the participant and the session.
_ORDER_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who sits there, and which visit it is. Text in Unicode's composed form (NFC).

    Attributes
    ----------
    participant_id, session
        As typed: 007 stays 007.
    number
        From 1; decides list and keys.
    """

    participant_id: str
    session: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMap:
    """Which key says what."""

    same: str
    different: str

    def response_to(self, key: str) -> str | None:
        """Return "same", "different", or None for another key."""
        return {self.same: "same", self.different: "different"}.get(key)

    def key_for(self, response: str) -> str:
        """Return the key of a response."""
        return self.same if response == "same" else self.different


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """One display at its place in the session.

    Attributes
    ----------
    position
        From 1, over practice and blocks; each is shown once unless its outcome asks for more.
    block
        From 1; 0 is practice.
    """

    position: int
    block: int
    is_practice: bool
    trial_id: str
    scene_id: str
    same_object: bool
    dots_xy_px: tuple[tuple[float, float], tuple[float, float]]

    @property
    def correct_response(self) -> str:
        """What the person should say."""
        return "same" if self.same_object else "different"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """A session before it begins.

    Attributes
    ----------
    list_number
        Latin-square list, from 1.
    trials
        Practice, then the blocks, in order of position.
    """

    identity: Identity
    list_number: int
    key_map: KeyMap
    trials: tuple[PlannedTrial, ...]

    @property
    def n_blocks(self) -> int:
        """Test blocks."""
        return max((trial.block for trial in self.trials), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How one presentation of a position ended."""

    position: int
    outcome: Outcome


def clean_label(text: str, *, what: str) -> str:
    """Return an id as it is kept: NFC, no space around it.

    Raises
    ------
    InputError
        Nothing is left, or it holds a control character.
    """
    label = unicodedata.normalize("NFC", text).strip()
    if not label:
        raise InputError(f"{what} is empty; give it a name, such as 07")
    if any(unicodedata.category(character) == "Cc" for character in label):
        raise InputError(f"{what} {label!r} holds a control character; leave it out")
    return label


def find_number(participant_id: str, *, taken: Iterable[int] = ()) -> int:
    """Return the number of a participant: the last digits of the id, else the first one free.

    >>> find_number("sub-007"), find_number("Zoë", taken=[1, 2])
    (7, 3)

    Raises
    ------
    InputError
        The digits are 0; people are counted from 1.
    """
    digits = re.findall(r"[0-9]+", participant_id)
    if not digits:
        return max(taken, default=0) + 1
    number = int(digits[-1])
    if number == 0:
        raise InputError(
            f"participant {participant_id!r}: the number is 0; count people from 1, or give --number"
        )
    return number


def choose_list(identity: Identity, *, n_lists: int) -> int:
    """Return the list, from 0, of a participant in a session."""
    digits = re.findall(r"[0-9]+", identity.session)
    visit = int(digits[-1]) - 1 if digits else 0
    return (identity.number - 1 + visit) % n_lists


def choose_keys(identity: Identity, *, keys: tuple[str, str], n_lists: int) -> KeyMap:
    """Return which key means "same": changes once all lists have been used."""
    is_left = (identity.number - 1) // n_lists % 2 == 0
    same, different = keys if is_left else keys[::-1]
    return KeyMap(same=same, different=different)


def plan_session(
    trials: pd.DataFrame,
    identity: Identity,
    *,
    config: SessionConfig,
    practice: pd.DataFrame | None = None,
) -> SessionPlan:
    """Return the plan of a participant's session.

    Parameters
    ----------
    trials
        Valid under `Trials`; displays of the list `practice` are for practice.
    identity
        The participant, the session and the participant's number.
    config
        Blocks, practice, keys.
    practice
        Displays of another benchmark to practise on, instead of this one's.

    Raises
    ------
    InputError
        There are no test displays, too few for the blocks, or practice is asked for and there are
        no practice displays.
    """
    is_practice = is_practice_trial(trials)
    test = trials[~is_practice].reset_index(drop=True)
    if test.empty:
        raise InputError("trials.csv holds no test displays, only practice")
    lists = find_lists(test)
    n_lists = int(lists.max()) + 1
    chosen = choose_list(identity, n_lists=n_lists)
    rng = spawn_rng(
        _ORDER_SEED, f"{identity.participant_id}\n{identity.session}", purpose="session order"
    )
    practice_rng, blocks_rng = rng.spawn(2)
    pool = trials[is_practice].reset_index(drop=True) if practice is None else practice
    ordered: list[tuple[int, Mapping[Any, Any]]] = [
        (PRACTICE_BLOCK, row)
        for row in _order_practice(pool, config=config, list_number=chosen, rng=practice_rng)
    ]
    shown = test[lists == chosen].reset_index(drop=True)
    ordered += _order_blocks(shown, config=config, rng=blocks_rng)
    return SessionPlan(
        identity=identity,
        list_number=chosen + 1,
        key_map=choose_keys(identity, keys=config.response_keys, n_lists=n_lists),
        trials=tuple(
            _plan_trial(row, position=k + 1, block=block) for k, (block, row) in enumerate(ordered)
        ),
    )


def choose_next(
    plan: SessionPlan, done: Sequence[Done], *, config: SessionConfig
) -> PlannedTrial | None:
    """Return what is shown next, given everything that was shown; None at the end.

    Resuming is the same question asked with the rows that lie on disk, so it can neither repeat nor
    leave out a display. A presentation that was aborted doesn't count; one whose outcome is among
    `repeat_outcomes` is shown again at the end of its block.
    """
    shown: dict[int, list[Outcome]] = {}
    for presentation in done:
        if presentation.outcome != "aborted":
            shown.setdefault(presentation.position, []).append(presentation.outcome)
    for block in range(PRACTICE_BLOCK, plan.n_blocks + 1):
        trials = [trial for trial in plan.trials if trial.block == block]
        if block == PRACTICE_BLOCK and _has_met_criterion(done, trials, config):
            continue
        fresh = [trial for trial in trials if trial.position not in shown]
        again = [trial for trial in trials if _is_due_again(shown.get(trial.position), config)]
        if fresh or again:
            return (fresh or again)[0]
    return None


def count_presentations(done: Sequence[Done], position: int) -> int:
    """Return how often a position was shown, aborted presentations included."""
    return sum(presentation.position == position for presentation in done)


def _is_due_again(outcomes: list[Outcome] | None, config: SessionConfig) -> bool:
    if not outcomes or len(outcomes) >= config.max_presentations:
        return False
    return outcomes[-1] in config.repeat_outcomes


def _has_met_criterion(
    done: Sequence[Done], practice: list[PlannedTrial], config: SessionConfig
) -> bool:
    if config.practice_criterion is None:
        return False
    positions = {trial.position for trial in practice}
    answers = [d.outcome for d in done if d.position in positions and d.outcome != "aborted"]
    last = answers[-config.practice_window :]
    if len(last) < config.practice_window:
        return False
    return last.count("correct") / len(last) >= config.practice_criterion


def _order_practice(
    pool: pd.DataFrame, *, config: SessionConfig, list_number: int, rng: np.random.Generator
) -> list[Mapping[Any, Any]]:
    """One display per practice scene, in random order; again for each further round."""
    if config.n_practice == 0:
        return []
    if pool.empty:
        raise InputError(
            f"{config.n_practice} practice trials are asked for, but no display's list_id is "
            "'practice'. Name another benchmark's displays with --practice FOLDER, or leave "
            "practice out with --practice none"
        )
    cells = name_cells(pool)
    scene_number = pd.Series(pd.factorize(pool["scene_id"])[0], index=pool.index)
    n_cells = cells.nunique()
    cell_number = cells.rank(method="dense").astype(int) - 1
    one_each = pool[(scene_number + cell_number + list_number) % n_cells == 0]
    if len(one_each) < min(config.n_practice, scene_number.nunique()):
        one_each = pool.drop_duplicates("scene_id")
    rows = one_each.sort_values("trial_id", kind="stable").to_dict("records")
    rounds = 1 if config.practice_criterion is None else config.practice_rounds
    ordered: list[Mapping[Any, Any]] = []
    for _ in range(rounds):
        order = rng.permutation(len(rows))[: config.n_practice]
        ordered += [rows[int(k)] for k in order]
    return ordered


def _order_blocks(
    shown: pd.DataFrame, *, config: SessionConfig, rng: np.random.Generator
) -> list[tuple[int, Mapping[Any, Any]]]:
    """Blocks of consecutive scenes, in random order inside, and among themselves if so configured."""
    if len(shown) < config.n_blocks:
        raise InputError(
            f"{len(shown)} displays don't fill {config.n_blocks} blocks; lower n_blocks in the "
            "configuration"
        )
    sets = np.array_split(np.arange(len(shown)), config.n_blocks)
    order = rng.permutation(len(sets)) if config.shuffle_blocks else np.arange(len(sets))
    rows = shown.to_dict("records")
    return [
        (block, rows[int(row)])
        for block, k in enumerate(order, start=1)
        for row in rng.permutation(sets[int(k)])
    ]


def _plan_trial(row: Mapping[Any, Any], *, position: int, block: int) -> PlannedTrial:
    return PlannedTrial(
        position=position,
        block=block,
        is_practice=block == PRACTICE_BLOCK,
        trial_id=str(row["trial_id"]),
        scene_id=str(row["scene_id"]),
        same_object=bool(row["same_object"]),
        dots_xy_px=(
            (float(row["dot1_x_px"]), float(row["dot1_y_px"])),
            (float(row["dot2_x_px"]), float(row["dot2_y_px"])),
        ),
    )
