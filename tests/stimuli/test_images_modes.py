"""Every image mode loads as RGB or is refused by name; EXIF turns the image, and its mask along."""

import numpy as np
import pytest
from PIL import Image

from stimuli.errors import InputError
from stimuli.faults import FaultLog
from stimuli.images import load_image, load_mask, turn_upright
from stimuli.mask_fit import fit_mask

GREYS = np.arange(0, 96, dtype=np.uint8).reshape(8, 12)


def save(picture, folder, *, suffix=".png", **options):
    path = folder / f"picture{suffix}"
    picture.save(path, **options)
    return path


def palette_picture():
    picture = Image.fromarray(GREYS % 4).convert("P")
    picture.putpalette([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120])
    return picture


def with_alpha(mode):
    picture = Image.fromarray(GREYS).convert(mode)
    alpha = np.full(GREYS.shape, 255, dtype=np.uint8)
    alpha[0, 0] = 0
    picture.putalpha(Image.fromarray(alpha))
    return picture


@pytest.mark.parametrize(
    ("picture", "at_0_0", "at_1_1"),
    [
        (Image.fromarray(GREYS), (0, 0, 0), (13, 13, 13)),
        (Image.fromarray(GREYS).convert("RGB"), (0, 0, 0), (13, 13, 13)),
        (with_alpha("L"), (255, 255, 255), (13, 13, 13)),
        (with_alpha("RGB"), (255, 255, 255), (13, 13, 13)),
        (palette_picture(), (10, 20, 30), (40, 50, 60)),
        (Image.fromarray(GREYS > 0), (0, 0, 0), (255, 255, 255)),
        (Image.fromarray(GREYS.astype(np.uint16) * 257), (0, 0, 0), (13, 13, 13)),
    ],
    ids=["L", "RGB", "LA", "RGBA", "P", "1", "I;16"],
)
def test_each_mode_becomes_rgb(tmp_path, picture, at_0_0, at_1_1):
    pixels = load_image(save(picture, tmp_path)).pixels
    assert (pixels.shape, pixels.dtype) == ((8, 12, 3), np.uint8)
    assert tuple(pixels[0, 0]) == at_0_0
    assert tuple(pixels[1, 1]) == at_1_1


def test_cmyk_becomes_rgb(tmp_path):
    picture = Image.new("CMYK", (12, 8), (0, 0, 0, 0))
    pixels = load_image(save(picture, tmp_path, suffix=".jpg", quality=95)).pixels
    assert (pixels > 250).all()


@pytest.mark.parametrize(("mode", "suffix"), [("I", ".tif"), ("F", ".tif"), ("LAB", ".tif")])
def test_a_mode_without_one_way_to_rgb_is_refused_by_name(tmp_path, mode, suffix):
    path = save(Image.new(mode, (12, 8)), tmp_path, suffix=suffix)
    with pytest.raises(InputError, match=f"mode '{mode}'"):
        load_image(path)


def test_what_is_no_image_is_refused(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"no picture")
    with pytest.raises(InputError, match="not a readable image"):
        load_image(path)
    whole = save(Image.fromarray(GREYS), tmp_path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="not a readable image"):
        load_image(path)


def save_turned(folder, orientation):
    """A picture whose upright form is GREYS, stored as its EXIF orientation says."""
    undo = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 8, 7: 7, 8: 6}[orientation]
    stored = turn_upright(GREYS, undo)
    exif = Image.Exif()
    exif[0x0112] = orientation
    return save(Image.fromarray(stored), folder, exif=exif), stored


@pytest.mark.parametrize("orientation", range(1, 9))
def test_an_image_is_turned_upright_once(tmp_path, orientation):
    path, _ = save_turned(tmp_path, orientation)
    image = load_image(path)
    assert np.array_equal(image.pixels[..., 0], GREYS)
    assert image.orientation == orientation


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_mask_of_a_turned_image_is_turned_if_its_size_says_so(tmp_path, orientation, is_stored):
    path, stored = save_turned(tmp_path, orientation)
    mask = (stored if is_stored else GREYS).astype(np.int32)
    fitted = fit_mask(mask, load_image(path), path=path, faults=FaultLog())
    assert np.array_equal(fitted, GREYS)


@pytest.mark.parametrize("orientation", [2, 3, 4])
def test_where_the_size_does_not_tell_the_user_must(tmp_path, orientation):
    path, stored = save_turned(tmp_path, orientation)
    image = load_image(path)
    with pytest.raises(InputError, match=f"mask may be turned .*orientation {orientation}"):
        fit_mask(stored.astype(np.int32), image, path=path, faults=FaultLog())
    log = FaultLog(policy="skip")
    assert fit_mask(stored.astype(np.int32), image, path=path, faults=log) is None
    assert log.n_by_kind == {"mask may be turned": 1}
    for drawn_on, mask in (("stored", stored), ("upright", GREYS)):
        fitted = fit_mask(
            mask.astype(np.int32), image, path=path, faults=FaultLog(), drawn_on=drawn_on
        )
        assert np.array_equal(fitted, GREYS)


def test_nonsense_in_the_exif_orientation_counts_as_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 77
    image = load_image(save(Image.fromarray(GREYS), tmp_path, exif=exif))
    assert image.orientation == 1
    assert np.array_equal(image.pixels[..., 0], GREYS)


IDS = (np.arange(96).reshape(8, 12) % 3).astype(np.uint8)


def palette_mask():
    picture = Image.fromarray(IDS).convert("P")
    picture.putpalette([0, 0, 0, 200, 0, 0, 0, 200, 0])
    return picture


@pytest.mark.parametrize(
    "picture",
    [
        Image.fromarray(IDS),
        palette_mask(),
        Image.merge("LA", [Image.fromarray(IDS), Image.new("L", (12, 8), 90)]),
        Image.fromarray(IDS.astype(np.uint16)),
    ],
    ids=["L", "P", "LA", "I;16"],
)
def test_ids_come_out_of_every_kind_of_mask(tmp_path, picture):
    assert np.array_equal(load_mask(save(picture, tmp_path)), IDS)


def test_a_colour_mask_is_refused(tmp_path):
    with pytest.raises(InputError, match="one integer per pixel"):
        load_mask(save(Image.new("RGB", (12, 8)), tmp_path))
