"""A small study: photographs with dots, people, models with several layers, a control."""

import numpy as np
import pandas as pd
import pytest

from analysis.controls import compute_control
from analysis.people import load_times
from analysis.records import build_record, write_score_file
from analysis.scoring import ScoreSettings, score_readouts
from stimuli.benchmark import Manifest, write_benchmark
from stimuli.images import write_image
from stimuli.table_io import safe_file_name, write_table
from tests.analysis.simulate import make_readouts, make_responses, make_times, make_trials

QUICK = ScoreSettings(n_draws=40, n_halves=20, seed=3)
MANIFEST = Manifest(
    name="tiny", version="1", source="test <b>", licence="none & free", is_simulated=True
)
N_SCENES = 16
FACTS = {
    "a<b>": {"family": "DINO", "year": 2021},
    "c|d": {"family": "MAE & co", "year": 2022},
    "e ü": {"family": "DINO", "year": 2023},
    "random": {"is_random_weights": True},
}


def paint(folder, trials, rng):
    """Write a picture for the first half of the scenes, and name it in the table."""
    for scene in trials["scene_id"].unique()[: N_SCENES // 2]:
        pixels = rng.integers(0, 255, (60, 80, 3), dtype=np.uint8)
        sha256 = write_image(pixels, folder / "images" / f"{scene}.png")
        is_scene = trials["scene_id"] == scene
        trials.loc[is_scene, "image"] = f"{scene}.png"
        trials.loc[is_scene, "image_sha256"] = sha256
    return trials


def read_out(trials, truth, rng, *, model, quality, layers=("0", "1", "2")):
    """Similarity at several layers, better towards the last, and an object-centric AUC."""
    parts = []
    sign = np.where(trials["same_object"], -1.0, 1.0)
    for k, layer in enumerate(layers):
        noise = rng.normal(0, 0.15, len(trials))
        value = sign * (truth * quality * (k + 1) / len(layers) + noise)
        parts.append(
            make_readouts(
                trials, value, model=model, readout="cosine", kind="evidence_same", layer=layer
            )
        )
        area = np.clip(0.5 + 0.4 * quality + rng.normal(0, 0.02, 20), 0, 1)
        parts.append(
            make_readouts(
                trials.iloc[:20],
                area,
                model=model,
                readout="object_auc_dot1",
                kind="ease",
                layer=layer,
            )
        )
    return pd.concat(parts).assign(representation="tokens")


@pytest.fixture(scope="package")
def study(tmp_path_factory):
    """Return a benchmark and its results folder."""
    root = tmp_path_factory.mktemp("figures")
    rng = np.random.default_rng(5)
    trials = make_trials(N_SCENES).assign(width_px=80, height_px=60)
    for name, factor in (("dot1_x_px", 8), ("dot2_x_px", 8), ("dot1_y_px", 8), ("dot2_y_px", 8)):
        trials[name] = trials[name] / factor
    trials["distance_px"] = trials["distance_px"] / 8
    times, truth = make_times(trials, rng, n_people=12, trial_sd=0.15)
    trials = paint(root / "bench", trials, rng)
    benchmark = write_benchmark(root / "bench", manifest=MANIFEST, trials=trials)
    write_table(make_responses(times), benchmark.responses_folder / "all.csv")
    tables = [
        read_out(trials, truth, rng, model=model, quality=quality)
        for model, quality in zip(FACTS, (1.0, 0.6, 0.3, 0.0), strict=True)
    ]
    tables.append(compute_control("control:distance", benchmark.trials, load_times(benchmark)))
    for table in tables:
        model = str(table["model"].iloc[0])
        write_table(table, root / "results" / "readouts" / f"{safe_file_name(model)}.parquet")
        scores = score_readouts(
            table, times=load_times(benchmark), trials=benchmark.trials, settings=QUICK
        )
        facts = {"name": model, **FACTS.get(model, {})}
        record = build_record(benchmark, settings=QUICK, command="test", model_record=facts)
        write_score_file(scores, record, folder=root / "results")
    return benchmark, root / "results"
