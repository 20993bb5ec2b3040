"""One feature of one image as the readouts see it: how alike patches are to the patches with dots.

Vectors (tokens, keys, maps ...) are compared by cosine; attention is its own comparison. Both give
`maps`, one per distinct dot of the image ("seed"), so that the readouts of maps serve both.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model_eval.displays import PatchDisplay, Remembering
from model_eval.source import Array
from stimuli.errors import InputError

# A matrix of all pairs of so many patches takes 1 GiB.
MAX_AFFINITY_PATCHES = 16384


class View(Remembering):
    """What all views share: the trials, the maps, and results that several readouts need.

    Parameters
    ----------
    patches
        The image's trials on this layer's grid.
    where
        What messages call it: model, layer, image.
    """

    def __init__(self, patches: PatchDisplay, *, where: str) -> None:
        super().__init__()
        self.patches = patches
        self.where = where

    @cached_property
    def maps(self) -> np.ndarray:
        """Affinity of each patch to each seed; float32 array, shape (n_seeds, n_patches)."""
        raise NotImplementedError

    def check(self, values: np.ndarray, what: str) -> np.ndarray:
        """Return values, or raise when one isn't a finite number: no NaN ever gets a rank.

        Raises
        ------
        InputError
            Names model, layer, image and how many patches.
        """
        if np.isfinite(values).all():
            return values
        bad = int((~np.isfinite(values)).any(axis=tuple(range(values.ndim - 1))).sum())
        raise InputError(
            f"{self.where}: {what} of {bad} of {values.shape[-1]} patches aren't finite numbers "
            "(overflow in half precision?); use --dtype float32, or leave this layer out"
        )


class LayerView(View):
    """The vectors of one feature of one image, with its trials.

    Parameters
    ----------
    tokens : float array or tensor, shape (n_patches, n_dims)
        One vector per patch, row by row.
    patches, where
        As in `View`.
    """

    def __init__(self, tokens: Array, patches: PatchDisplay, *, where: str) -> None:
        super().__init__(patches, where=where)
        self.tokens = as_float32(tokens)

    @cached_property
    def norms(self) -> np.ndarray:
        """Length of each token; float32 array, shape (n_patches,)."""
        return self.check(as_numpy((self.tokens * self.tokens).sum(-1) ** 0.5), "token norms")

    @cached_property
    def seed_tokens(self) -> np.ndarray:
        """The vector at each seed; float32 array, shape (n_seeds, n_dims)."""
        self.check(self.norms, "token norms")  # a layer with one broken patch isn't read at all
        corners = as_numpy(self.tokens[self.patches.seed_corners])
        weights = self.patches.seed_weights[..., None].astype(np.float32)
        return (corners * weights).sum(axis=1)

    @cached_property
    def maps(self) -> np.ndarray:
        """Cosine of each patch with each seed; float32 array, shape (n_seeds, n_patches).

        A token of length 0 (a rectified map may be silent somewhere) has cosine 0 with all, itself
        included, as in the published code (`torch.nn.functional.normalize`); they are counted.
        """
        products = as_numpy(self.tokens @ like(self.seed_tokens.T, self.tokens)).T
        lengths = np.linalg.norm(self.seed_tokens, axis=1)[:, None] * self.norms[None, :]
        maps = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return self.check(maps, "cosine similarities")

    @cached_property
    def mean_token(self) -> np.ndarray:
        """Mean over the patches that hold image; float32 array, shape (n_dims,)."""
        has_image = self.patches.has_image
        weights = like(has_image / has_image.sum(), self.tokens)
        return as_numpy(weights @ self.tokens)

    @cached_property
    def unit_tokens(self) -> Array:
        """Tokens divided by their lengths, those of length 0 left as they are."""
        lengths = np.where(self.norms > 0, self.norms, 1)
        return self.tokens / like(lengths[:, None], self.tokens)

    @cached_property
    def affinity(self) -> np.ndarray:
        """Cosine of all pairs of patches; float32 array, shape (n_patches, n_patches).

        Raises
        ------
        InputError
            There are too many patches for it to fit into memory (a CNN's first stages).
        """
        n_patches = len(self.norms)
        if n_patches > MAX_AFFINITY_PATCHES:
            raise InputError(
                f"{self.where}: {n_patches} patches have {n_patches**2 * 4 / 2**30:.0f} GiB of pairs; "
                "leave out what needs all pairs (--scene-pairs, spread steps), or choose deeper --layers"
            )
        return self.check(as_numpy(self.unit_tokens @ self.unit_tokens.T), "cosine similarities")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionInput:
    """What one block's attention of one image works on, as it uses it.

    Attributes
    ----------
    queries, keys : arrays or tensors, shape (n_heads, n_tokens, n_dims)
        After any norm and rotary embedding, prefix tokens first.
    scale
        Factor of the products.
    bias : array or tensor, shape (n_heads or 1, n_tokens, n_tokens), or None
        Added before the softmax.
    n_prefix
        Tokens before the patches.
    """

    queries: Array
    keys: Array
    scale: float
    bias: Array | None
    n_prefix: int


class AttentionView(View):
    """One block's attention of one image, with its trials.

    Parameters
    ----------
    given
        Queries and keys.
    patches, where
        As in `View`.
    """

    def __init__(self, given: AttentionInput, patches: PatchDisplay, *, where: str) -> None:
        super().__init__(patches, where=where)
        self._given = given

    @cached_property
    def maps(self) -> np.ndarray:
        """Mean attention over heads from each seed to each patch; shape (n_seeds, n_patches).

        The softmax runs over all tokens, so that a row adds up to 1 with the prefix tokens.
        """
        given, corners = self._given, self.patches.seed_corners
        places = given.n_prefix + corners.ravel()
        queries = as_float32(given.queries)[:, places]
        products = queries @ as_float32(given.keys).swapaxes(-1, -2) * given.scale
        if given.bias is not None:
            products = products + as_float32(given.bias)[..., places, :]
        rows = as_numpy(products)
        rows = np.exp(rows - rows.max(axis=-1, keepdims=True))
        rows = (rows / rows.sum(axis=-1, keepdims=True)).mean(axis=0)[:, given.n_prefix :]
        weights = self.patches.seed_weights[..., None].astype(np.float32)
        mixed = (rows.reshape(*corners.shape, -1) * weights).sum(axis=1)
        return self.check(mixed, "attention")


def as_float32(values: Array) -> Array:
    """Return values as float32, whatever the model computed in."""
    return values.astype(np.float32) if isinstance(values, np.ndarray) else values.float()


def as_numpy(values: Array) -> np.ndarray:
    """Return a small result as a numpy array, from whichever device."""
    return np.asarray(values if isinstance(values, np.ndarray) else values.cpu())


def like(values: np.ndarray, other: Array) -> Array:
    """Return float32 values as the kind of array, and on the device, that `other` is."""
    plain = np.ascontiguousarray(values, dtype=np.float32)
    return plain if isinstance(other, np.ndarray) else other.new_tensor(plain)
