"""Does a readout explain reaction times trial by trial? Linear mixed models.

ln RT ~ same x far + distance + readout (+ readout x same), with crossed random effects of person,
scene and trial, and by-person slopes of the readout where the data carry them. Without the effect of
the trial, the degrees of freedom of anything that is the same for all people are ten times too many
(10,900 instead of 911 on the published data). Degrees of freedom by Satterthwaite; the readout's
worth by a likelihood-ratio test and AIC against the model without it, both fitted by maximum
likelihood with the same random effects; marginal R2 after Nakagawa & Schielzeth (2013), slopes after
Johnson (2014). Fitted by `mixedlm`, which agrees with R's lme4 (tests/analysis/test_mixed_oracle.py).

The readout is predicted difficulty (`analysis.metrics.signed_difficulty`), standardised over the
trials: its coefficient is the change of ln RT per SD, positive where the model's hard is people's slow.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from analysis.rows import Rows
from stimuli.errors import InputError
from stimuli.table_io import name_some
from stimuli.tables import CELLS

MIN_PEOPLE = 5
MIN_SCENES = 5
# A variance below this share of the residual's, or a correlation this near 1, is on the boundary.
BOUNDARY_SHARE = 1e-6
BOUNDARY_CORRELATION = 0.999
# A predictor with less than this share of its variance left by the others says nothing new.
COLLINEAR_SHARE = 1e-6

TRIAL = "(1 | trial)"
SCENE = "(1 | scene)"
PERSON = "(1 | person)"
# From what the design asks for to what the data may carry; the trial is never given up.
RANDOM_EFFECTS = (
    f"(1 + readout | person) + {SCENE} + {TRIAL}",
    f"{PERSON} + (0 + readout | person) + {SCENE} + {TRIAL}",
    f"{PERSON} + {SCENE} + {TRIAL}",
    f"{PERSON} + {TRIAL}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A fixed effect: estimate, standard error, Satterthwaite df, t, p."""

    estimate: float
    se: float
    df: float
    t: float
    p: float

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval by Student's t."""
        half = float(stats.t.ppf(0.975, self.df)) * self.se
        return self.estimate - half, self.estimate + half


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A fitted model that passed the checks.

    Attributes
    ----------
    effects
        Fixed effects by term.
    variances
        Variance of each random term, "group:term", and "residual".
    fixed_variance
        Variance over observations of the fixed part.
    random_variance
        Mean over observations of the random parts' variance, residual left out.
    """

    formula: str
    n_observations: int
    log_likelihood: float
    aic: float
    effects: Mapping[str, Effect]
    variances: Mapping[str, float]
    fixed_variance: float
    random_variance: float

    @property
    def marginal_r2(self) -> float:
        """Share of the variance that the fixed effects explain."""
        total = self.fixed_variance + self.random_variance + self.variances["residual"]
        return self.fixed_variance / total


def tabulate_rts(rows: Rows, predictors: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return one row per reaction time, with what the formulas name.

    Parameters
    ----------
    rows
        Trials and people.
    predictors
        Per trial, shape (n_trials,); standardised over the trials (population SD).

    Returns
    -------
    DataFrame
        log_rt (ln of milliseconds), same and far (+.5 / -.5), distance (standardised), person,
        scene, trial, and the predictors.

    Raises
    ------
    InputError
        A predictor is missing or not finite somewhere, or is constant.
    """
    person, trial = np.nonzero(np.isfinite(rows.rt_s))
    is_far = np.array([distance == "far" for _, distance in CELLS])[rows.cells]
    table = {
        "log_rt": np.log(rows.rt_s[person, trial] * 1000),
        "same": np.where(rows.is_same, 0.5, -0.5)[trial],
        "far": np.where(is_far, 0.5, -0.5)[trial],
        "person": np.asarray(rows.participant_ids, dtype=object)[person],
        "scene": np.asarray([f"s{k}" for k in rows.scenes], dtype=object)[trial],
        "trial": np.asarray(rows.trial_ids, dtype=object)[trial],
        "distance": _standardise_or_zero(rows.distance_px)[trial],
    }
    for name, values in predictors.items():
        table[name] = standardise(values, name=name)[trial]
    return pd.DataFrame(table)


