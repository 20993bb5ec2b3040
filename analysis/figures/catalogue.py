"""All figures of the paper, in its order: name, title, and what makes each."""

from collections.abc import Callable
from dataclasses import dataclass

from analysis.figures import (
    accuracy_and_rt,
    affinity_maps,
    ceiling_by_people,
    easiest_and_hardest,
    exclusions,
    layer_curves,
    mixed_coefficients,
    models_and_ceiling,
    object_auc_and_alignment,
    persons_and_models,
    power_curves,
    roc_curves,
    rt_by_condition,
    rt_distributions,
    task_and_design,
    years_and_families,
)
from analysis.figures.drawing import Drawing, NotDrawn
from analysis.figures.material import Material
from stimuli.errors import InputError
from stimuli.table_io import name_some


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One figure: its file name, its title, and the function that makes it."""

    name: str
    title: str
    make: Callable[[Material], Drawing | NotDrawn]


_PEOPLE = (
    task_and_design,
    rt_by_condition,
    rt_distributions,
    accuracy_and_rt,
    exclusions,
    ceiling_by_people,
)
_MODELS = (
    object_auc_and_alignment,
    layer_curves,
    years_and_families,
    roc_curves,
    mixed_coefficients,
    persons_and_models,
    affinity_maps,
    easiest_and_hardest,
    power_curves,
)
FIGURES = (
    *(Entry(name=m.NAME, title=m.TITLE, make=m.make) for m in (*_PEOPLE, models_and_ceiling)),
    Entry(
        name=models_and_ceiling.SECOND_NAME,
        title=models_and_ceiling.SECOND_TITLE,
        make=models_and_ceiling.make_second,
    ),
    *(Entry(name=m.NAME, title=m.TITLE, make=m.make) for m in _MODELS),
)


def choose_figures(names: list[str] | None) -> tuple[Entry, ...]:
    """Return the named figures in the paper's order; all of them without names.

    Raises
    ------
    InputError
        There is no figure of that name.
    """
    if not names:
        return FIGURES
    known = [entry.name for entry in FIGURES]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"--only {name_some(unknown)}: no such figure; expected one of {', '.join(known)}"
        )
    return tuple(entry for entry in FIGURES if entry.name in names)
