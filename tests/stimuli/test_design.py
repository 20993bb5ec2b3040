"""Designs: named ones, files, and what is refused."""

import json
from dataclasses import replace

import pytest

from stimuli.design import DESIGNS, PUBLISHED, SMALLER, Design, read_design, write_design
from stimuli.errors import InputError


def test_the_default_is_the_published_design():
    assert read_design("default") == PUBLISHED == Design()
    low, high = (PUBLISHED.close_px + k * PUBLISHED.distance_tolerance_px for k in (-1, 1))
    assert (low, high) == (97, 112)
    assert PUBLISHED.close_px / PUBLISHED.px_per_degree == pytest.approx(3, abs=0.1)
    assert PUBLISHED.far_px / PUBLISHED.px_per_degree == pytest.approx(6, abs=0.1)


def test_the_smaller_design_is_as_the_documentation_says():
    assert (SMALLER.close_px, SMALLER.far_px, SMALLER.first_dot_within_px) == (60, 120, 60)
    assert SMALLER.second_object == "any"


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_a_written_design_reads_back(tmp_path, design):
    write_design(design, tmp_path / "design.json")
    assert read_design(str(tmp_path / "design.json")) == design


def test_what_a_file_leaves_out_is_as_published(tmp_path):
    path = tmp_path / "d.json"
    path.write_text('{"second_category": "same"}')
    assert read_design(str(path)) == replace(PUBLISHED, second_category="same")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"close": 3}, "no parameter 'close'; known: close_px"),
        ({"close_px": "3"}, "close_px is '3'; expected a number"),
        ({"close_px": True}, "close_px is True; expected a number"),
        ({"relation": 3}, "relation is 3; expected text"),
        ({"relation": "near"}, "relation is 'near'; expected one of 'touching'"),
        ({"match_px": 0}, "match_px is 0; expected a positive number"),
        ({"dot_radius_px": -1}, "dot_radius_px is -1"),
        ({"close_px": 20}, "one would cover the other"),
        ({"far_px": 110}, "overlap with a tolerance"),
        ({"search_step_px": 2.5}, "search_step_px is 2.5; expected a whole number"),
    ],
)
def test_a_bad_design_is_refused_with_its_file(tmp_path, content, message):
    path = tmp_path / "d.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message) as caught:
        read_design(str(path))
    assert str(path) in str(caught.value)


def test_a_name_that_is_neither_design_nor_file_is_refused():
    with pytest.raises(InputError, match="neither a file nor one of 'default'"):
        read_design("tiny")
