"""One recorded seed, a stream per scene: adding a scene changes nothing for the others."""

import hashlib

import numpy as np


def spawn_rng(seed: int, scene_id: str, *, purpose: str) -> np.random.Generator:
    """Return the generator of one scene: the same whatever other scenes there are.

    Parameters
    ----------
    seed
        The root seed of the build.
    scene_id
        The scene.
    purpose
        What is drawn ("place", "generate"): each purpose has a stream of its own.
    """
    digest = hashlib.sha256(f"{purpose}\n{scene_id}".encode()).digest()
    words = np.frombuffer(digest, dtype=np.uint32)
    return np.random.default_rng(np.random.SeedSequence([seed, *words.tolist()]))
