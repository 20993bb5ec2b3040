"""How alike the two dots are: one number per pair of vectors, nothing else of the image."""

from collections.abc import Callable

import numpy as np

from model_eval.readouts.registry import readout
from model_eval.view import AttentionView, LayerView, View


@readout("cosine", kind="evidence_same", is_default=True)
def read_cosine(view: LayerView) -> np.ndarray:
    """Return the cosine of the two dots' vectors, shape (n_trials,); -1 to 1."""
    return compare_pairs(view, view.seed_tokens, compute_cosine)


@readout("centred_cosine", kind="evidence_same")
def read_centred_cosine(view: LayerView) -> np.ndarray:
    """Return the cosine after the image's mean vector is taken off both, shape (n_trials,)."""
    return compare_pairs(view, view.seed_tokens - view.mean_token, compute_cosine)


@readout("dot_product", kind="evidence_same")
def read_dot_product(view: LayerView) -> np.ndarray:
    """Return the product of the two dots' vectors, shape (n_trials,)."""
    return compare_pairs(view, view.seed_tokens, lambda a, b: (a * b).sum(axis=1))


@readout("negative_l2", kind="evidence_same")
def read_negative_l2(view: LayerView) -> np.ndarray:
    """Return minus the Euclidean distance of the two dots' vectors, shape (n_trials,)."""
    return compare_pairs(view, view.seed_tokens, lambda a, b: -np.linalg.norm(a - b, axis=1))


@readout("attention", kind="evidence_same", reads="attention")
def read_attention(view: AttentionView) -> np.ndarray:
    """Return the mean of the attention from dot 1 to dot 2 and back, heads averaged.

    Of the patches that the dots lie in; shape (n_trials,), 0 to 1.
    """
    first, second = view.patches.seed_of_dot.T
    there = view.maps[first, view.patches.seed_patches[second]]
    back = view.maps[second, view.patches.seed_patches[first]]
    return (there.astype(float) + back) / 2


def compare_pairs(
    view: View, vectors: np.ndarray, compare: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Apply a comparison to the vectors (n_seeds, n_dims) of each trial's two dots."""
    first, second = view.patches.seed_of_dot.T
    vectors = vectors.astype(float)
    return compare(vectors[first], vectors[second])


def compute_cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cosine of each row of `a` and `b`; 0 where one has length 0.

    >>> compute_cosine(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 1.0]]))
    array([0.70710678, 0.        ])
    """
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = (a * b).sum(axis=1)
    return np.divide(products, lengths, out=np.zeros(len(a)), where=lengths > 0)
