"""Learned readouts: the same as PyTorch's own, honest folds, what folds over trials give away."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from torch import nn

from model_eval.learned.folds import Fold, make_folds
from model_eval.learned.networks import StackedNetworks, choose_group_size, combine_tokens
from model_eval.learned.readouts import (
    GROUPING_SETTINGS,
    RT_SETTINGS,
    learn_grouping,
    learn_reaction_times,
)
from model_eval.learned.training import Job, Training, group_jobs, train_networks
from stimuli.errors import InputError

QUICK = Training(learning_rate=1e-2, n_epochs=8, drop_epoch=5, batch_size=8)


def test_the_published_settings_are_those_of_the_paper():
    assert RT_SETTINGS.training == Training(
        learning_rate=1e-5, n_epochs=80, drop_epoch=40, batch_size=8
    )
    assert GROUPING_SETTINGS.training == Training(
        learning_rate=5e-4, n_epochs=30, drop_epoch=15, batch_size=32
    )
    assert (RT_SETTINGS.n_folds, RT_SETTINGS.n_seeds) == (10, 10)
    assert RT_SETTINGS.folds == "scenes"


@given(
    n_scenes=st.integers(8, 40),
    per_scene=st.integers(1, 5),
    by=st.sampled_from(["scenes", "trials"]),
    seed=st.integers(0, 999),
)
def test_folds_test_every_trial_once_and_keep_scenes_together(n_scenes, per_scene, by, seed):
    scenes = np.repeat(np.arange(n_scenes), per_scene)
    folds = make_folds(scenes, by=by, rng=np.random.default_rng(seed), n_folds=4)
    tested = np.concatenate([fold.test for fold in folds])
    assert sorted(tested) == list(range(len(scenes)))
    for fold in folds:
        parts = [set(fold.train), set(fold.stop), set(fold.test)]
        assert set.union(*parts) == set(range(len(scenes)))
        assert sum(map(len, parts)) == len(scenes)
        assert all(parts)
        if by == "scenes":
            groups = [{scenes[k] for k in part} for part in parts]
            assert sum(map(len, groups)) == n_scenes


def test_too_few_scenes_for_nested_folds_are_refused(rng):
    with pytest.raises(InputError, match="5 scenes can't make 10 nested folds; at least 20"):
        make_folds(np.repeat(np.arange(5), 9), by="scenes", rng=rng)


def train_by_itself(networks, k, inputs, job, training):
    """One network in PyTorch's own layers, loss and optimiser: what the stack must equal."""
    weights = [parameter[k].detach().clone() for parameter in networks.parameters]
    layers = []
    for weight, bias in zip(weights[::2], weights[1::2], strict=True):
        linear = nn.Linear(*weight.shape)
        linear.load_state_dict({"weight": weight.T.contiguous(), "bias": bias})
        layers += [linear, nn.ReLU()]
    net = nn.Sequential(*layers[:-1])
    targets = torch.from_numpy(job.targets).float()
    optimiser = torch.optim.Adam(net.parameters(), lr=training.learning_rate)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, training.drop_epoch, gamma=0.1)
    rng = np.random.default_rng([job.seed, 1])
    best, kept = np.inf, None
    for _ in range(training.n_epochs):
        order = rng.permutation(job.fold.train)
        for start in range(0, len(order), training.batch_size):
            batch = order[start : start + training.batch_size]
            optimiser.zero_grad()
            nn.functional.smooth_l1_loss(net(inputs[batch])[:, 0], targets[batch]).backward()
            optimiser.step()
        schedule.step()
        with torch.no_grad():
            stop = job.fold.stop
            loss = nn.functional.smooth_l1_loss(net(inputs[stop])[:, 0], targets[stop]).item()
            if loss < best:
                best, kept = loss, net(inputs[job.fold.test]).numpy()
    return kept


