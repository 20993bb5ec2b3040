"""One layer of one image as the readouts see it: maps of affinity to the patches with dots."""

from functools import cached_property

import numpy as np

from model_eval.displays import PatchDisplay
from model_eval.source import Array
from stimuli.errors import InputError


class LayerView:
    """The tokens of one feature of one image, with its trials.

    Parameters
    ----------
    tokens : float array or tensor, shape (n_patches, n_dims)
        One vector per patch, row by row.
    patches
        The image's trials on this layer's grid.
    where
        What messages call it: model, layer, image.
    """

    def __init__(self, tokens: Array, patches: PatchDisplay, *, where: str) -> None:
        self.tokens = as_float32(tokens)
        self.patches = patches
        self.where = where

    @cached_property
    def norms(self) -> np.ndarray:
        """Length of each token; float32 array, shape (n_patches,)."""
        return self._check(as_numpy((self.tokens * self.tokens).sum(-1) ** 0.5), "token norms")

    @cached_property
    def cosine_maps(self) -> np.ndarray:
        """Cosine of each patch with each seed patch; float32 array, shape (n_seeds, n_patches).

        A token of length 0 (a rectified map may be silent somewhere) has cosine 0 with all, itself
        included, as in the published code (`torch.nn.functional.normalize`); they are counted.
        """
        seeds = self.patches.seeds
        products = as_numpy(self.tokens[seeds] @ self.tokens.T)
        lengths = self.norms[seeds][:, None] * self.norms[None, :]
        maps = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return self._check(maps, "cosine similarities")

    def _check(self, values: np.ndarray, what: str) -> np.ndarray:
        if np.isfinite(values).all():
            return values
        bad = int((~np.isfinite(values)).any(axis=tuple(range(values.ndim - 1))).sum())
        raise InputError(
            f"{self.where}: {what} of {bad} of {values.shape[-1]} patches aren't finite numbers "
            "(overflow in half precision?); use --dtype float32, or leave this layer out"
        )


def as_float32(tokens: Array) -> Array:
    """Return tokens as float32, whatever the model computed in."""
    return tokens.astype(np.float32) if isinstance(tokens, np.ndarray) else tokens.float()


def as_numpy(values: Array) -> np.ndarray:
    """Return a small result as a numpy array, from whichever device."""
    return np.asarray(values if isinstance(values, np.ndarray) else values.cpu())
