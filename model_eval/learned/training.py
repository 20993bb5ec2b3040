"""Training of stacked networks: each on its own trials, in its own order, stopped at its own best epoch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model_eval.learned.folds import Fold
from model_eval.learned.networks import StackedNetworks

# From outputs (n_networks, n_pairs, n_outputs) and targets (n_networks, n_pairs): loss of each pair.
Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How networks are trained.

    Attributes
    ----------
    learning_rate
        Of Adam.
    n_epochs
        Passes over the training trials.
    drop_epoch
        The learning rate is divided by 10 (ours; the paper says when it drops, not by how much) after
        so many epochs.
    batch_size
        Pairs per step: the published accumulation of gradients, of one pair each. Their mean is taken;
        Adam's steps don't depend on the scale.
    """

    learning_rate: float
    n_epochs: int
    drop_epoch: int
    batch_size: int


# [paper] Adeli et al. 2026, supplement.
RT_TRAINING = Training(learning_rate=1e-5, n_epochs=80, drop_epoch=40, batch_size=8)
GROUPING_TRAINING = Training(learning_rate=5e-4, n_epochs=30, drop_epoch=15, batch_size=32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One network: its trials, its seed, and its targets for all trials (NaN where it has none)."""

    fold: Fold
    seed: int
    targets: np.ndarray


def group_jobs(jobs: Sequence[Job], *, batch_size: int, limit: int) -> list[list[int]]:
    """Return which jobs are trained together: those with as many steps per epoch, at most `limit`.

    A network without pairs in a step of the others would be moved on by Adam's momentum alone.
    """
    by_steps: dict[int, list[int]] = {}
    for k, job in enumerate(jobs):
        by_steps.setdefault(_count_steps(job, batch_size), []).append(k)
    return [
        members[start : start + limit]
        for members in by_steps.values()
        for start in range(0, len(members), limit)
    ]


def train_networks(
    networks: StackedNetworks,
    inputs: Tensor,
    jobs: Sequence[Job],
    *,
    loss: Loss,
    training: Training,
) -> list[np.ndarray]:
    """Train one network per job and return its outputs for its tested trials.

    The outputs are those of the epoch with the lowest loss on the job's stopping trials; where it has
    none, of the last epoch.

    Parameters
    ----------
    networks
        As many as jobs; trained in place.
    inputs : float tensor, shape (n_trials, n_inputs)
        Of all trials.
    jobs
        What each network is trained, stopped and tested on; all with as many steps (`group_jobs`).
    loss
        Per pair.
    training
        Rates, epochs, batches.

    Returns
    -------
    list of float arrays, shape (n_tested, n_outputs)
    """
    assert len({_count_steps(job, training.batch_size) for job in jobs}) == 1
    device = inputs.device
    targets = torch.from_numpy(np.stack([job.targets for job in jobs])).float().to(device)
    stop, test = ([getattr(job.fold, part) for job in jobs] for part in ("stop", "test"))
    optimiser = torch.optim.Adam(networks.parameters, lr=training.learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, training.drop_epoch, gamma=0.1)
    rngs = [np.random.default_rng([job.seed, 1]) for job in jobs]
    stops = all(len(part) for part in stop)
    best = np.full(len(jobs), np.inf)
    kept: list[np.ndarray] = [np.empty(0)] * len(jobs)
    for epoch in range(training.n_epochs):
        order = [rng.permutation(job.fold.train) for rng, job in zip(rngs, jobs, strict=True)]
        for batch, is_real in _batches(order, training.batch_size, device=device):
            optimiser.zero_grad()
            losses = loss(networks.forward(inputs[batch]), targets.gather(1, batch)) * is_real
            # The mean over each network's own pairs; networks don't share weights, so sums don't mix.
            (losses.sum(dim=1) / is_real.sum(dim=1)).sum().backward()
            optimiser.step()
        schedule.step()
        if stops:
            now = _measure(networks, inputs, targets, parts=stop, loss=loss)
            improved = np.flatnonzero(now < best)
            outputs = _predict(networks, inputs, test) if len(improved) else []
            for k in improved:
                best[k], kept[k] = now[k], outputs[k]
        elif epoch == training.n_epochs - 1:
            kept = _predict(networks, inputs, test)
    return kept


def _count_steps(job: Job, batch_size: int) -> int:
    return -(-len(job.fold.train) // batch_size)


def _batches(order: Sequence[np.ndarray], size: int, *, device: torch.device):  # noqa: ANN202 (pairs of tensors)
    """Yield trials (n_networks, size) and which of them are real, until the longest order ends."""
    longest = max(len(one) for one in order)
    n_steps = -(-longest // size)
    padded = np.zeros((len(order), n_steps * size), np.int64)
    is_real = np.zeros(padded.shape, np.float32)
    for k, one in enumerate(order):
        padded[k, : len(one)] = one
        is_real[k, : len(one)] = 1
    batches, real = torch.from_numpy(padded).to(device), torch.from_numpy(is_real).to(device)
    for start in range(0, n_steps * size, size):
        yield batches[:, start : start + size], real[:, start : start + size]


def _measure(
    networks: StackedNetworks,
    inputs: Tensor,
    targets: Tensor,
    *,
    parts: Sequence[np.ndarray],
    loss: Loss,
) -> np.ndarray:
    """Return each network's mean loss on its part."""
    with torch.no_grad():
        ((batch, is_real),) = _batches(parts, max(map(len, parts)), device=inputs.device)
        losses = loss(networks.forward(inputs[batch]), targets.gather(1, batch)) * is_real
        return (losses.sum(dim=1) / is_real.sum(dim=1)).cpu().numpy()


def _predict(
    networks: StackedNetworks, inputs: Tensor, parts: Sequence[np.ndarray]
) -> list[np.ndarray]:
    with torch.no_grad():
        ((batch, _),) = _batches(parts, max(map(len, parts)), device=inputs.device)
        outputs = networks.forward(inputs[batch]).cpu().numpy()
    return [outputs[k, : len(part)] for k, part in enumerate(parts)]
