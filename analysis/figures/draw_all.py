"""The figures of a results folder, in one call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.figures.catalogue import FIGURES, Entry
from analysis.figures.drawing import NotDrawn
from analysis.figures.material import Material, load_material
from analysis.figures.save import save_figure
from analysis.leaderboard import RecordedScores
from stimuli.benchmark import Benchmark
from stimuli.table_io import write_json

NUMBERS_FILE = "numbers.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What a run of figures wrote.

    Attributes
    ----------
    pictures
        Paths of each figure's pictures, by figure.
    captions
        What each figure's caption file says.
    reasons
        Why the others were not drawn, by figure.
    """

    pictures: dict[str, list[Path]]
    captions: dict[str, dict[str, Any]]
    reasons: dict[str, str]


def draw_figures(
    material: Material,
    *,
    folder: Path,
    entries: tuple[Entry, ...] = FIGURES,
    on_figure: Callable[[], None] = lambda: None,
) -> Drawn:
    """Write figures with their tables and captions, and `numbers.json`; name what can't be drawn.

    Parameters
    ----------
    material
        The tables.
    folder
        Where to write.
    entries
        Which figures.
    on_figure
        Called after each, for a progress bar.
    """
    drawn = Drawn(pictures={}, captions={}, reasons={})
    manifest = material.benchmark.manifest
    common = {"benchmark": manifest.name, "is_simulated": manifest.is_simulated}
    for entry in entries:
        made = entry.make(material)
        if isinstance(made, NotDrawn):
            drawn.reasons[entry.name] = made.reason
        else:
            caption = {"title": entry.title, "text": made.text, **common, **made.numbers}
            drawn.captions[entry.name] = caption
            drawn.pictures[entry.name] = save_figure(
                made.figure, entry.name, table=made.table, caption=caption, folder=folder
            )
        on_figure()
    write_json(collect_numbers(drawn, material), folder / NUMBERS_FILE)
    return drawn


def collect_numbers(drawn: Drawn, material: Material) -> Mapping[str, Any]:
    """Return every number that a text would quote, by figure, and what was not drawn."""
    manifest = material.benchmark.manifest
    hidden = {"title", "text", "benchmark", "is_simulated"}
    return {
        "benchmark": manifest.name,
        "benchmark_version": manifest.version,
        "is_simulated": manifest.is_simulated,
        "trials_sha256": material.benchmark.trials_sha256,
        "figures": {
            name: {key: value for key, value in caption.items() if key not in hidden}
            for name, caption in drawn.captions.items()
        },
        "not_drawn": drawn.reasons,
    }


def draw_all(
    files: RecordedScores, benchmark: Benchmark, *, folder: Path, results: Path | None = None
) -> list[Path]:
    """Write all figures and return the pictures' paths.

    Raises
    ------
    InputError
        The scores are not of this benchmark's trial table.
    """
    material = load_material(files, benchmark, results=results)
    drawn = draw_figures(material, folder=folder)
    return [path for paths in drawn.pictures.values() for path in paths]
