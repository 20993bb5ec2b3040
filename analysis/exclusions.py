"""Exclusions: declared rules, tried in order, every presentation counted under one of them.

A rule says what it takes out (or flags and keeps), with which number, and why. The published rules
(Adeli 2023 [code]) keep correct test responses and flag RTs with |z| > 3 within a person; more are
declared in a file:

::

    extends = "published"            # the published rules come first; left out: only those below

    [[rule]]
    kind = "rt_below"                # seconds
    value = 0.15
    reason = "anticipations"

    [[rule]]
    kind = "person_accuracy_below"
    value = 0.75
    action = "exclude"               # or "flag": counted and kept

The rules of a benchmark lie in its folder as `exclusion_rules.toml`, so that the human table, the
ceilings and every score use the same rows; without that file the published rules hold.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.tables import Exclusions
from experiment.tables import OUTCOMES
from stimuli.errors import InputError
from stimuli.table_io import check_table, name_some

RULES_FILE = "exclusion_rules.toml"
ANALYSED = "analysed"
FLAGGED_PREFIX = "flagged, kept: "

RuleKind = Literal[
    "practice",
    "outcome",
    "rt_below",
    "rt_above",
    "rt_beyond_z",
    "person_accuracy_below",
    "person_trials_below",
]
Action = Literal["exclude", "flag"]
ACTIONS: tuple[Action, ...] = ("exclude", "flag")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One declared reason to leave presentations out, or to flag and keep them.

    Attributes
    ----------
    kind
        What is looked at; see `KINDS`.
    value
        An outcome for "outcome", a number for the others, None for "practice". RTs in seconds.
    action
        "exclude", or "flag": counted in the ledger and kept.
    reason
        Why, in words, for the record.
    """

    kind: RuleKind
    value: float | str | None = None
    action: Action = "exclude"
    reason: str = ""

    @property
    def name(self) -> str:
        """What the ledger calls the rule."""
        text = KINDS[self.kind].name_rule(self.value)
        return text if self.action == "exclude" else FLAGGED_PREFIX + text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """How a kind of rule is named and which values it takes."""

    name_rule: Callable[[Any], str]
    check_value: Callable[[Any], bool]
    expected: str


