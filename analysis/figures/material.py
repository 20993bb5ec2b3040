"""Everything that figures are drawn from: tables and records that other commands wrote."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.board_reported import read_reported
from analysis.families import list_model_facts
from analysis.figures.colours import assign_colours
from analysis.human import summarise_conditions
from analysis.leaderboard import RecordedScores, build_leaderboard, check_benchmark
from analysis.people import AnalysedPeople, load_people
from analysis.published_roc import ROC_FILE
from analysis.results import STATISTICS_FOLDER
from analysis.statistic_tables import MixedScores, Power
from model_eval.map_files import MapFile, read_maps
from model_eval.tables import READOUT_KEY
from stimuli.benchmark import Benchmark
from stimuli.table_io import read_columns, read_table

READOUT_COLUMNS = [*READOUT_KEY, "kind", "trial_id", "value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The tables of one run of figures.

    Attributes
    ----------
    benchmark
        The displays and their photographs.
    records
        Score records, without the scores, one per model.
    board
        As `analysis.leaderboard.build_leaderboard` returns it, with family and year.
    analysed
        The people under the benchmark's rules: reaction times, ledger.
    human, conditions
        People per trial and per cell of the design.
    readouts
        All readouts whose files are there.
    reported
        What papers report about this benchmark; empty for any but the published one.
    roc
        Mean ROC curves that came with the benchmark, possibly empty.
    maps
        Affinity maps that `objecthood evaluate --keep-maps` kept, a file per model.
    mixed
        Mixed models per readout, as `objecthood explain` wrote them; possibly empty.
    power
        Power by people and scenes, as `objecthood power` wrote it; possibly empty.
    colours
        By family.
    """

    benchmark: Benchmark
    records: tuple[Mapping[str, Any], ...]
    board: pd.DataFrame
    analysed: AnalysedPeople
    human: pd.DataFrame
    conditions: pd.DataFrame
    readouts: pd.DataFrame
    reported: pd.DataFrame
    roc: pd.DataFrame
    maps: tuple[MapFile, ...]
    mixed: pd.DataFrame
    power: pd.DataFrame
    colours: Mapping[str, str]

    @property
    def is_simulated(self) -> bool:
        """The people are simulated."""
        return self.benchmark.manifest.is_simulated

    @property
    def people(self) -> str:
        """How captions call the people."""
        return "simulated people" if self.is_simulated else "people"


def load_material(
    files: RecordedScores, benchmark: Benchmark, *, results: Path | None = None
) -> Material:
    """Return the material of all figures.

    Parameters
    ----------
    files
        As `analysis.records.read_score_files` returns them; none for people alone.
    benchmark
        What was scored.
    results
        The folder with `readouts/`; without it figures that need readouts are not drawn.

    Raises
    ------
    InputError
        The scores are not of this benchmark's trial table, or a file is damaged.
    """
    check_benchmark(files, benchmark)
    board = build_board(files)
    records = tuple(record for _, record, _ in files)
    reported = read_reported(benchmark.manifest.name)
    analysed = load_people(benchmark)
    return Material(
        benchmark=benchmark,
        records=records,
        board=board,
        analysed=analysed,
        human=analysed.human,
        conditions=summarise_conditions(analysed.human, benchmark.trials),
        readouts=_read_readouts(benchmark, results),
        reported=reported,
        roc=_read_roc(benchmark),
        maps=_read_maps(results),
        mixed=_read_mixed(results),
        power=_read_power(results),
        colours=assign_colours([*board["family"], *reported["family"].dropna()]),
    )


def build_board(files: RecordedScores) -> pd.DataFrame:
    """Return the leaderboard with family and year as figures use them: every model has a family."""
    records = [record for _, record, _ in files]
    facts = list_model_facts(records, [str(scores["model"].iloc[0]) for *_, scores in files])
    board = build_leaderboard(files).drop(columns=["family", "year"], errors="ignore")
    return board.merge(
        facts.drop_duplicates("model"), on="model", how="left", validate="many_to_one"
    )


def _read_readouts(benchmark: Benchmark, results: Path | None) -> pd.DataFrame:
    """Return the readouts of a results folder and, of models that it lacks, the published ones."""
    paths = [] if results is None else sorted((results / "readouts").glob("*.parquet"))
    texts = {*READOUT_KEY, "kind", "trial_id"}
    tables = [read_columns(path, text_columns=texts)[READOUT_COLUMNS] for path in paths]
    published = benchmark.folder / "published_readouts.parquet"
    if published.is_file():
        table = read_columns(published, text_columns=texts)[READOUT_COLUMNS]
        known = {str(model) for table in tables for model in table["model"]}
        tables.append(table[~table["model"].isin(known)])
    tables = [table for table in tables if len(table)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=READOUT_COLUMNS)


def _read_maps(results: Path | None) -> tuple[MapFile, ...]:
    paths = [] if results is None else sorted((results / "maps").glob("*.npz"))
    return tuple(read_maps(path) for path in paths)


def _read_mixed(results: Path | None) -> pd.DataFrame:
    path = None if results is None else results / STATISTICS_FOLDER / "mixed.csv"
    if path is None or not path.is_file():
        return pd.DataFrame(columns=list(MixedScores.to_schema().columns))
    return read_table(path, MixedScores)


def _read_power(results: Path | None) -> pd.DataFrame:
    path = None if results is None else results / STATISTICS_FOLDER / "power.csv"
    if path is None or not path.is_file():
        return pd.DataFrame(columns=list(Power.to_schema().columns))
    return read_table(path, Power)


def _read_roc(benchmark: Benchmark) -> pd.DataFrame:
    path = benchmark.folder / ROC_FILE
    if not path.is_file():
        return pd.DataFrame(columns=["model", "layer", "representation", "condition"])
    return read_columns(path, text_columns={"model", "layer", "representation", "condition"})
