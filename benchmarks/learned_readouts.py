"""All seeds and folds of a learned readout as one batched model, against one after the other.

    python benchmarks/learned_readouts.py [--dims 384] [--trials 1020] [--networks 20] [--epochs 2]

The other side is PyTorch's own layers, loss and Adam, a network at a time, on the same trials and batches.
Prints the ratio of the times, and that of batched to one after the other within our own code.
"""

import argparse
import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from model_eval.learned.folds import make_folds
from model_eval.learned.networks import StackedNetworks, choose_group_size
from model_eval.learned.readouts import choose_widths
from model_eval.learned.training import Job, Training, group_jobs, train_networks


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--trials", type=int, default=1020)
    parser.add_argument("--networks", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=2)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    inputs = torch.from_numpy(rng.normal(size=(given.trials, 2 * given.dims)).astype(np.float32))
    folds = make_folds(np.arange(given.trials) // 4, by="scenes", rng=rng)
    targets = rng.normal(size=given.trials)
    jobs = [Job(fold=folds[k % 10], seed=k // 10, targets=targets) for k in range(given.networks)]
    training = Training(learning_rate=1e-5, n_epochs=given.epochs, drop_epoch=40, batch_size=8)
    widths = choose_widths(given.dims, "mlp")
    run_batched(widths, inputs, jobs[:2], training=training)
    run_plain(widths, inputs, jobs[0], training=training)
    times = {
        "batched": run_batched(widths, inputs, jobs, training=training),
        "PyTorch, one after the other": sum(
            run_plain(widths, inputs, job, training=training) for job in jobs
        ),
        "ours, one after the other": sum(
            run_batched(widths, inputs, [job], training=training) for job in jobs
        ),
    }
    print(
        f"{given.networks} MLPs on 2 x {given.dims} dims, {given.trials} trials, {given.epochs} epochs, "
        f"{torch.get_num_threads()} threads"
    )
    for name, seconds in times.items():
        print(f"{name}: {seconds:.1f} s, {seconds / times['batched']:.2f} x batched")


def run_batched(
    widths: Sequence[int], inputs: Tensor, jobs: Sequence[Job], *, training: Training
) -> float:
    """Return the seconds that all jobs take together."""

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        return nn.functional.smooth_l1_loss(outputs[..., 0], targets, reduction="none")

    limit = choose_group_size(widths, device="cpu") or len(jobs)
    started = time.perf_counter()
    for members in group_jobs(jobs, batch_size=training.batch_size, limit=limit):
        group = [jobs[k] for k in members]
        networks = StackedNetworks(widths, [job.seed for job in group])
        train_networks(networks, inputs, group, loss=loss, training=training)
    return time.perf_counter() - started


def run_plain(widths: Sequence[int], inputs: Tensor, job: Job, *, training: Training) -> float:
    """Return the seconds that one job takes in PyTorch's own layers."""
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise(widths):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    net = nn.Sequential(*layers[:-1])
    targets = torch.from_numpy(job.targets).float()
    optimiser = torch.optim.Adam(net.parameters(), lr=training.learning_rate)
    rng = np.random.default_rng(job.seed)
    started = time.perf_counter()
    for _ in range(training.n_epochs):
        order = rng.permutation(job.fold.train)
        for start in range(0, len(order), training.batch_size):
            batch = order[start : start + training.batch_size]
            optimiser.zero_grad()
            nn.functional.smooth_l1_loss(net(inputs[batch])[:, 0], targets[batch]).backward()
            optimiser.step()
        with torch.no_grad():
            nn.functional.smooth_l1_loss(net(inputs[job.fold.stop])[:, 0], targets[job.fold.stop])
            net(inputs[job.fold.test])
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