def _is_number_above(floor: float, value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > floor


KINDS: dict[RuleKind, _Kind] = {
    "practice": _Kind(
        name_rule=lambda _v: "practice",
        check_value=lambda value: value is None,
        expected="no value",
    ),
    "outcome": _Kind(
        name_rule=str,
        check_value=lambda value: value in OUTCOMES and value != "correct",
        expected=f"one of {', '.join(name for name in OUTCOMES if name != 'correct')}",
    ),
    "rt_below": _Kind(
        name_rule=lambda value: f"rt below {value:g} s",
        check_value=lambda value: _is_number_above(0, value),
        expected="seconds above 0",
    ),
    "rt_above": _Kind(
        name_rule=lambda value: f"rt above {value:g} s",
        check_value=lambda value: _is_number_above(0, value),
        expected="seconds above 0",
    ),
    "rt_beyond_z": _Kind(
        name_rule=lambda value: f"|z| > {value:g} within person",
        check_value=lambda value: _is_number_above(0, value),
        expected="standard deviations above 0",
    ),
    "person_accuracy_below": _Kind(
        name_rule=lambda value: f"person's accuracy below {value:g}",
        check_value=lambda value: _is_number_above(0, value) and value <= 1,
        expected="a share between 0 and 1",
    ),
    "person_trials_below": _Kind(
        name_rule=lambda value: f"person's analysed trials below {value:g}",
        check_value=lambda value: _is_number_above(0, value),
        expected="a number of trials above 0",
    ),
}

# Correct test trials, |z| > 3 flagged and kept [code].
PUBLISHED_RULES: tuple[Rule, ...] = (
    Rule(kind="practice", reason="never analysed"),
    Rule(kind="outcome", value="aborted", reason="the session ended within the trial"),
    Rule(kind="outcome", value="gaze_break", reason="gaze left the fixation window"),
    Rule(kind="outcome", value="early", reason="answered before the image"),
    Rule(kind="outcome", value="timeout", reason="no answer"),
    Rule(kind="outcome", value="wrong", reason="RTs of correct responses only"),
    Rule(kind="rt_beyond_z", value=3.0, action="flag", reason="flagged and kept, as published"),
)
FLAGGED = PUBLISHED_RULES[-1].name


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """What the rules did.

    Attributes
    ----------
    analysed : DataFrame
        The responses that are analysed.
    answered : DataFrame
        Those that count for accuracy: answered, right or wrong, by people who are kept, and not
        taken out by practice, RT floor or cap.
    ledger : DataFrame
        For each person a row per rule, and one `analysed`. Rules that exclude, and `analysed`, add
        up to the person's presentations; rules that flag count among the analysed.
    """

    analysed: pd.DataFrame
    answered: pd.DataFrame
    ledger: pd.DataFrame


def read_rules(path: Path) -> tuple[Rule, ...]:
    """Return the rules declared in a TOML file.

    Raises
    ------
    InputError
        No such file, not TOML, or a rule of an unknown kind or with a value of the wrong kind.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected exclusion rules as TOML")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML ({error})") from None
    unknown = sorted(set(content) - {"extends", "rule"})
    if unknown:
        raise InputError(f"{path}: unknown key {name_some(unknown)}; expected extends, [[rule]]")
    if content.get("extends") not in {None, "published"}:
        raise InputError(f"{path}: extends = {content['extends']!r}; only 'published' is known")
    base = PUBLISHED_RULES if "extends" in content else ()
    entries = content.get("rule", [])
    if not isinstance(entries, list):
        raise InputError(f"{path}: rules are written as [[rule]], with two brackets")
    rules = base + tuple(
        _parse_rule(entry, where=f"{path}, rule {k}") for k, entry in enumerate(entries, start=1)
    )
    _check_rules(rules, path)
    return rules


def rules_of(folder: Path) -> tuple[Rule, ...]:
    """Return the rules of a benchmark: those in its folder, or the published ones."""
    path = folder / RULES_FILE
    return read_rules(path) if path.is_file() else PUBLISHED_RULES


def describe_rules(rules: tuple[Rule, ...]) -> list[dict[str, Any]]:
    """Return the rules as records for a JSON file, each with its name."""
    return [{"name": rule.name} | asdict(rule) for rule in rules]


def apply_rules(
    responses: pd.DataFrame,
    rules: tuple[Rule, ...] = PUBLISHED_RULES,
    *,
    errors_recorded: bool = True,
) -> Exclusion:
    """Return the responses that are analysed, and the ledger of all that are not.

    Parameters
    ----------
    responses
        Valid under `Responses`.
    rules
        In order. Each looks at what the rules before it left (z-scores are those of the RTs that
        are left), and a presentation is counted under the first that takes it.
    errors_recorded
        Whether wrong responses are in the table; without them nobody's accuracy is known.

    Raises
    ------
    InputError
        A rule needs accuracy and errors are not recorded, or presentations without an RT are left.
    """
    reason = pd.Series(ANALYSED, index=responses.index, dtype="str")
    flags: dict[str, pd.Series] = {}
    for rule in rules:
        if rule.kind == "person_accuracy_below" and not errors_recorded:
            raise InputError(
                f"rule {rule.name!r}: this benchmark records no error trials, so nobody's accuracy "
                "is known; leave the rule out"
            )
        left = reason == ANALYSED
        is_taken = _find_taken(rule, responses, left) & left
        if rule.action == "flag":
            flags[rule.name] = is_taken
        else:
            reason = reason.mask(is_taken, rule.name)
    analysed = responses[reason == ANALYSED]
    _check_analysed(analysed)
    ledger = _tabulate(responses, reason, flags=flags, rules=rules)
    answered = _find_answered(responses, reason, rules)
    return Exclusion(analysed=analysed, answered=responses[answered], ledger=ledger)


def _find_taken(rule: Rule, responses: pd.DataFrame, left: pd.Series) -> pd.Series:
    """Return which presentations a rule takes, among all; the caller keeps to those left."""
    value: Any = rule.value
    if rule.kind == "practice":
        return responses["is_practice"].astype(bool)
    if rule.kind == "outcome":
        return responses["outcome"] == value
    if rule.kind == "rt_below":
        return responses["rt_s"] < value
    if rule.kind == "rt_above":
        return responses["rt_s"] > value
    return _find_taken_by_person(rule, responses, left)


def _find_taken_by_person(rule: Rule, responses: pd.DataFrame, left: pd.Series) -> pd.Series:
    """Return which presentations a rule takes that looks at all presentations of a person."""
    value: Any = rule.value
    person = responses["participant_id"]
    if rule.kind == "rt_beyond_z":
        return _z_within_person(responses, left).abs() > value
    if rule.kind == "person_accuracy_below":
        return person.map(_accuracy_by_person(responses)) < value
    return person.map(left.groupby(person).sum()) < value


def _z_within_person(responses: pd.DataFrame, left: pd.Series) -> pd.Series:
    """Return z-scores among the RTs that are left, population SD, NaN elsewhere."""
    rt_s = responses["rt_s"].where(left)
    by_person = rt_s.groupby(responses["participant_id"])
    spread = by_person.transform("std", ddof=0)
    return (rt_s - by_person.transform("mean")) / spread.where(spread > 0)


def _accuracy_by_person(responses: pd.DataFrame) -> pd.Series:
    """Return each person's share correct of the answered test presentations."""
    answered = responses[
        ~responses["is_practice"] & responses["outcome"].isin(["correct", "wrong"])
    ]
    return (answered["outcome"] == "correct").groupby(answered["participant_id"]).mean()


def _find_answered(
    responses: pd.DataFrame, reason: pd.Series, rules: tuple[Rule, ...]
) -> pd.Series:
    """Return which presentations count for accuracy; see `Exclusion`."""
    keep = ~responses["is_practice"] & responses["outcome"].isin(["correct", "wrong"])
    for rule in rules:
        if rule.action == "flag":
            continue
        if rule.kind.startswith("person_"):
            gone = responses.loc[reason == rule.name, "participant_id"].unique()
            keep &= ~responses["participant_id"].isin(gone)
        elif rule.kind in {"rt_below", "rt_above"}:
            keep &= ~_find_taken(rule, responses, keep)
    return keep


def _tabulate(
    responses: pd.DataFrame,
    reason: pd.Series,
    *,
    flags: Mapping[str, pd.Series],
    rules: tuple[Rule, ...],
) -> pd.DataFrame:
    names = [rule.name for rule in rules if rule.action == "exclude"] + [ANALYSED]
    person = responses["participant_id"]
    counts = pd.crosstab(person, reason).reindex(columns=names, fill_value=0)
    for name, is_flagged in flags.items():
        counts[name] = (is_flagged & (reason == ANALYSED)).groupby(person).sum()
    counts = counts.fillna(0).astype(int).rename_axis(columns=None).reset_index()
    ledger = counts.melt("participant_id", var_name="rule", value_name="n_presentations")
    return check_table(ledger, Exclusions, source="the exclusion ledger")


def _check_analysed(analysed: pd.DataFrame) -> None:
    for is_fault, what, remedy in (
        (analysed["is_practice"], "practice presentations", 'kind = "practice"'),
        (analysed["rt_s"].isna(), "presentations without a reaction time", 'kind = "outcome"'),
    ):
        if is_fault.any():
            row = analysed[is_fault].iloc[0]
            raise InputError(
                f"the rules leave {int(is_fault.sum())} {what} to analyse (the first: participant "
                f"{row['participant_id']!r}, trial {row['trial_id']!r}, outcome {row['outcome']!r}); "
                f'add a rule with {remedy}, or extends = "published"'
            )


def _parse_rule(entry: Mapping[str, Any], *, where: str) -> Rule:
    unknown = sorted(set(entry) - {"kind", "value", "action", "reason"})
    if unknown:
        raise InputError(
            f"{where}: unknown key {name_some(unknown)}; expected kind, value, action, reason"
        )
    kind = entry.get("kind")
    if kind not in KINDS:
        raise InputError(f"{where}: kind is {kind!r}; expected one of {', '.join(KINDS)}")
    value = entry.get("value")
    if not KINDS[kind].check_value(value):
        raise InputError(f"{where}: value of {kind} is {value!r}; expected {KINDS[kind].expected}")
    action = entry.get("action", "exclude")
    if action not in ACTIONS:
        raise InputError(f"{where}: action is {action!r}; expected {' or '.join(ACTIONS)}")
    return Rule(kind=kind, value=value, action=action, reason=str(entry.get("reason", "")))


def _check_rules(rules: tuple[Rule, ...], path: Path) -> None:
    if not rules:
        raise InputError(
            f'{path}: declares no rule; write [[rule]] tables, or extends = "published"'
        )
    names = [rule.name for rule in rules]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{path}: rule {name_some(twice)} is declared twice; keep one")
    floors = [float(np.nan if r.value is None else r.value) for r in rules if r.kind == "rt_below"]
    caps = [float(np.nan if r.value is None else r.value) for r in rules if r.kind == "rt_above"]
    if floors and caps and max(floors) >= min(caps):
        raise InputError(f"{path}: RT floor {max(floors):g} s is not below the cap {min(caps):g} s")
