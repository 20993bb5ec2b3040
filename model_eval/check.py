"""Is a model read right? Checks of one model through its real preprocessing and token layout.

An image whose colours are its coordinates goes through the preprocessing and must come out where the
geometry says. Then single patches of a photograph-like image are changed, and the token that changes
most must be the one that a dot in that patch is read from: rows and columns swapped, prefix tokens
counted wrongly or a shifted grid can't pass. Two runs, and two batch sizes, must agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model_eval.card import Feature, ModelCard
from model_eval.preprocess import make_input
from model_eval.reduce import HIGH_NORM_RATIO
from model_eval.source import Array, FeatureSource, SourceImage
from model_eval.view import as_float32, as_numpy
from stimuli.errors import InputError
from stimuli.geometry import PatchGrid, find_patch, fit_image, parse_geometry

# Neither square nor a multiple of a usual patch, and small enough for a laptop.
WIDTH_PX, HEIGHT_PX = 330, 214
# The same image in another batch may differ by rounding, relative to the token's length.
BATCH_TOLERANCE = 1e-3
N_PLACES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """One check: its name, whether it passed (None: for information), and what was found."""

    name: str
    has_passed: bool | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """All checks of one model."""

    model: str
    lines: tuple[CheckLine, ...]

    @property
    def has_passed(self) -> bool:
        """Whether nothing failed."""
        return all(line.has_passed is not False for line in self.lines)


def check_model(
    source: FeatureSource, *, geometry: str = "pad", rng: np.random.Generator
) -> CheckReport:
    """Return what a model's preprocessing and token layout do, and whether they are right.

    Parameters
    ----------
    source
        A loaded model.
    geometry
        How images become its input.
    rng
        Draws the test image and the places.

    Raises
    ------
    InputError
        The model can't be read at all.
    """
    card = source.card
    grid = fit_image(
        parse_geometry(geometry), width_px=WIDTH_PX, height_px=HEIGHT_PX, needs=card.needs
    )
    photograph = make_photograph(rng)
    first = Feature(layer=card.layers[0].name, representation=card.layers[0].representations[0])
    last = Feature(layer=card.layers[-1].name, representation=card.layers[-1].representations[0])
    wanted = tuple(dict.fromkeys((first, last)))
    plain = _read(source, [photograph], grid=grid, wanted=wanted)
    lines = [_describe_layout(card, grid, plain[last][0]), _check_coordinates(card, grid)]
    numbers = _check_norms(plain[last][0], grid.at_stride(card.layer(last.layer).stride_px))
    if not numbers.has_passed:
        return CheckReport(model=card.name, lines=(*lines, numbers))
    lines += _check_places(source, photograph, grid, features=(first, last), rng=rng)
    lines += [
        numbers,
        _check_repetition(plain, _read(source, [photograph], grid=grid, wanted=wanted)),
        _check_batches(
            plain,
            _read(source, [photograph, photograph[::-1], photograph], grid=grid, wanted=wanted),
        ),
    ]
    return CheckReport(model=card.name, lines=tuple(lines))


def make_photograph(rng: np.random.Generator) -> np.ndarray:
    """Return coloured 1/f noise, uint8, shape (HEIGHT_PX, WIDTH_PX, 3): as smooth as photographs."""
    down, right = np.fft.fftfreq(HEIGHT_PX)[:, None], np.fft.fftfreq(WIDTH_PX)[None, :]
    frequency = np.maximum(np.hypot(down, right), 1 / WIDTH_PX)[..., None]
    spectrum = np.fft.fft2(rng.normal(size=(HEIGHT_PX, WIDTH_PX, 3)), axes=(0, 1)) / frequency
    noise = np.fft.ifft2(spectrum, axes=(0, 1)).real
    noise = (noise - noise.mean()) / noise.std()
    return np.clip(127 + 45 * noise, 0, 255).astype(np.uint8)


def _read(
    source: FeatureSource,
    pictures: Sequence[np.ndarray],
    *,
    grid: PatchGrid,
    wanted: Sequence[Feature],
) -> dict[Feature, np.ndarray]:
    """Read a batch: of each feature, float32, shape (n_images, n_patches, n_dims)."""
    found: dict[Feature, np.ndarray] = {}

    def emit(feature: Feature, tokens: Array) -> None:
        found[feature] = np.array(as_numpy(as_float32(tokens)))

    images = [
        SourceImage(name=f"check {k}", sha256="", pixels=np.ascontiguousarray(picture), grid=grid)
        for k, picture in enumerate(pictures)
    ]
    source.read(images, wanted, emit)
    return found


def _describe_layout(card: ModelCard, grid: PatchGrid, tokens: np.ndarray) -> CheckLine:
    layer = card.layers[-1]
    own = grid.at_stride(layer.stride_px)
    expected = own.n_patches
    detail = (
        f"{len(card.layers)} layers; last: stride {layer.stride_px} px, {own.n_rows} rows x "
        f"{own.n_columns} columns for {WIDTH_PX}x{HEIGHT_PX} px, {tokens.shape[1]} dimensions; "
        f"{'no tokens' if card.n_prefix is None else f'{card.n_prefix} prefix tokens'}; final norm: "
        f"{'read as tokens_normed' if 'tokens_normed' in layer.representations else 'none'}"
    )
    if len(tokens) != expected:
        detail = f"{len(tokens)} vectors, expected {expected}: {detail}"
    return CheckLine(name="layout", has_passed=len(tokens) == expected, detail=detail)


def _check_coordinates(card: ModelCard, grid: PatchGrid) -> CheckLine:
    """Send coordinates through the preprocessing and find them where the geometry says."""
    if card.preprocessing is None:
        return CheckLine(name="coordinates", has_passed=None, detail="reads pixels as they are")
    y, x = np.mgrid[:HEIGHT_PX, :WIDTH_PX]
    coded = np.stack([x * 255 / WIDTH_PX, y * 255 / HEIGHT_PX, np.full(x.shape, 128)], axis=-1)
    made = make_input(np.round(coded).astype(np.uint8), grid, card.preprocessing)
    mean, sd = (
        np.array(v)[:, None, None] for v in (card.preprocessing.mean, card.preprocessing.sd)
    )
    decoded = (made * sd + mean)[:2] * np.array([WIDTH_PX, HEIGHT_PX])[:, None, None]
    content = decoded[:, : grid.content_height_px, : grid.content_width_px]
    columns = (np.arange(grid.content_width_px) + 0.5) / grid.scale_x
    rows = (np.arange(grid.content_height_px) + 0.5) / grid.scale_y
    # A pixel's own coordinate is half a pixel before its centre.
    off_x = np.abs(content[0] + 0.5 - columns[None, :]).max()
    off_y = np.abs(content[1] + 0.5 - rows[:, None]).max()
    limit = 1.5 + 1 / min(grid.scale_x, grid.scale_y)
    return CheckLine(
        name="coordinates",
        has_passed=bool(max(off_x, off_y) <= limit),
        detail=f"largest shift by preprocessing: {off_x:.2f} px in x, {off_y:.2f} px in y "
        f"(rounding allows {limit:.1f})",
    )


def _check_places(
    source: FeatureSource,
    photograph: np.ndarray,
    grid: PatchGrid,
    *,
    features: tuple[Feature, Feature],
    rng: np.random.Generator,
) -> list[CheckLine]:
    """Change single patches and see which tokens change."""
    first, last = features
    places = _choose_places(grid, rng)
    before = _read(source, [photograph], grid=grid, wanted=features)
    misses, offsets = [], []
    for place in places:
        after = _read(source, [_change_patch(photograph, grid, place)], grid=grid, wanted=features)
        own = grid.at_stride(source.card.layer(first.layer).stride_px)
        changed = np.linalg.norm(after[first][0] - before[first][0], axis=1)
        found = int(changed.argmax())
        if found not in _patches_of_cell(own, grid, place):
            misses.append(
                f"dot at ({place[0]:.0f}, {place[1]:.0f}) px: layer {first.layer}, patch {found}"
            )
        offsets.append(
            _measure_offset(source.card, last, before=before, after=after, place=place, grid=grid)
        )
    line = CheckLine(
        name="dots on their patches",
        has_passed=not misses,
        detail=f"{len(places) - len(misses)} of {len(places)} dots"
        + "".join(f"; {m}" for m in misses),
    )
    if source.card.n_prefix is not None:
        return [line]
    right, down = np.median(np.array(offsets), axis=0)
    detail = (
        f"a change shows up {right:+.1f} px to the right and {down:+.1f} px below, in the middle, of "
        f"where the geometry has it (layer {last.layer}, stride {source.card.layer(last.layer).stride_px} px)"
    )
    return [line, CheckLine(name="receptive field centre", has_passed=None, detail=detail)]


def _choose_places(grid: PatchGrid, rng: np.random.Generator) -> np.ndarray:
    """Return the middles of some patches that are all image, image pixels, shape (n, 2)."""
    n_columns = max(1, grid.content_width_px // grid.stride_px)
    n_rows = max(1, grid.content_height_px // grid.stride_px)
    corners = [(0, 0), (n_columns - 1, 0), (0, n_rows - 1), (n_columns - 1, n_rows - 1)]
    inside = rng.integers(0, [n_columns, n_rows], size=(N_PLACES - len(corners), 2)).tolist()
    cells = np.array(list(dict.fromkeys([*corners, *map(tuple, inside)])), dtype=float)
    return (cells + 0.5) * grid.stride_px / [grid.scale_x, grid.scale_y]


def _change_patch(photograph: np.ndarray, grid: PatchGrid, place: np.ndarray) -> np.ndarray:
    """Return the image with the coarsest patch around a place inverted."""
    x, y = place
    changed = photograph.copy()
    half_x, half_y = (grid.stride_px / 2 / s for s in (grid.scale_x, grid.scale_y))
    rows = slice(max(0, round(y - half_y)), round(y + half_y))
    columns = slice(max(0, round(x - half_x)), round(x + half_x))
    changed[rows, columns] = 255 - changed[rows, columns]
    return changed


def _patches_of_cell(own: PatchGrid, grid: PatchGrid, place: np.ndarray) -> set[int]:
    """Return the patches of a layer's grid that lie in the coarsest patch around a place."""
    cell = int(find_patch(grid, x_px=place[:1], y_px=place[1:])[0])
    ratio = grid.stride_px // own.stride_px
    row, column = divmod(cell, grid.n_columns)
    return {
        (row * ratio + i) * own.n_columns + column * ratio + j
        for i in range(ratio)
        for j in range(ratio)
    }


