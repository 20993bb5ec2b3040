"""Learned readouts: reaction times, and same or different, from the two dots' tokens (methods 1.6)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from model_eval.learned.folds import N_FOLDS, Fold, FoldUnit, make_folds
from model_eval.learned.networks import (
    PairForm,
    StackedNetworks,
    choose_group_size,
    combine_tokens,
)
from model_eval.learned.training import (
    GROUPING_TRAINING,
    RT_TRAINING,
    Job,
    Training,
    group_jobs,
    train_networks,
)
from stimuli.errors import InputError

Head = Literal["mlp", "linear", "symmetric"]
HEADS: tuple[Head, ...] = ("mlp", "linear", "symmetric")
N_SEEDS = 10
OnNetwork = Callable[[], None]


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedSettings:
    """What a learned readout is.

    Attributes
    ----------
    head
        ``mlp``: the published one, on both tokens one after the other. ``linear``: the output layer
        alone. ``symmetric``: an MLP on sum and product, so that order can't matter (ours).
    folds
        ``scenes``, or ``trials`` as published (reaction times only).
    n_folds, n_seeds
        Published: 10 of each.
    training
        Rates, epochs, batches.
    device
        Where the networks are.
    """

    head: Head = "mlp"
    folds: FoldUnit = "scenes"
    n_folds: int = N_FOLDS
    n_seeds: int = N_SEEDS
    training: Training
    device: str = "cpu"


RT_SETTINGS = LearnedSettings(training=RT_TRAINING)
GROUPING_SETTINGS = LearnedSettings(training=GROUPING_TRAINING)


def learn_reaction_times(
    tokens: np.ndarray,
    mean_rt: np.ndarray,
    *,
    scene_ids: np.ndarray,
    settings: LearnedSettings,
    rng: np.random.Generator,
    on_network: OnNetwork = _nothing,
) -> np.ndarray:
    """Return each trial's predicted reaction time from networks that never saw it.

    In units of the training trials' SD, around their mean (0), so that a network that learnt nothing
    predicts the same for all folds: adding the training mean back would make such predictions run
    against the truth by construction (decision 0003).

    Parameters
    ----------
    tokens : float array, shape (n_trials, 2, n_dims)
        First (central) dot, second dot.
    mean_rt : float array, shape (n_trials,)
        Mean over people.
    scene_ids : array, shape (n_trials,)
        The scenes.
    settings
        Head, folds, seeds, training.
    rng
        Draws folds and seeds.
    on_network
        Called after each of the `n_folds` x `n_seeds` networks.

    Returns
    -------
    float array, shape (n_trials,)
        Mean over seeds; larger is slower.

    Raises
    ------
    InputError
        A value isn't finite, or there are too few scenes.
    """
    _check_finite(tokens, mean_rt)
    folds = make_folds(scene_ids, by=settings.folds, rng=rng, n_folds=settings.n_folds)
    seeds = rng.integers(2**31, size=settings.n_seeds).tolist()
    jobs = [
        Job(fold=fold, seed=seed, targets=_standardise(mean_rt, fold))
        for fold in folds
        for seed in seeds
    ]
    outputs = _train(tokens, jobs, settings=settings, loss=_smooth_l1, on_network=on_network)
    predicted = np.zeros(len(mean_rt))
    for job, output in zip(jobs, outputs, strict=True):
        predicted[job.fold.test] += output[:, 0] / settings.n_seeds
    return predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingResult:
    """What a grouping readout says of trials that it wasn't trained on.

    Attributes
    ----------
    evidence_same : float array, shape (n_trials,)
        Log odds of "same", mean over seeds.
    accuracy
        Share of trials on the right side of 0.
    """

    evidence_same: np.ndarray
    accuracy: float


def learn_grouping(
    tokens: np.ndarray,
    same_object: np.ndarray,
    *,
    test_tokens: np.ndarray,
    test_same_object: np.ndarray,
    settings: LearnedSettings,
    rng: np.random.Generator,
    on_network: OnNetwork = _nothing,
) -> GroupingResult:
    """Return what a readout that learnt grouping on some scenes says of the trials of others.

    Two outputs, cross-entropy, all epochs, no early stopping [paper].

    Parameters
    ----------
    tokens, same_object : arrays, shapes (n_pairs, 2, n_dims) and (n_pairs,)
        What it is trained on; published: 30,000 pairs on COCO train2017.
    test_tokens, test_same_object : arrays
        The trials.
    settings, rng, on_network
        As in `learn_reaction_times`; folds are not used.

    Raises
    ------
    InputError
        The dimensions differ, or all training pairs are of one kind.
    """
    _check_finite(tokens, test_tokens)
    if tokens.shape[2] != test_tokens.shape[2]:
        raise InputError(
            f"tokens of {tokens.shape[2]} dimensions to learn from, {test_tokens.shape[2]} to be tested "
            "on; read both out of the same model and layer"
        )
    if len(np.unique(same_object)) < 2:
        raise InputError(
            "the pairs to learn from are all of one kind; both same and different needed"
        )
    n = len(tokens)
    everything = np.concatenate([tokens, test_tokens])
    fold = Fold(train=np.arange(n), stop=np.arange(0), test=np.arange(n, len(everything)))
    targets = np.concatenate([same_object, test_same_object]).astype(float)
    seeds = rng.integers(2**31, size=settings.n_seeds).tolist()
    jobs = [Job(fold=fold, seed=seed, targets=targets) for seed in seeds]
    outputs = _train(
        everything, jobs, settings=settings, loss=_cross_entropy, on_network=on_network, n_outputs=2
    )
    # The difference of two classes' outputs is the log odds of the second.
    evidence = np.mean([output[:, 1] - output[:, 0] for output in outputs], axis=0)
    right = (evidence > 0) == np.asarray(test_same_object, bool)
    return GroupingResult(evidence_same=evidence.astype(float), accuracy=float(right.mean()))


def choose_widths(n_dims: int, head: Head, *, n_outputs: int = 1) -> tuple[int, ...]:
    """Return inputs, hidden widths and outputs of a head for tokens of `n_dims` dimensions."""
    hidden = () if head == "linear" else (n_dims, n_dims)
    return (2 * n_dims, *hidden, n_outputs)


def _train(
    tokens: np.ndarray,
    jobs: list[Job],
    *,
    settings: LearnedSettings,
    loss: Callable[[Tensor, Tensor], Tensor],
    on_network: OnNetwork,
    n_outputs: int = 1,
) -> list[np.ndarray]:
    form: PairForm = "symmetric" if settings.head == "symmetric" else "concatenated"
    stacked = torch.from_numpy(np.ascontiguousarray(tokens, dtype=np.float32)).to(settings.device)
    inputs = combine_tokens(stacked, form)
    widths = choose_widths(tokens.shape[2], settings.head, n_outputs=n_outputs)
    limit = choose_group_size(widths, device=settings.device) or len(jobs)
    found: list[np.ndarray] = [np.empty(0)] * len(jobs)
    for members in group_jobs(jobs, batch_size=settings.training.batch_size, limit=limit):
        group = [jobs[k] for k in members]
        networks = StackedNetworks(widths, [job.seed for job in group], device=settings.device)
        outputs = train_networks(networks, inputs, group, loss=loss, training=settings.training)
        for k, output in zip(members, outputs, strict=True):
            found[k] = output
            on_network()
    return found


def _standardise(mean_rt: np.ndarray, fold: Fold) -> np.ndarray:
    """Return RTs in SDs around the mean, both of the fold's training trials only."""
    train = mean_rt[fold.train]
    return (mean_rt - train.mean()) / train.std()


def _smooth_l1(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.smooth_l1_loss(outputs[..., 0], targets, reduction="none")


def _cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(
        outputs.flatten(0, 1), targets.long().flatten(), reduction="none"
    ).view(targets.shape)


def _check_finite(*arrays: np.ndarray) -> None:
    for array in arrays:
        if not np.isfinite(array).all():
            raise InputError(
                f"a learned readout got {int((~np.isfinite(array)).sum())} values that aren't finite; "
                "leave out trials without tokens or reaction times"
            )