@pytest.mark.parametrize("widths", [(6, 1), (6, 3, 3, 1)])
def test_stacked_networks_take_the_course_of_each_by_itself(widths, rng):
    inputs = torch.from_numpy(rng.normal(size=(50, 6)).astype(np.float32))
    folds = make_folds(np.arange(50), by="trials", rng=rng, n_folds=3)
    folds[0] = replace(folds[0], train=folds[0].train[:-5])  # a last batch smaller than the others'
    folds[1] = replace(folds[1], train=folds[1].train[:-12])  # fewer batches
    every = [Job(fold=f, seed=s, targets=rng.normal(size=50)) for f in folds for s in (4, 9)]
    groups = group_jobs(every, batch_size=8, limit=4)
    assert groups == [[0, 1, 4, 5], [2, 3]]
    assert group_jobs(every, batch_size=8, limit=3) == [[0, 1, 4], [5], [2, 3]]

    def loss(outputs, targets):
        return nn.functional.smooth_l1_loss(outputs[..., 0], targets, reduction="none")

    for members in groups:
        jobs = [every[k] for k in members]
        seeds = [job.seed for job in jobs]
        fresh, stack = StackedNetworks(widths, seeds), StackedNetworks(widths, seeds)
        found = train_networks(stack, inputs, jobs, loss=loss, training=QUICK)
        for k, job in enumerate(jobs):
            expected = train_by_itself(fresh, k, inputs, job, QUICK)
            np.testing.assert_allclose(found[k], expected, atol=2e-4)


def test_networks_in_groups_are_those_of_all_at_once(rng, monkeypatch):
    tokens, rt, scenes = simulate(rng)
    settings = replace(RT_SETTINGS, n_seeds=2, training=QUICK)

    def learn():
        return learn_reaction_times(
            tokens, rt, scene_ids=scenes, settings=settings, rng=np.random.default_rng(5)
        )

    together = learn()
    monkeypatch.setattr("model_eval.learned.networks.CACHE_BYTES", 16 * 1000)
    assert choose_group_size((24, 12, 12, 1), device="cpu") == 2
    np.testing.assert_allclose(learn(), together, atol=1e-5)
    assert choose_group_size((24, 12, 12, 1), device="cuda") is None


def test_networks_of_one_seed_start_alike_and_of_two_seeds_not():
    stack = StackedNetworks((4, 2, 2, 1), [3, 3, 8])
    assert torch.equal(stack.parameters[0][0], stack.parameters[0][1])
    assert not torch.equal(stack.parameters[0][0], stack.parameters[0][2])
    assert stack.parameters[0].abs().max() <= 0.5


def simulate(rng, *, n_scenes=60, noise=1.0):
    """Scenes whose first dot's token is the photograph's own noise, and RTs with a scene effect."""
    scenes = np.repeat(np.arange(n_scenes), 4)
    tokens = rng.normal(size=(len(scenes), 2, 12))
    tokens[:, 0] = rng.normal(size=(n_scenes, 12))[scenes]
    rt = rng.normal(size=n_scenes)[scenes] + noise * rng.normal(size=len(scenes))
    return tokens, rt, scenes


@pytest.mark.slow
@pytest.mark.parametrize("head", ["mlp", "linear", "symmetric"])
def test_folds_over_trials_give_scenes_away_and_folds_by_scene_do_not(head):
    """Pure noise predicts RTs when the scene's other trials are learnt from (methods 1.7)."""
    training = Training(learning_rate=3e-3, n_epochs=25, drop_epoch=20, batch_size=16)
    settings = replace(RT_SETTINGS, head=head, n_seeds=2, training=training)
    scores = {"trials": [], "scenes": []}
    for seed in range(5):
        tokens, rt, scenes = simulate(np.random.default_rng(seed), noise=0.5)
        for by, found in scores.items():
            predicted = learn_reaction_times(
                tokens,
                rt,
                scene_ids=scenes,
                settings=replace(settings, folds=by),
                rng=np.random.default_rng(seed),
            )
            found.append(spearmanr(predicted, rt).statistic)
    assert np.mean(scores["trials"]) > {"mlp": 0.25, "linear": 0.15, "symmetric": 0.08}[head]
    assert abs(np.mean(scores["scenes"])) < 0.1