def _measure_offset(
    card: ModelCard,
    feature: Feature,
    *,
    before: dict[Feature, np.ndarray],
    after: dict[Feature, np.ndarray],
    place: np.ndarray,
    grid: PatchGrid,
) -> tuple[float, float]:
    """Return how far, in input pixels, the middle of the change lies from the changed patch."""
    own = grid.at_stride(card.layer(feature.layer).stride_px)
    weight = ((after[feature][0] - before[feature][0]) ** 2).sum(axis=1)
    rows, columns = np.divmod(np.arange(own.n_patches), own.n_columns)
    middle_x = ((columns + 0.5) * own.stride_px * weight).sum() / weight.sum()
    middle_y = ((rows + 0.5) * own.stride_px * weight).sum() / weight.sum()
    return middle_x - place[0] * grid.scale_x, middle_y - place[1] * grid.scale_y


def _check_norms(tokens: np.ndarray, grid: PatchGrid) -> CheckLine:
    if not np.isfinite(tokens).all():
        return CheckLine(
            name="numbers",
            has_passed=False,
            detail="some tokens aren't finite; use --dtype float32",
        )
    norms = np.linalg.norm(tokens, axis=1).reshape(grid.n_rows, grid.n_columns)
    share = float((norms > HIGH_NORM_RATIO * np.median(norms)).mean())
    return CheckLine(
        name="numbers",
        has_passed=True,
        detail=f"all finite, read as float32; median length {np.median(norms):.3g}; {share:.1%} of the "
        f"last layer's patches longer than {HIGH_NORM_RATIO:g} times that; {(norms == 0).mean():.1%} silent",
    )


