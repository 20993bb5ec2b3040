"""Contact sheets show the displays that the table says."""

from dataclasses import replace

import pytest

from stimuli.benchmark import Manifest
from stimuli.build import build_benchmark, read_benchmark_design
from stimuli.design import DEMO_DESIGN
from stimuli.dots import scale_dots
from stimuli.errors import InputError
from stimuli.images import load_image
from stimuli.preview import (
    FIRST_COLOUR,
    GAP_PX,
    SECOND_COLOUR,
    SheetStyle,
    choose_scenes,
    draw_scene,
    write_sheets,
)
from stimuli.procedural import DEMO_SCENES, generate_scenes

NATIVE = SheetStyle(panel_width_px=320, has_outlines=False, dot=scale_dots(4.0))


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return build_benchmark(
        generate_scenes(DEMO_SCENES, prefix="m", seed=1),
        tmp_path_factory.mktemp("preview") / "b",
        design=DEMO_DESIGN,
        seed=1,
        manifest=Manifest(name="m", version="1", source="t", licence="n"),
        max_scenes=3,
    ).benchmark


def test_at_native_size_the_dots_lie_on_the_tables_pixels(bench):
    scene_id = bench.trials["scene_id"].iloc[0]
    row = draw_scene(bench, scene_id, NATIVE)
    trials = bench.trials[bench.trials["scene_id"] == scene_id]
    for k, (_, trial) in enumerate(trials.iterrows()):
        left = k * (320 + 2 * GAP_PX) + GAP_PX
        panel = row[GAP_PX + NATIVE.caption_px : -GAP_PX, left : left + 320]
        for dot in (1, 2):
            y, x = int(trial[f"dot{dot}_y_px"]), int(trial[f"dot{dot}_x_px"])
            assert tuple(panel[y, x]) == (255, 255, 255)
            assert tuple(panel[y, x + 4]) == (255, 0, 0)


def test_outlines_have_the_colours_of_first_and_second_object(bench):
    style = SheetStyle(panel_width_px=320, dot=scale_dots(4.0))
    drawn = draw_scene(bench, bench.trials["scene_id"].iloc[0], style)
    different = drawn[:, 2 * (320 + 2 * GAP_PX) :]
    for colour in (FIRST_COLOUR, SECOND_COLOUR):
        assert (different == colour).all(axis=2).sum() > 50


def test_a_scene_without_an_image_is_drawn_grey(bench):
    trials = bench.trials.assign(image=None)
    row = draw_scene(replace(bench, trials=trials), bench.trials["scene_id"].iloc[0], NATIVE)
    assert tuple(row[-GAP_PX - 1, GAP_PX]) == (128, 128, 128)


def test_sheets_are_numbered_when_there_are_several(bench, tmp_path):
    ids = choose_scenes(bench, None)
    one = write_sheets(bench, tmp_path / "s.png", scene_ids=ids, scenes_per_sheet=9, style=NATIVE)
    assert [path.name for path in one] == ["s.png"]
    two = write_sheets(bench, tmp_path / "s.png", scene_ids=ids, scenes_per_sheet=2, style=NATIVE)
    assert [path.name for path in two] == ["s_01.png", "s_02.png"]
    first, second = (load_image(path) for path in two)
    assert first.width_px == 4 * (320 + 2 * GAP_PX)
    assert first.height_px == 2 * (240 + NATIVE.caption_px + 2 * GAP_PX)
    assert second.height_px == first.height_px // 2


def test_a_scene_that_is_not_there_is_refused(bench):
    with pytest.raises(InputError, match="no scene 'x' among its 3"):
        choose_scenes(bench, ["x"])


def test_the_design_of_a_benchmark_is_read_back(bench):
    assert read_benchmark_design(bench) == DEMO_DESIGN