def standardise(values: np.ndarray, *, name: str) -> np.ndarray:
    """Return values with mean 0 and population SD 1.

    Raises
    ------
    InputError
        `missing`: a value is not finite. `constant predictor`: there is no spread.
    """
    if not np.isfinite(values).all():
        raise InputError(
            f"missing: {name} has no finite value on {int((~np.isfinite(values)).sum())} of "
            f"{len(values)} trials; a mixed model would drop them silently"
        )
    if values.std() <= 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0))):
        raise InputError(f"constant predictor: {name} is {values[0]:g} on all {len(values)} trials")
    return (values - values.mean()) / values.std()


def find_design_terms(rows: Rows) -> tuple[list[str], list[str]]:
    """Return the terms of the design that these rows can tell apart, and those that they can't.

    Returns
    -------
    kept, dropped : list of str
        Of same, far, same:far and distance, in this order.
    """
    is_far = np.array([distance == "far" for _, distance in CELLS])[rows.cells]
    same, far = np.where(rows.is_same, 0.5, -0.5), np.where(is_far, 0.5, -0.5)
    candidates = {
        "same": same,
        "far": far,
        "same:far": same * far,
        "distance": _standardise_or_zero(rows.distance_px),
    }
    kept: list[str] = []
    columns = [np.ones(len(same))]
    for name, values in candidates.items():
        if _share_left(values, np.column_stack(columns)) > COLLINEAR_SHARE:
            kept.append(name)
            columns.append(values)
    return kept, [name for name in candidates if name not in kept]


def check_before(rows: Rows, difficulty: np.ndarray) -> None:
    """Raise what would make a fit meaningless, by name.

    Raises
    ------
    InputError
        `too few people`, `too few scenes`, `one response per trial` (its effect can't be told from
        the residual), `missing`, `constant predictor`, or `collinear`: the readout is a function of
        condition and distance.
    """
    n_people, n_trials = rows.rt_s.shape
    for what, n, least in (("people", n_people, MIN_PEOPLE), ("scenes", rows.n_scenes, MIN_SCENES)):
        if n < least:
            raise InputError(f"too few {what}: {n}, a mixed model needs at least {least}")
    if int(np.isfinite(rows.rt_s).sum()) <= n_trials:
        raise InputError(
            f"one response per trial: {int(np.isfinite(rows.rt_s).sum())} responses to {n_trials} "
            "trials; the effect of the trial can't be told from the residual"
        )
    readout = standardise(difficulty, name="readout")
    design = np.column_stack(
        [np.eye(len(CELLS))[rows.cells], _standardise_or_zero(rows.distance_px)]
    )
    if _share_left(readout, design) <= COLLINEAR_SHARE:
        raise InputError("collinear: the readout is a function of condition and distance")


def fit_model(formula: str, data: pd.DataFrame, *, reml: bool, needs_df: bool = True) -> Fit:
    """Return a fitted and checked model.

    Parameters
    ----------
    formula
        In lme4's form.
    data
        Without missing values in what the formula names.
    reml
        Restricted maximum likelihood (for estimates) or maximum likelihood (to compare models).
    needs_df
        False leaves the df and p of the effects NaN: they take a third of the time.

    Raises
    ------
    InputError
        `not converged`, `boundary` (a variance of zero, or a correlation of one), `non-finite`, or
        `rank deficient`: what optimisers call converged and is no answer.
    """
    import mixedlm

    with warnings.catch_warnings():
        # Said again, by name, in _check_after.
        warnings.simplefilter("ignore")
        fitted = mixedlm.lmer(formula, data, REML=reml)
        components, residual = _read_variances(fitted)
        _check_after(fitted, components, residual, formula=formula)
        effects = _read_effects(fitted, formula, needs_df=needs_df)
    estimate = np.array([effect.estimate for effect in effects.values()])
    return Fit(
        formula=formula,
        n_observations=len(data),
        log_likelihood=_log_likelihood(fitted),
        aic=float(fitted.AIC()),
        effects=effects,
        variances={**_name_variances(components), "residual": residual},
        fixed_variance=float(np.var(np.asarray(fitted.model_matrix()) @ estimate, ddof=1)),
        random_variance=_mean_random_variance(components, data),
    )