def _check_repetition(
    first: dict[Feature, np.ndarray], second: dict[Feature, np.ndarray]
) -> CheckLine:
    is_same = all(np.array_equal(first[feature], second[feature]) for feature in first)
    return CheckLine(
        name="two runs",
        has_passed=is_same,
        detail="the same, bit for bit" if is_same else "differ: dropout or other randomness is on",
    )


def _check_batches(alone: dict[Feature, np.ndarray], batch: dict[Feature, np.ndarray]) -> CheckLine:
    off = max(
        float(
            np.linalg.norm(batch[feature][[0, 2]] - tokens, axis=2).max()
            / np.linalg.norm(tokens, axis=2).max()
        )
        for feature, tokens in alone.items()
    )
    return CheckLine(
        name="batches of 1 and 3",
        has_passed=off <= BATCH_TOLERANCE,
        detail=f"largest difference {off:.1e} of the longest token (up to {BATCH_TOLERANCE:g} is rounding)",
    )


def raise_if_failed(report: CheckReport) -> None:
    """Raise when a check failed.

    Raises
    ------
    InputError
        Names the checks.
    """
    failed: list[Any] = [line.name for line in report.lines if line.has_passed is False]
    if failed:
        raise InputError(f"{report.model}: failed: {', '.join(failed)}; don't trust its readouts")