def test_what_tokens_do_tell_is_learnt_for_new_scenes(rng):
    tokens, _, scenes = simulate(rng)
    rt = np.abs(tokens[:, 0] * tokens[:, 1]).sum(axis=1) + 3 * tokens[:, 1, 0]
    training = Training(learning_rate=3e-3, n_epochs=40, drop_epoch=30, batch_size=16)
    settings = replace(RT_SETTINGS, head="mlp", n_seeds=2, training=training)
    networks = []
    predicted = learn_reaction_times(
        tokens,
        rt,
        scene_ids=scenes,
        settings=settings,
        rng=rng,
        on_network=lambda: networks.append(1),
    )
    assert spearmanr(predicted, rt).statistic > 0.5
    assert len(networks) == 20
    # In SDs around the training mean, not in seconds.
    assert abs(predicted.mean()) < 0.5


def test_a_symmetric_readout_does_not_know_which_dot_is_which(rng):
    tokens = torch.from_numpy(rng.normal(size=(5, 2, 4)))
    assert torch.equal(
        combine_tokens(tokens, "symmetric"), combine_tokens(tokens.flip(1), "symmetric")
    )
    assert not torch.equal(
        combine_tokens(tokens, "concatenated"), combine_tokens(tokens.flip(1), "concatenated")
    )
    assert torch.equal(combine_tokens(tokens, "concatenated")[:, :4], tokens[:, 0])


@pytest.mark.parametrize("head", ["mlp", "symmetric"])
def test_grouping_is_learnt_on_some_scenes_and_tested_on_others(head, rng):
    def make(n):
        same = rng.random(n) < 0.5
        first = rng.normal(size=(n, 6))
        second = np.where(same[:, None], first, rng.normal(size=(n, 6)))
        return np.stack([first, second + 0.1 * rng.normal(size=(n, 6))], axis=1), same

    tokens, same = make(1500)
    test_tokens, test_same = make(200)
    training = Training(learning_rate=3e-3, n_epochs=25, drop_epoch=20, batch_size=32)
    settings = replace(GROUPING_SETTINGS, head=head, n_seeds=2, training=training)
    done = learn_grouping(
        tokens,
        same,
        test_tokens=test_tokens,
        test_same_object=test_same,
        settings=settings,
        rng=rng,
    )
    assert done.accuracy > 0.75
    assert done.evidence_same[test_same].mean() > 0 > done.evidence_same[~test_same].mean()
    flipped = learn_grouping(
        tokens,
        ~same,
        test_tokens=test_tokens,
        test_same_object=test_same,
        settings=settings,
        rng=rng,
    )
    assert flipped.accuracy < 0.25  # worse than chance stays worse than chance


def test_grouping_without_early_stopping_keeps_the_last_epoch(rng):
    inputs = torch.from_numpy(rng.normal(size=(20, 4)).astype(np.float32))
    fold = Fold(train=np.arange(15), stop=np.arange(0), test=np.arange(15, 20))
    job = Job(fold=fold, seed=1, targets=rng.normal(size=20))

    def loss(outputs, targets):
        return (outputs[..., 0] - targets) ** 2

    networks = StackedNetworks((4, 1), [1])
    (found,) = train_networks(networks, inputs, [job], loss=loss, training=QUICK)
    with torch.no_grad():
        last = networks.forward(inputs[None, 15:])[0].numpy()
    np.testing.assert_allclose(found, last, atol=1e-6)


def test_what_cannot_be_learnt_from_is_refused(rng):
    tokens, rt, scenes = simulate(rng)
    with pytest.raises(InputError, match="1 values that aren't finite"):
        learn_reaction_times(
            tokens,
            np.where(np.arange(240) == 3, np.nan, rt),
            scene_ids=scenes,
            settings=RT_SETTINGS,
            rng=rng,
        )
    same = rng.random(240) < 0.5
    with pytest.raises(InputError, match="12 dimensions to learn from, 11 to be tested on"):
        learn_grouping(
            tokens,
            same,
            test_tokens=tokens[..., :11],
            test_same_object=same,
            settings=GROUPING_SETTINGS,
            rng=rng,
        )
    with pytest.raises(InputError, match="all of one kind"):
        learn_grouping(
            tokens,
            np.ones(240, bool),
            test_tokens=tokens,
            test_same_object=same,
            settings=GROUPING_SETTINGS,
            rng=rng,
        )
