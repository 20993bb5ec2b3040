"""Does a design give the answer away? Checks of a trial table, each ending in pass, warn or fail.

A participant, or a model, could say "same" or "different" without looking for objects if the design
lets them: if same pairs are closer, lie elsewhere, or point another way. Each check measures one such
way and holds it against a limit; all limits are ours and stand in `Limits`. What lies in photographs
as such (one object has one colour more often than two have) is measured too, but only ever warns.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import pandas as pd

from stimuli.cheats import (
    CheatScore,
    describe_geometry,
    describe_images,
    describe_objects,
    score_cheat,
)
from stimuli.distributions import compare_angles, compute_overlap
from stimuli.lists import is_practice_trial
from stimuli.margins import measure_margins
from stimuli.tables import CELL_NAMES, DISTANCE_CONDITIONS, name_cells

Verdict = Literal["not available", "pass", "warn", "fail"]
# From the best to the worst.
VERDICTS: tuple[Verdict, ...] = ("not available", "pass", "warn", "fail")
# A cheat who knows one of these uses the design; one who knows something else uses the photographs.
DESIGN_CHEATS = ("distance", "position", "eccentricity", "angle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What passes: a value beyond the first number warns, beyond the second fails."""

    # Difference of the mean distances of same and different, pixels, within close and far.
    distance_difference_px: tuple[float, float] = (1.0, 2.0)
    # Overlap of the two distributions of distance, 0 to 1.
    distance_overlap: tuple[float, float] = (0.9, 0.8)
    # AUC of a cheat; one whose interval reaches chance passes.
    cheat_auc: tuple[float, float] = (0.55, 0.60)
    # p of the permutation test that same and different point in the same directions.
    angle_p: tuple[float, float] = (0.05, 0.001)
    # A dot's distance from its object's and the image's border, in dot radii.
    border_radii: tuple[float, float] = (1.0, 0.5)
    # Displays per scene that use one object; the design uses the first in four.
    displays_per_object: tuple[float, float] = (4, 8)
    # Share of displays whose second dot lies on the commonest category.
    category_share: tuple[float, float] = (0.6, 1.0)


LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the audit.

    Attributes
    ----------
    check, subject
        What is measured, and of what.
    value, low, high
        The measurement and, for a cheat, its 95 % interval over scenes.
    expected
        In words, what passes.
    verdict
        "not available" if it couldn't be measured; `note` says why.
    """

    check: str
    subject: str
    value: float | None
    expected: str
    verdict: Verdict
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an audit looks at, beside the trials.

    Attributes
    ----------
    load_pixels, load_labels
        Give the image and the object map of a row, or None.
    objects
        Table of objects (`Objects`), possibly empty.
    dot_radius_px
        Radius of the dots, the unit of margins.
    """

    load_pixels: Callable[[pd.Series], np.ndarray | None]
    load_labels: Callable[[pd.Series], np.ndarray | None]
    objects: pd.DataFrame
    dot_radius_px: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """All checks, and what the cheats scored."""

    checks: tuple[Check, ...]
    cheats: tuple[CheatScore, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of all checks."""
        return VERDICTS[max(VERDICTS.index(item.verdict) for item in self.checks)]

    @property
    def text(self) -> str:
        """The checks for a person: verdict, what, value, what was expected."""
        lines = [_format_check(item) for item in self.checks]
        return "\n".join([*lines, f"{self.verdict:13s} overall"])

    @property
    def records(self) -> list[dict[str, object]]:
        """The checks for a program."""
        return [asdict(item) for item in self.checks]

    @property
    def table(self) -> pd.DataFrame:
        """One row per check."""
        return pd.DataFrame(self.records)


def audit_trials(
    trials: pd.DataFrame, evidence: Evidence, *, rng: np.random.Generator, limits: Limits = LIMITS
) -> Audit:
    """Return all checks of a trial table.

    Parameters
    ----------
    trials
        Valid under `Trials`. Practice displays are left out.
    evidence
        Images, masks and objects; what is missing makes a check "not available".
    rng
        Deals folds, resamples scenes, permutes.
    limits
        What passes.
    """
    trials = trials[~is_practice_trial(trials)]
    scores = score_all_cheats(trials, evidence, rng=rng)
    checks = (
        *check_balance(trials),
        *check_distances(trials, limits),
        *(judge_cheat(cheat, score, limits) for cheat, score in scores.items()),
        check_angles(trials, rng=rng, limits=limits),
        *check_borders(trials, evidence, limits),
        *check_objects(trials, evidence.objects, limits),
    )
    return Audit(checks=checks, cheats=tuple(score for score in scores.values() if score))


def check_balance(trials: pd.DataFrame) -> list[Check]:
    """Check that each scene has each cell once, and each list each cell equally often."""
    counts = _count_cells(trials, by="scene_id")
    n_odd = int((counts != 1).any(axis=1).sum())
    checks = [
        Check(
            check="four cells per scene",
            subject="scenes without exactly one display per cell",
            value=n_odd,
            expected="0",
            verdict="fail" if n_odd else "pass",
            note=f"{len(counts)} scenes",
        )
    ]
    if trials["list_id"].isna().all():
        return [*checks, _lack("cells per list", "lists", note="the table names no lists")]
    for list_id, row in _count_cells(trials, by="list_id").iterrows():
        spread = int(row.max() - row.min())
        checks.append(
            Check(
                check="cells per list",
                subject=f"list {list_id}: largest minus smallest count",
                value=spread,
                expected="at most 1",
                verdict="fail" if spread > 1 else "pass",
                note=", ".join(f"{name}: {row[name]}" for name in CELL_NAMES),
            )
        )
    return checks


def check_distances(trials: pd.DataFrame, limits: Limits) -> list[Check]:
    """Check that same and different pairs lie equally far apart, within close and within far."""
    checks = []
    for condition in DISTANCE_CONDITIONS:
        rows = trials[trials["distance_condition"] == condition]
        same, different = (
            rows.loc[rows["same_object"] == kind, "distance_px"].to_numpy(dtype=float)
            for kind in (True, False)
        )
        if min(len(same), len(different)) < 2:
            checks.append(_lack("distances matched", condition, note="fewer than two of a kind"))
            continue
        difference, overlap = same.mean() - different.mean(), compute_overlap(same, different)
        checks += [
            Check(
                check="distances matched",
                subject=f"{condition}: mean of same minus different, px",
                value=float(difference),
                expected=f"nearer 0 than {limits.distance_difference_px[0]:g}",
                verdict=_judge(abs(difference), limits.distance_difference_px),
            ),
            Check(
                check="distances matched",
                subject=f"{condition}: overlap of the distributions",
                value=overlap,
                expected=f"at least {limits.distance_overlap[0]:g}",
                verdict=_judge(overlap, limits.distance_overlap),
            ),
        ]
    return checks


def score_all_cheats(
    trials: pd.DataFrame, evidence: Evidence, *, rng: np.random.Generator
) -> dict[str, CheatScore | None]:
    """Return by cheat what it scores; None where what it needs isn't there."""
    known = (
        describe_geometry(trials)
        | describe_images(trials, evidence.load_pixels, radius_px=evidence.dot_radius_px)
        | describe_objects(trials, evidence.objects)
    )
    return {
        cheat: score_cheat(cheat, features, trials, rng=rng) for cheat, features in known.items()
    }


def judge_cheat(cheat: str, score: CheatScore | None, limits: Limits) -> Check:
    """Check that a cheat is no better than chance. One that knows the photographs only warns."""
    if score is None:
        return _lack("cheats", cheat, note="too few displays with what it needs")
    verdict = _judge(score.auc, limits.cheat_auc) if score.auc_low > 0.5 else "pass"
    note = f"accuracy {score.accuracy:.3f}, {score.n_trials} displays, {score.n_scenes} scenes"
    if cheat not in DESIGN_CHEATS and verdict == "fail":
        verdict, note = "warn", f"{note}; it lies in the photographs"
    if score.auc_high < 0.5:
        note = f"{note}; below .5 for want of anything to learn"
    return Check(
        check="cheats",
        subject=f"{cheat} only: AUC",
        value=score.auc,
        low=score.auc_low,
        high=score.auc_high,
        expected=f"at most {limits.cheat_auc[0]:g}, or .5 in its interval",
        verdict=verdict,
        note=note,
    )


def check_angles(trials: pd.DataFrame, *, rng: np.random.Generator, limits: Limits) -> Check:
    """Check that the second dots of same and different displays lie in the same directions."""
    found = compare_angles(trials, rng=rng)
    if found is None:
        return _lack("angles alike", "directions", note="no scene has same and different displays")
    return Check(
        check="angles alike",
        subject="overlap of the directions of same and different",
        value=found.overlap,
        expected=f"p of swapping them at least {limits.angle_p[0]:g}",
        verdict=_judge(found.p, limits.angle_p),
        note=f"p = {found.p:.4f}; {found.expected_overlap:.2f} by chance",
    )


def check_borders(trials: pd.DataFrame, evidence: Evidence, limits: Limits) -> list[Check]:
    """Check that dots lie on the objects that the table says, and keep off borders and each other."""
    radius_px = evidence.dot_radius_px
    margins = measure_margins(trials, evidence.load_labels) / radius_px
    n_covered = int((trials["distance_px"] < 2 * radius_px).sum())
    checks = [
        _check_none("dots apart", "displays whose dots overlap", n_covered, n_seen=len(trials)),
        _check_margin("image", margins["image"], limits),
    ]
    on_object = margins["object"].dropna()
    if not len(on_object):
        note = "no mask and object numbers"
        return [*checks, _lack("dots on their objects", "objects", note=note)]
    n_off = int((on_object == 0).sum())
    return [
        *checks,
        _check_none(
            "dots on their objects",
            "displays with a dot off the object that the table names",
            n_off,
            n_seen=len(on_object),
        ),
        _check_margin("object", on_object, limits),
    ]


def check_objects(trials: pd.DataFrame, objects: pd.DataFrame, limits: Limits) -> list[Check]:
    """Check how many displays use one object, and one category."""
    known = trials.dropna(subset=["object1_id", "object2_id"])
    if not len(known) or not len(objects):
        return [_lack("use of objects", "objects", note="the table names no objects")]
    uses = pd.concat(
        known[["trial_id", "scene_id", name]].set_axis(["trial", "scene_id", "object_id"], axis=1)
        for name in ("object1_id", "object2_id")
    ).drop_duplicates()
    most = int(uses.groupby(["scene_id", "object_id"]).size().max())
    named = known.merge(
        objects, left_on=["scene_id", "object2_id"], right_on=["scene_id", "object_id"]
    )
    shares = named["category"].value_counts(normalize=True)
    return [
        Check(
            check="use of objects",
            subject="displays of the most used object",
            value=most,
            expected=f"at most {limits.displays_per_object[0]:g}",
            verdict=_judge(most, limits.displays_per_object),
            note=f"{len(uses.drop_duplicates(['scene_id', 'object_id']))} objects used",
        ),
        Check(
            check="use of objects",
            subject="share of the commonest category under the second dot",
            value=float(shares.iloc[0]),
            expected=f"at most {limits.category_share[0]:g}",
            verdict=_judge(float(shares.iloc[0]), limits.category_share),
            note=", ".join(f"{name} {share:.0%}" for name, share in shares.head(3).items()),
        ),
    ]


def _format_check(item: Check) -> str:
    if item.value is None:
        return f"{item.verdict:13s} {item.check}: {item.subject} ({item.note})"
    interval = f" [{item.low:.3f}, {item.high:.3f}]" if item.low is not None else ""
    value = f"{item.value:d}" if isinstance(item.value, int) else f"{item.value:.3f}"
    note = f"; {item.note}" if item.note else ""
    return (
        f"{item.verdict:13s} {item.check}: {item.subject} = {value}{interval} "
        f"(expected {item.expected}{note})"
    )


def _judge(value: float, limit: tuple[float, float]) -> Verdict:
    """Hold a value against (warn, fail); if warn exceeds fail, larger is better."""
    warn, fail = limit
    sign = 1 if fail >= warn else -1
    if sign * value > sign * fail:
        return "fail"
    return "warn" if sign * value > sign * warn else "pass"


def _check_none(check: str, subject: str, n_bad: int, *, n_seen: int) -> Check:
    return Check(
        check=check,
        subject=subject,
        value=n_bad,
        expected="0",
        verdict="fail" if n_bad else "pass",
        note=f"of {n_seen}",
    )


def _check_margin(what: str, margins: pd.Series, limits: Limits) -> Check:
    n_near = int((margins < limits.border_radii[0]).sum())
    return Check(
        check="dots off borders",
        subject=f"least distance from the {what}'s border, dot radii",
        value=float(margins.min()),
        expected=f"at least {limits.border_radii[0]:g}",
        verdict=_judge(float(margins.min()), limits.border_radii),
        note=f"{n_near} of {len(margins)} displays nearer than {limits.border_radii[0]:g}",
    )


def _lack(check: str, subject: str, *, note: str) -> Check:
    return Check(
        check=check, subject=subject, value=None, expected="", verdict="not available", note=note
    )


def _count_cells(trials: pd.DataFrame, *, by: str) -> pd.DataFrame:
    counts = pd.crosstab(trials[by], name_cells(trials))
    return counts.reindex(columns=list(CELL_NAMES), fill_value=0)