def _read_effects(fitted: object, formula: str, *, needs_df: bool) -> dict[str, Effect]:
    import mixedlm

    fixed = fitted.fixef()  # type: ignore[attr-defined]
    estimate = np.array([float(value) for value in fixed.values()])
    se = np.sqrt(np.diag(fitted.vcov()))  # type: ignore[attr-defined]
    df = np.full(len(estimate), np.nan)
    if needs_df:
        inference = mixedlm.satterthwaite_df(fitted)  # type: ignore[arg-type]
        by_name = dict(zip(inference.param_names, inference.df, strict=True))
        df = np.array([float(by_name[name]) for name in fixed])
    needed = np.concatenate([estimate, se, df if needs_df else se])
    if not np.isfinite(needed).all():
        raise InputError(f"non-finite: estimates, errors or df of {formula}")
    t = estimate / se
    p = 2 * stats.t.sf(np.abs(t), df)
    columns = zip(fixed, estimate, se, df, t, p, strict=True)
    return {
        name: Effect(estimate=float(b), se=float(e), df=float(d), t=float(u), p=float(q))
        for name, b, e, d, u, q in columns
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One random term of the formula: its group, its variables, their covariance."""

    group: str
    terms: tuple[str, ...]
    covariance: np.ndarray


def _read_variances(fitted: object) -> tuple[list[Component], float]:
    found = fitted.VarCorr()  # type: ignore[attr-defined]
    components = [
        Component(
            group=str(group.grouping_factor),
            terms=tuple(str(term) for term in group.term_names),
            covariance=np.asarray(group.cov, dtype=float),
        )
        for group in found.groups.values()
    ]
    return components, float(found.residual)


def _check_after(
    fitted: object, components: list[Component], residual: float, *, formula: str
) -> None:
    if not bool(fitted.converged):  # type: ignore[attr-defined]
        raise InputError(f"not converged: {formula}")
    if not np.isfinite(residual) or not all(np.isfinite(c.covariance).all() for c in components):
        raise InputError(f"non-finite: a variance of {formula}")
    matrix = np.asarray(fitted.model_matrix())  # type: ignore[attr-defined]
    n_terms = len(fitted.fixef())  # type: ignore[attr-defined]
    expected = _count_fixed_terms(formula)
    if np.linalg.matrix_rank(matrix) < matrix.shape[1] or n_terms < expected:
        raise InputError(f"rank deficient: {formula} keeps {n_terms} of {expected} fixed effects")
    flat = [
        f"{c.group}:{term}"
        for c in components
        for term, variance in zip(c.terms, np.diag(c.covariance), strict=True)
        if variance <= BOUNDARY_SHARE * residual
    ]
    tied = [c.group for c in components if not flat and _is_tied(c.covariance)]
    if flat or tied:
        what = f"no variance of {name_some(flat)}" if flat else f"correlation of 1 in {tied[0]!r}"
        raise InputError(f"boundary: {what} in {formula}")


def _is_tied(covariance: np.ndarray) -> bool:
    if len(covariance) == 1:
        return False
    sd = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(sd, sd) - np.eye(len(sd))
    return bool(np.abs(correlation).max() > BOUNDARY_CORRELATION)


def _count_fixed_terms(formula: str) -> int:
    """Count the coefficients of a formula whose variables are all numeric, intercept included."""
    fixed = formula.split("~")[1].split("(", maxsplit=1)[0].rstrip("+ ")
    terms: set[str] = set()
    for term in (part.strip() for part in fixed.split("+")):
        factors = [factor.strip() for factor in term.split("*")]
        terms |= {*factors, ":".join(factors)} if len(factors) == 2 else {term}
    return 1 + len(terms - {"1", ""})


def _name_variances(components: list[Component]) -> dict[str, float]:
    return {
        f"{c.group}:{term}": float(variance)
        for c in components
        for term, variance in zip(c.terms, np.diag(c.covariance), strict=True)
    }


def _mean_random_variance(components: list[Component], data: pd.DataFrame) -> float:
    """Return the mean over observations of z' S z (Johnson 2014)."""
    total = 0.0
    for component in components:
        z = np.column_stack(
            [
                np.ones(len(data)) if term == "(Intercept)" else data[term].to_numpy(float)
                for term in component.terms
            ]
        )
        total += float(np.einsum("ij,jk,ik->i", z, component.covariance, z).mean())
    return total


def _log_likelihood(fitted: object) -> float:
    value = fitted.logLik()  # type: ignore[attr-defined]
    return float(getattr(value, "value", value))


def _standardise_or_zero(values: np.ndarray) -> np.ndarray:
    spread = values.std()
    centred = values - values.mean()
    return (
        centred / spread if spread > 1e-12 * max(1.0, float(np.abs(values).max())) else centred * 0
    )


def _share_left(values: np.ndarray, others: np.ndarray) -> float:
    """Return the share of the variance of `values` that the columns of `others` leave."""
    centred = values - values.mean()
    if not centred @ centred > 0:
        return 0.0
    left = values - others @ np.linalg.lstsq(others, values, rcond=None)[0]
    return float(left @ left / (centred @ centred))
