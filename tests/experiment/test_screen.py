"""Displays, and where images lie on them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.screen import place_image, read_display
from stimuli.errors import InputError


@pytest.fixture
def crt():
    return read_display("adeli2023-crt")


def test_the_published_display_has_34_pixels_per_degree_and_30_degrees(crt):
    assert crt.px_per_degree == pytest.approx(34.2, abs=0.1)
    assert crt.width_px / crt.px_per_degree == pytest.approx(30, abs=0.1)


def test_degrees_at_57_cm_are_centimetres(crt):
    display = replace(crt, distance_cm=57.29, width_cm=40.0, width_px=4000)
    assert display.px_per_degree == pytest.approx(100, rel=1e-3)


def test_an_image_is_centred_at_its_own_aspect(crt):
    placement = place_image(640, 480, display=crt, image_px_per_degree=crt.px_per_degree)
    assert (placement.left_px, placement.top_px) == (192, 144)
    assert (placement.width_px, placement.height_px) == (640, 480)
    half = place_image(640, 480, display=crt, image_px_per_degree=2 * crt.px_per_degree)
    assert (half.width_px, half.height_px) == (320, 240)
    assert half.to_window(320, 240) == (512, 384)


@given(
    width=st.integers(50, 700),
    height=st.integers(50, 700),
    scale=st.floats(0.3, 1.0),
    x=st.floats(0, 1),
    y=st.floats(0, 1),
)
def test_a_place_in_the_image_keeps_its_share_of_width_and_height(width, height, scale, x, y):
    crt = read_display("adeli2023-crt")
    placement = place_image(
        width, height, display=crt, image_px_per_degree=crt.px_per_degree / scale
    )
    window_x, window_y = placement.to_window(x * width, y * height)
    assert (window_x - placement.left_px) / placement.width_px == pytest.approx(x)
    assert (window_y - placement.top_px) / placement.height_px == pytest.approx(y)


def test_an_image_larger_than_the_window_is_refused_with_the_remedy(crt):
    with pytest.raises(InputError, match=r"2000x100 px takes .* Sit further away"):
        place_image(2000, 100, display=crt, image_px_per_degree=crt.px_per_degree)


def write(tmp_path, text):
    path = tmp_path / "displays.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


ONE = (
    "labor-süd:\n  width_px: 800\n  height_px: 600\n  width_cm: 30\n"
    "  distance_cm: 60\n  refresh_hz: 60\n"
)


def test_the_only_display_of_a_file_needs_no_name(tmp_path):
    display = read_display(write(tmp_path, ONE))
    assert (display.name, display.screen, display.is_fullscreen) == ("labor-süd", 0, True)


def test_one_of_several_displays_must_be_named(tmp_path):
    path = write(tmp_path, ONE + ONE.replace("labor-süd", "b"))
    with pytest.raises(InputError, match=r"holds 2 displays .* --display-name"):
        read_display(path)
    assert read_display(path, name="b").name == "b"
    with pytest.raises(InputError, match="has no display 'c'"):
        read_display(path, name="c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not valid YAML"),
        ("", "expected names of displays"),
        ("a: 3", "display 'a' has no fields"),
        (ONE + "  refresh: 60\n", "no field 'refresh'"),
        (ONE.replace("  refresh_hz: 60\n", ""), "display 'labor-süd': .*refresh_hz"),
        (ONE.replace("width_cm: 30", "width_cm: 0"), "width_cm is 0; expected a number above 0"),
        (ONE.replace("width_cm: 30", "width_cm: wide"), "width_cm is 'wide'"),
        (ONE + "  screen: -1\n", "screen is -1; expected 0"),
    ],
)
def test_faulty_displays_are_refused_by_name(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_display(write(tmp_path, text))


def test_unknown_names_and_missing_files_are_refused():
    with pytest.raises(InputError, match="has no display 'nowhere'; it has 'adeli2023-crt'"):
        read_display("nowhere")
    with pytest.raises(InputError, match=r"nowhere\.yaml: no such file"):
        read_display("nowhere.yaml")
