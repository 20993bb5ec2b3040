"""One model's readouts, scored: the friendly layer over `scoring` and `records`, for Python and commands.

What `model_eval.read_out` returns goes in, a table of scores with its record comes out; it can be drawn
at once and saved as the score file that the leaderboard is derived from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from analysis.people import load_times
from analysis.prepared import ScoreSettings
from analysis.records import build_record, summarise_readouts, write_score_file
from analysis.scoring import score_readouts
from stimuli.benchmark import Benchmark, hash_file
from stimuli.errors import InputError
from stimuli.table_io import safe_file_name, write_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FROM_PYTHON = "from Python"
DEFAULT_SETTINGS = ScoreSettings()


class ReadOut(Protocol):
    """What reading a model out gives, as far as scoring needs it."""

    @property
    def readouts(self) -> pd.DataFrame:
        """Valid under `model_eval.tables.Readouts`."""
        ...

    @property
    def model_record(self) -> Mapping[str, Any]:
        """What the model says of itself."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A model's scores and everything that belongs into its score file.

    Attributes
    ----------
    readouts
        What was scored.
    scores
        Valid under `analysis.tables.Scores`: a row per readout and metric.
    record
        What the score file says besides.
    """

    readouts: pd.DataFrame
    scores: pd.DataFrame
    record: Mapping[str, Any]

    def save(self, folder: Path | str) -> Path:
        """Write readouts and score file below `folder`; return the score file's path."""
        name = str(self.readouts["model"].iloc[0])
        kept = Path(folder) / "readouts" / f"{safe_file_name(name)}.parquet"
        write_table(self.readouts, kept)
        record = {**self.record, "readouts_sha256": hash_file(kept)}
        return write_score_file(self.scores, record, folder=Path(folder))


def score_model(
    done: ReadOut,
    benchmark: Benchmark,
    *,
    settings: ScoreSettings = DEFAULT_SETTINGS,
    command: str = FROM_PYTHON,
    on_readout: Callable[[], None] = lambda: None,
) -> Scored:
    """Return a model's scores against the people of a benchmark.

    Parameters
    ----------
    done
        From `model_eval.read_out`, or anything with `readouts` and `model_record`.
    benchmark
        What was read out, with people.
    settings
        Draws, halves, seed.
    command
        How it came about, for the record.
    on_readout
        Called after each readout, for a progress bar.

    Raises
    ------
    InputError
        The benchmark has no people.
    TableError
        The readouts can't be scored; see `analysis.scoring.score_readouts`.
    """
    scores = score_readouts(
        done.readouts,
        times=load_times(benchmark),
        trials=benchmark.trials,
        settings=settings,
        on_readout=on_readout,
    )
    record = build_record(
        benchmark, settings=settings, command=command, model_record=done.model_record
    )
    record["readout_means"] = summarise_readouts(done.readouts)
    return Scored(readouts=done.readouts, scores=scores, record=record)


def draw_scores(*models: Scored) -> "Figure":
    """Return a figure of models' headline scores with intervals and the ceiling.

    A curve over the layers where a model was scored at two or more of them (the readout `cosine`), else
    bars.

    Raises
    ------
    InputError
        No model is given, or none has a headline score.
    """
    from analysis.figures.colours import assign_colours
    from analysis.figures.layer_curves import draw_layers, tabulate_layers
    from analysis.figures.material import build_board
    from analysis.figures.models_and_ceiling import draw_models_and_ceiling, tabulate_models

    if not models:
        raise InputError("nothing to draw; give what score_model returned")
    board = build_board([(Path(FROM_PYTHON), dict(m.record), m.scores) for m in models])
    colours = assign_colours(board["family"])
    layers = tabulate_layers(board)
    if len(layers):
        return draw_layers(layers, colours=colours)
    table = tabulate_models(board)
    if table.empty:
        raise InputError("no readout has a headline score (controls that the metric removes)")
    is_simulated = any(m.record["is_simulated"] for m in models)
    return draw_models_and_ceiling(table, is_simulated=is_simulated, colours=colours)
