"""People and models with planted truth, for recovery tests."""

import numpy as np
import pandas as pd

from analysis.human import ReactionTimes


def make_trials(n_scenes):
    """Four cells per scene, distances that differ."""
    rows = [
        {
            "trial_id": f"s{s}_{k}",
            "scene_id": f"s{s}",
            "image": None,
            "image_sha256": None,
            "width_px": 640,
            "height_px": 480,
            "dot1_x_px": 320.5,
            "dot1_y_px": 240.5,
            "dot2_x_px": 320.5 + (100 if k % 2 == 0 else 200) + (s % 7),
            "dot2_y_px": 240.5,
            "same_object": k < 2,
            "distance_condition": "close" if k % 2 == 0 else "far",
            "distance_px": float((100 if k % 2 == 0 else 200) + s % 7),
            "object1_id": pd.NA,
            "object2_id": pd.NA,
            "list_id": None,
            "trials_version": "t",
        }
        for s in range(n_scenes)
        for k in range(4)
    ]
    return pd.DataFrame(rows)


def make_times(trials, rng, *, n_people=20, trial_sd=0.06, noise_sd=0.2, scene_sd=0.0, share=1.0):
    """Return RTs = person + scene + trial + noise, and the trials' true means."""
    scenes, names = pd.factorize(trials["scene_id"])
    truth = rng.normal(0, trial_sd, len(trials)) + rng.normal(0, scene_sd, len(names))[scenes]
    person = rng.normal(1.2, 0.1, (n_people, 1))
    rt_s = np.maximum(person + truth + rng.normal(0, noise_sd, (n_people, len(trials))), 0.05)
    rt_s[rng.random(rt_s.shape) > share] = np.nan
    times = ReactionTimes(
        rt_s=rt_s,
        participant_ids=tuple(f"p{k:03d}" for k in range(n_people)),
        trial_ids=tuple(trials["trial_id"]),
    )
    return times, truth


def make_log_times(
    trials,
    rng,
    *,
    readout_effect,
    readout,
    n_people=16,
    slope_sd=0.0,
    scene_sd=0.05,
    trial_sd=0.06,
    noise_sd=0.2,
    share=0.6,
):
    """Return log-normal RTs: person, scene and trial effects, and the readout's, by person."""
    scenes, names = pd.factorize(trials["scene_id"])
    n = len(trials)
    values = np.zeros(n) if readout is None else np.asarray(readout)
    slopes = readout_effect + slope_sd * rng.standard_normal((n_people, 1))
    log_rt = (
        rng.normal(0, 0.15, (n_people, 1))
        + rng.normal(0, scene_sd, len(names))[scenes]
        + rng.normal(0, trial_sd, n)
        + slopes * values
        + rng.normal(0, noise_sd, (n_people, n))
    )
    rt_s = 0.9 * np.exp(log_rt)
    rt_s[rng.random(rt_s.shape) > share] = np.nan
    return ReactionTimes(
        rt_s=rt_s,
        participant_ids=tuple(f"p{k:03d}" for k in range(n_people)),
        trial_ids=tuple(trials["trial_id"]),
    )


def make_responses(times):
    """Return the responses table of a matrix of RTs."""
    person, trial = np.nonzero(np.isfinite(times.rt_s))
    return pd.DataFrame(
        {
            "participant_id": np.asarray(times.participant_ids, dtype=object)[person],
            "session": "1",
            "trial_id": np.asarray(times.trial_ids, dtype=object)[trial],
            "is_practice": False,
            "outcome": "correct",
            "response": "same",
            "rt_s": times.rt_s[person, trial],
            "is_simulated": True,
        }
    )


def make_readouts(trials, values, *, model="m", readout="r", kind="difficulty", layer=None):
    """Return a readouts table."""
    return pd.DataFrame(
        {
            "model": model,
            "layer": layer,
            "representation": None,
            "readout": readout,
            "kind": kind,
            "trial_id": trials["trial_id"].to_numpy(),
            "value": np.asarray(values, dtype=float),
        }
    )
