"""Made scenes: exact masks, natural spectra, and parameters that do what they say."""

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

from stimuli.errors import InputError
from stimuli.painting import make_noise_field
from stimuli.procedural import DEMO_SCENES, SceneDesign, generate_scene, generate_scenes
from stimuli.scenes import check_scene


def make(change=None, *, seed=3):
    design = replace(DEMO_SCENES, **(change or {}))
    return generate_scene(design, scene_id="s", rng=np.random.default_rng(seed))


def spectral_slope(grey):
    """Slope of log amplitude against log frequency, rings of the 2-D spectrum."""
    window = np.outer(np.hanning(grey.shape[0]), np.hanning(grey.shape[1]))
    amplitude = np.abs(np.fft.fft2((grey - grey.mean()) * window))
    fy, fx = np.fft.fftfreq(grey.shape[0])[:, None], np.fft.fftfreq(grey.shape[1])
    frequency = np.hypot(fy, fx)
    edges = np.geomspace(0.02, 0.35, 10)
    rings = [(frequency >= a) & (frequency < b) for a, b in pairwise(edges)]
    middles = np.sqrt(edges[1:] * edges[:-1])
    return np.polyfit(np.log(middles), [np.log(amplitude[r].mean()) for r in rings], 1)[0]


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5])
def test_a_texture_has_the_spectrum_that_was_asked_for(exponent, rng):
    field = make_noise_field((256, 256), exponent=exponent, rng=rng)
    assert field.mean() == pytest.approx(0, abs=1e-3)
    assert field.std() == pytest.approx(1, abs=1e-3)
    assert spectral_slope(field) == pytest.approx(-exponent, abs=0.12)


def test_a_made_scene_has_a_natural_spectrum():
    slopes = [spectral_slope(make(seed=k).pixels.mean(axis=2)) for k in range(4)]
    assert -1.45 < np.mean(slopes) < -0.8  # photographs: about -1.2 to -0.8 (Field 1987)


def test_every_object_shows_and_depth_is_its_number():
    scene = make()
    check_scene(scene)
    assert [item.depth for item in scene.objects] == [item.object_id for item in scene.objects]
    assert [item.is_thing for item in scene.objects] == [False] + [True] * (len(scene.objects) - 1)


def test_the_number_of_objects_and_clutter_are_parameters():
    bare = make({"n_objects": 0, "n_clutter": 0, "central_radius_px": 0.0})
    assert np.unique(bare.labels).tolist() == [1]
    one = make({"n_objects": 0, "n_clutter": 0})
    assert len(one.objects) == 2
    assert len(make({"n_clutter": 60}).objects) > len(make({"n_clutter": 0}).objects) + 20


def test_an_objects_pixels_are_where_its_paint_is():
    """Objects of one flat colour on another: the map is the picture."""
    flat = {"texture_contrast": 0.0, "shading": 0.0, "shadow": 0.0, "n_clutter": 0}
    scene = make(flat)
    for item in scene.objects:
        colours = np.unique(scene.pixels[scene.labels == item.object_id], axis=0)
        assert len(colours) == 1


def mean_difference(scene):
    """Mean distance between objects' mean colours."""
    means = np.array(
        [scene.pixels[scene.labels == item.object_id].mean(axis=0) for item in scene.objects]
    )
    return np.linalg.norm(means[:, None] - means[None], axis=2).mean()


def test_camouflage_takes_the_colour_differences_away():
    levels = [mean_difference(make({"camouflage": level})) for level in (0.0, 0.5, 1.0)]
    assert levels[0] > 1.3 * levels[1] > 1.3 * levels[2]


def test_shared_texture_gives_neighbours_one_look():
    own = mean_difference(make({"shared_texture": 0.0, "shading": 0.0, "shadow": 0.0}))
    shared = mean_difference(make({"shared_texture": 1.0, "shading": 0.0, "shadow": 0.0}))
    assert shared < own / 3


def test_shading_and_shadow_change_the_picture_and_not_the_map():
    plain, shaded = make({"shading": 0.0, "shadow": 0.0}), make()
    assert np.array_equal(plain.labels, shaded.labels)
    assert not np.array_equal(plain.pixels, shaded.pixels)


def test_scenes_of_a_series_do_not_depend_on_how_many_were_made():
    first = list(islice(generate_scenes(DEMO_SCENES, prefix="a", seed=1), 3))
    other = list(islice(generate_scenes(DEMO_SCENES, prefix="a", seed=2), 1))
    again = next(generate_scenes(DEMO_SCENES, prefix="a", seed=1))
    assert [scene.scene_id for scene in first] == ["a0001", "a0002", "a0003"]
    assert np.array_equal(first[0].pixels, again.pixels)
    assert not np.array_equal(first[0].pixels, other[0].pixels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"camouflage": 1.5}, "camouflage is 1.5; expected 0 to 1"),
        ({"min_radius_px": 80.0}, "expected 0 < min_radius_px"),
        ({"width_px": 8}, "at least 16 a side"),
    ],
)
def test_a_parameter_out_of_range_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        replace(DEMO_SCENES, **change)


def test_sizes_follow_the_power_law():
    """For density r^-3 between 10 and 20, the median is where 1/r^2 is halfway: 12.65."""
    from stimuli.procedural import _draw_radii

    design = SceneDesign(n_objects=4000, min_radius_px=10, max_radius_px=20)
    radii = _draw_radii(design, np.random.default_rng(0))
    assert np.median(radii) == pytest.approx(12.65, abs=0.15)
    flat = _draw_radii(replace(design, size_exponent=1.0), np.random.default_rng(0))
    assert np.median(flat) == pytest.approx(np.sqrt(200), abs=0.2)
