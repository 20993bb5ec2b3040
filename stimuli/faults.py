"""Faults of a source: named, counted, and skipped or refused as configured; never silent."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Literal

import pandas as pd

from stimuli.errors import InputError

Policy = Literal["refuse", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault: what kind, where, and in which numbers."""

    kind: str
    where: str
    detail: str


@dataclass(slots=True, kw_only=True)
class FaultLog:
    """What readers found wrong. With the policy "refuse" the first fault ends the reading."""

    policy: Policy = "refuse"
    faults: list[Fault] = field(default_factory=list)

    def report(self, kind: str, *, where: str, detail: str) -> None:
        """Note a fault, or raise it.

        Raises
        ------
        InputError
            The policy is "refuse".
        """
        if self.policy == "refuse":
            raise InputError(
                f"{where}: {kind} ({detail}); correct the source, or read it with --on-fault skip"
            )
        self.faults.append(Fault(kind=kind, where=where, detail=detail))

    @property
    def table(self) -> pd.DataFrame:
        """One row per fault: kind, where, detail."""
        return pd.DataFrame([asdict(fault) for fault in self.faults])

    @property
    def n_by_kind(self) -> dict[str, int]:
        """How many faults of each kind were skipped."""
        return dict(Counter(fault.kind for fault in self.faults).most_common())
