"""A mixed model per readout: its effect on ln RT, whether it is needed, what it explains.

Random effects are tried from what the design asks for (by-person slopes, person, scene, trial) to what
the data carry; what had to be given up is written into the note, and the trial never is. The
likelihood ratio and AIC compare models that differ in the readout's fixed effect alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from analysis.mixed_models import (
    RANDOM_EFFECTS,
    Fit,
    check_before,
    find_design_terms,
    fit_model,
    tabulate_rts,
)
from analysis.rows import Rows
from analysis.statistic_tables import MixedScores
from stimuli.errors import InputError
from stimuli.table_io import check_table, name_some


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedScore:
    """The mixed models of one readout.

    Attributes
    ----------
    main, interaction
        With the readout; with readout x same too. By REML.
    null_ml, main_ml, interaction_ml
        Without the readout, with it, with the interaction; by maximum likelihood.
    random_effects
        What could be had.
    note
        What had to be given up, and why.
    """

    main: Fit
    interaction: Fit
    null_ml: Fit
    main_ml: Fit
    interaction_ml: Fit
    random_effects: str
    note: str | None


def fit_readout(rows: Rows, difficulty: np.ndarray) -> MixedScore:
    """Return the mixed models of one readout.

    Parameters
    ----------
    rows
        Trials and people.
    difficulty : float array, shape (n_trials,)
        Predicted difficulty of these trials.

    Raises
    ------
    InputError
        A named reason, from before the fit or after it: see `analysis.mixed_models`.
    """
    check_before(rows, difficulty)
    data = tabulate_rts(rows, {"readout": difficulty})
    terms, dropped = find_design_terms(rows)
    design = " + ".join(["1", *terms])
    main, main_ml, random_effects, notes = _fit_richest(f"{design} + readout", data)
    if dropped:
        notes.insert(0, f"not in this design: {', '.join(dropped)}")

    def fit(fixed: str, *, reml: bool) -> Fit:
        formula = f"log_rt ~ {fixed} + {random_effects}"
        return fit_model(formula, data, reml=reml, needs_df=reml)

    crossed = f"{design} + readout" + (" + readout:same" if "same" in terms else "")
    return MixedScore(
        main=main,
        interaction=fit(crossed, reml=True),
        null_ml=fit(design, reml=False),
        main_ml=main_ml,
        interaction_ml=fit(crossed, reml=False),
        random_effects=random_effects,
        note="; ".join(notes) or None,
    )


def _fit_richest(fixed: str, data: pd.DataFrame) -> tuple[Fit, Fit, str, list[str]]:
    """Return the fits with the richest random effects that the data carry, and what was given up.

    By REML for the estimates and by maximum likelihood for the comparisons; both must carry them.
    """
    given_up: list[str] = []
    for random_effects in RANDOM_EFFECTS:
        formula = f"log_rt ~ {fixed} + {random_effects}"
        try:
            main_ml = fit_model(formula, data, reml=False, needs_df=False)
            main = fit_model(formula, data, reml=True)
        except InputError as error:
            given_up.append(f"{random_effects} ({str(error).split(' in log_rt', maxsplit=1)[0]})")
        else:
            return main, main_ml, random_effects, [f"given up: {text}" for text in given_up]
    raise InputError(f"no random effects could be fitted: {name_some(given_up)}")


def score_mixed(
    readouts: Mapping[tuple[str, ...], np.ndarray],
    rows: Rows,
    *,
    on_readout: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Return one row per readout: its mixed models, or the reason why there are none.

    Parameters
    ----------
    readouts
        Predicted difficulty by key (model, layer, representation, readout), on the trials of `rows`.
    rows
        Trials and people.
    on_readout
        Called after each, for a progress bar.

    Returns
    -------
    DataFrame
        Valid under `analysis.statistic_tables.MixedScores`.
    """
    records = []
    for key, difficulty in readouts.items():
        named: dict[str, object] = dict(
            zip(("model", "layer", "representation", "readout"), key, strict=True)
        )
        try:
            record = summarise_mixed(fit_readout(rows, difficulty))
        except InputError as error:
            record = dict.fromkeys(_EMPTY) | {"note": str(error)}
        n = {"n_rts": int(np.isfinite(rows.rt_s).sum()), "n_trials": len(rows.trial_ids)}
        n |= {"n_scenes": rows.n_scenes, "n_people": len(rows.participant_ids)}
        records.append(named | record | n)
        on_readout()
    return check_table(pd.DataFrame(records), MixedScores, source="the mixed models")


def summarise_mixed(score: MixedScore) -> dict[str, object]:
    """Return the numbers of one readout's row."""
    effect = score.main.effects["readout"]
    low, high = effect.interval
    ratio = 2 * (score.main_ml.log_likelihood - score.null_ml.log_likelihood)
    crossed = score.interaction.effects.get("readout:same")
    crossed_ratio = 2 * (score.interaction_ml.log_likelihood - score.main_ml.log_likelihood)
    return {
        "estimate": effect.estimate,
        "se": effect.se,
        "df": effect.df,
        "t": effect.t,
        "p": effect.p,
        "ci_low": low,
        "ci_high": high,
        "percent_per_sd": 100 * float(np.expm1(effect.estimate)),
        "lr_chi2": ratio,
        "lr_p": float(stats.chi2.sf(max(ratio, 0.0), 1)),
        "delta_aic": score.main_ml.aic - score.null_ml.aic,
        "marginal_r2": score.main_ml.marginal_r2,
        "marginal_r2_without": score.null_ml.marginal_r2,
        "interaction": None if crossed is None else crossed.estimate,
        "interaction_se": None if crossed is None else crossed.se,
        "interaction_df": None if crossed is None else crossed.df,
        "interaction_p": None if crossed is None else crossed.p,
        "interaction_lr_p": None
        if crossed is None
        else float(stats.chi2.sf(max(crossed_ratio, 0.0), 1)),
        "random_effects": score.random_effects,
        "note": score.note,
    }


_EMPTY = (
    "estimate",
    "se",
    "df",
    "t",
    "p",
    "ci_low",
    "ci_high",
    "percent_per_sd",
    "lr_chi2",
    "lr_p",
    "delta_aic",
    "marginal_r2",
    "marginal_r2_without",
    "interaction",
    "interaction_se",
    "interaction_df",
    "interaction_p",
    "interaction_lr_p",
    "random_effects",
)
