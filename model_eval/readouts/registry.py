"""The list of readouts, and how a function becomes one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from model_eval.tables import Kind
from stimuli.errors import InputError
from stimuli.table_io import name_some

# What of a trial a readout needs to know.
Needs = Literal["dots", "object1", "object2"]
# What of a model: vectors, attention, or a map from either.
Reads = Literal["vectors", "attention", "maps"]
Compute = Callable[[Any], np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    """A named statistic of a trial.

    Attributes
    ----------
    name, kind
        As in the table of readouts.
    needs
        ``dots``: every trial has it. ``object1``, ``object2``: only trials where the object under
        that dot is known, has patches of its own, and isn't everything; others are skipped, counted.
    reads
        ``vectors``: `compute` gets a `LayerView`. ``attention``: an `AttentionView`. ``maps``: either.
    is_default
        Read when nothing else is asked.
    is_costly
        It needs the whole affinity matrix, so it is read of the last layer's queries and keys only
        (of its map where it has none), unless asked for everywhere.
    compute
        From a view to float array, shape (n_trials,); NaN exactly where `needs` isn't met.
    """

    name: str
    kind: Kind
    needs: Needs
    reads: Reads
    is_default: bool
    is_costly: bool
    compute: Compute


READOUTS: dict[str, Readout] = {}


def readout(
    name: str,
    *,
    kind: Kind,
    needs: Needs = "dots",
    reads: Reads = "vectors",
    is_default: bool = False,
    is_costly: bool = False,
) -> Callable[[Compute], Compute]:
    """Register the function below as a readout; see `Readout` for the parameters."""

    def register(compute: Compute) -> Compute:
        if name in READOUTS:
            raise KeyError(f"two readouts are called {name!r}")
        READOUTS[name] = Readout(
            name=name,
            kind=kind,
            needs=needs,
            reads=reads,
            is_default=is_default,
            is_costly=is_costly,
            compute=compute,
        )
        return compute

    return register


def choose_readouts(names: Sequence[str]) -> tuple[Readout, ...]:
    """Return the readouts of these names; the default ones for no names, all for ``all``.

    Raises
    ------
    InputError
        A name that isn't one.
    """
    if not names:
        return tuple(item for item in READOUTS.values() if item.is_default)
    if tuple(names) == ("all",):
        return tuple(READOUTS.values())
    unknown = [name for name in names if name not in READOUTS]
    if unknown:
        raise InputError(
            f"no readout {name_some(unknown)}; expected 'all' or some of "
            f"{name_some(READOUTS, limit=30)}"
        )
    return tuple(READOUTS[name] for name in dict.fromkeys(names))
