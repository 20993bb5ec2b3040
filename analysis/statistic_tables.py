"""The tables that the deeper statistics write: mixed models, explained variance, comparisons."""

import pandera.pandas as pa
from pandera.api.pandas.model_config import BaseConfig
from pandera.typing.pandas import Series


class _Keyed(pa.DataFrameModel):
    """The columns that name a readout."""

    model: Series[str] = pa.Field(description="the model's name")
    layer: Series[str] = pa.Field(nullable=True, description="block or stage")
    representation: Series[str] = pa.Field(nullable=True, description="what of the layer")
    readout: Series[str] = pa.Field(description="the statistic read out")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True


class MixedScores(_Keyed):
    """One row is one readout: ln RT by a mixed model with person, scene and trial."""

    estimate: Series[float] = pa.Field(
        nullable=True, description="change of ln RT per SD of predicted difficulty; empty: see note"
    )
    se: Series[float] = pa.Field(nullable=True, ge=0, description="standard error of estimate")
    df: Series[float] = pa.Field(nullable=True, gt=0, description="Satterthwaite")
    t: Series[float] = pa.Field(nullable=True, description="estimate / se")
    p: Series[float] = pa.Field(nullable=True, ge=0, le=1, description="two-sided, by t and df")
    ci_low: Series[float] = pa.Field(nullable=True, description="95 % of estimate, by t and df")
    ci_high: Series[float] = pa.Field(nullable=True, description="95 % of estimate, by t and df")
    percent_per_sd: Series[float] = pa.Field(
        nullable=True, description="estimate as per cent of RT"
    )
    lr_chi2: Series[float] = pa.Field(
        nullable=True, description="likelihood ratio against no readout, 1 df, maximum likelihood"
    )
    lr_p: Series[float] = pa.Field(nullable=True, ge=0, le=1, description="its p")
    delta_aic: Series[float] = pa.Field(
        nullable=True, description="AIC with the readout minus AIC without; below zero: needed"
    )
    marginal_r2: Series[float] = pa.Field(
        nullable=True, description="share of single RTs' variance by fixed effects (r squared)"
    )
    marginal_r2_without: Series[float] = pa.Field(
        nullable=True, description="the same without the readout"
    )
    interaction: Series[float] = pa.Field(
        nullable=True, description="readout x same: slope on same minus slope on different trials"
    )
    interaction_se: Series[float] = pa.Field(nullable=True, description="its standard error")
    interaction_df: Series[float] = pa.Field(nullable=True, description="its df")
    interaction_p: Series[float] = pa.Field(nullable=True, description="its p, by t and df")
    interaction_lr_p: Series[float] = pa.Field(
        nullable=True, description="its p, by likelihood ratio"
    )
    random_effects: Series[str] = pa.Field(nullable=True, description="what the data carried")
    n_rts: Series[int] = pa.Field(ge=0, description="reaction times")
    n_trials: Series[int] = pa.Field(ge=0, description="trials")
    n_scenes: Series[int] = pa.Field(ge=0, description="photographs")
    n_people: Series[int] = pa.Field(ge=0, description="people")
    note: Series[str] = pa.Field(nullable=True, description="what was given up, or why it is empty")


class Explained(_Keyed):
    """One row is one readout: what it explains of the differences between trials, on unseen scenes."""

    error_without: Series[float] = pa.Field(
        nullable=True, description="mean squared error of ln RT by condition and distance"
    )
    error_with: Series[float] = pa.Field(
        nullable=True, description="the same with the readout and readout x same"
    )
    noise: Series[float] = pa.Field(nullable=True, description="noise variance of a trial's effect")
    explainable: Series[float] = pa.Field(nullable=True, description="error_without - noise")
    explainable_share: Series[float] = pa.Field(
        nullable=True,
        description="explainable / error_without: what the best model could take away",
    )
    share: Series[float] = pa.Field(
        nullable=True, description="(error_without - error_with) / explainable; below zero: worse"
    )
    share_low: Series[float] = pa.Field(nullable=True, description="95 %, over people and scenes")
    share_high: Series[float] = pa.Field(nullable=True, description="95 %, over people and scenes")
    n_trials: Series[int] = pa.Field(ge=0, description="trials")
    n_scenes: Series[int] = pa.Field(ge=0, description="photographs")
    n_people: Series[int] = pa.Field(ge=0, description="people")
    note: Series[str] = pa.Field(nullable=True, description="why a value is empty")


class Power(pa.DataFrameModel):
    """One row is one size of study: how often simulated experiments see a difference."""

    n_people: Series[int] = pa.Field(description="people")
    n_scenes: Series[int] = pa.Field(description="photographs")
    n_trials: Series[int] = pa.Field(description="displays, four per scene")
    difference_r: Series[float] = pa.Field(
        description="between the models' scores, in a study of the published size"
    )
    baseline_r: Series[float] = pa.Field(description="score of the worse model, likewise")
    attainable_r: Series[float] = pa.Field(
        description="score of the true difficulty itself, likewise"
    )
    power: Series[float] = pa.Field(description="share of experiments: better model called better")
    power_low: Series[float] = pa.Field(description="Wilson 95 %")
    power_high: Series[float] = pa.Field(description="Wilson 95 %")
    power_above_zero: Series[float] = pa.Field(
        description="share of experiments: worse model called above zero"
    )
    power_above_zero_low: Series[float] = pa.Field(description="Wilson 95 %")
    power_above_zero_high: Series[float] = pa.Field(description="Wilson 95 %")
    n_experiments: Series[int] = pa.Field(description="simulated, of this size")
    n_draws: Series[int] = pa.Field(description="bootstrap draws in each comparison")
    seed: Series[int] = pa.Field(description="root of all randomness")

    class Config(BaseConfig):
        """Types are coerced."""

        coerce = True
