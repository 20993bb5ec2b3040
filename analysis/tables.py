"""The tables that analysis writes: people per trial, exclusions, scores."""

import pandas as pd
import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series

from model_eval.tables import KINDS


class Human(pa.DataFrameModel):
    """One row is one trial over people: their analysed reaction times."""

    trial_id: Series[str] = pa.Field(unique=True, description="the display, as in trials.csv")
    n_people: Series[int] = pa.Field(ge=0, description="people with an analysed reaction time")
    n_answered: Series[pd.Int64Dtype] = pa.Field(
        nullable=True, ge=0, description="right and wrong answers; empty: errors not recorded"
    )
    accuracy: Series[float] = pa.Field(
        nullable=True,
        ge=0,
        le=1,
        description="share correct of n_answered; empty: errors not recorded",
    )
    accuracy_low: Series[float] = pa.Field(
        nullable=True, ge=0, le=1, description="95 % interval of accuracy (Wilson), over people"
    )
    accuracy_high: Series[float] = pa.Field(
        nullable=True, ge=0, le=1, description="95 % interval of accuracy (Wilson), over people"
    )
    mean_rt_s: Series[float] = pa.Field(
        nullable=True, gt=0, description="mean over people, seconds"
    )
    mean_log_rt: Series[float] = pa.Field(nullable=True, description="mean of ln(RT in seconds)")
    mean_rt_percentile: Series[float] = pa.Field(
        nullable=True, ge=0, le=100, description="mean over people of the RT's rank among their own"
    )
    sem_rt_s: Series[float] = pa.Field(
        nullable=True, ge=0, description="standard error of mean_rt_s over people; empty for one"
    )

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


class Exclusions(pa.DataFrameModel):
    """The ledger: how many presentations of one person each rule took out, in order."""

    participant_id: Series[str] = pa.Field(description="the person")
    rule: Series[str] = pa.Field(description="the rule, or 'analysed' for what is left")
    n_presentations: Series[int] = pa.Field(ge=0, description="taken out by this rule, or left")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


METRIC_NAMES = ("partial", "all", "same", "different", "published")


class Scores(pa.DataFrameModel):
    """One row is one readout of one layer of one model under one metric.

    Every value is a Spearman r, never r squared. `r` is the correlation of predicted difficulty
    with people's mean RT: positive where the model finds hard what people find slow.
    """

    model: Series[str] = pa.Field(description="the model's name")
    layer: Series[str] = pa.Field(nullable=True, description="block or stage")
    representation: Series[str] = pa.Field(nullable=True, description="what of the layer")
    readout: Series[str] = pa.Field(description="the statistic read out")
    kind: Series[str] = pa.Field(isin=list(KINDS), description="what a larger readout means")
    metric: Series[str] = pa.Field(isin=list(METRIC_NAMES), description="see docs/scores.md")
    # A perfect correlation may come out a rounding error above 1.
    r: Series[float] = pa.Field(
        nullable=True, ge=-1 - 1e-9, le=1 + 1e-9, description="raw; empty: undefined"
    )
    se_r: Series[float] = pa.Field(nullable=True, ge=0, description="over people and scenes")
    ci_low_r: Series[float] = pa.Field(nullable=True, description="95 %, over people and scenes")
    ci_high_r: Series[float] = pa.Field(nullable=True, description="95 %, over people and scenes")
    split_half_r: Series[float] = pa.Field(nullable=True, description="half of people with half")
    spearman_brown_r: Series[float] = pa.Field(
        nullable=True, description="reliability of all people's mean"
    )
    attainable_r: Series[float] = pa.Field(
        nullable=True, description="root of the reliability: what a perfect model would reach"
    )
    attainable_low_r: Series[float] = pa.Field(
        nullable=True, description="95 %, over people and scenes"
    )
    attainable_high_r: Series[float] = pa.Field(
        nullable=True, description="95 %, over people and scenes"
    )
    one_vs_rest_r: Series[float] = pa.Field(nullable=True, description="a person with the others")
    r_over_split_half: Series[float] = pa.Field(nullable=True, description="r / split_half_r")
    r_over_attainable: Series[float] = pa.Field(nullable=True, description="r / attainable_r")
    r_over_attainable_low: Series[float] = pa.Field(
        nullable=True, description="95 %, over people and scenes; both vary together"
    )
    r_over_attainable_high: Series[float] = pa.Field(
        nullable=True, description="95 %, over people and scenes; both vary together"
    )
    r_over_one_vs_rest: Series[float] = pa.Field(nullable=True, description="r / one_vs_rest_r")
    control_condition_r: Series[float] = pa.Field(
        nullable=True, description="the four condition means' r on the same rows"
    )
    control_leak_r: Series[float] = pa.Field(
        nullable=True,
        description="condition and the scene's other trials: what memorised scenes reach",
    )
    n_trials: Series[int] = pa.Field(ge=0, description="trials in the score, ceiling and control")
    n_scenes: Series[int] = pa.Field(ge=0, description="photographs among them")
    n_people: Series[int] = pa.Field(ge=0, description="people among them")
    rows_sha256: Series[str] = pa.Field(
        description="hash of the trial ids scored: same hash, same rows"
    )
    note: Series[str] = pa.Field(nullable=True, description="why a value is empty")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True
