"""The configuration: as published by default, and refused when it makes no sense."""

import json

import pytest

from experiment.config import PUBLISHED_SESSION, SessionConfig, read_config, tabulate_config
from stimuli.errors import InputError


def test_the_default_is_the_published_study():
    config = read_config(None)
    assert (config.fixation_s, config.dots_s, config.flicker_hz) == (0.5, 1.0, 5.0)
    assert (config.n_practice, config.n_blocks) == (32, 4)
    assert config.gaze_limit_deg == 1.0
    assert config.dot_style.radius_px == 8


def test_a_file_changes_what_it_names_and_nothing_else(tmp_path):
    path = tmp_path / "my session.json"
    path.write_text(
        json.dumps({"timeout_s": 3, "keys": ["d", "k"], "dot_style": {"radius_px": 6}}),
        encoding="utf-8",
    )
    config = read_config(path)
    assert (config.timeout_s, config.keys, config.dot_style.radius_px) == (3, ("d", "k"), 6)
    assert config.fixation_s == PUBLISHED_SESSION.fixation_s
    assert config.dot_style.core_radius_px == 5
    json.dumps(tabulate_config(config))


def test_an_unknown_setting_is_named_with_the_known_ones(tmp_path):
    path = tmp_path / "c.json"
    path.write_text('{"time_out_s": 3}', encoding="utf-8")
    with pytest.raises(InputError, match=r"c\.json: no setting 'time_out_s'; known: .*timeout_s"):
        read_config(path)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"fixation_s": 0}, "fixation_s is 0; expected a number above 0"),
        ({"timeout_s": "5"}, "timeout_s is '5'"),
        ({"timeout_s": float("nan")}, "timeout_s is nan"),
        ({"n_blocks": 2.5}, "n_blocks is 2.5; expected a whole number"),
        ({"inter_trial_s": -1}, "inter_trial_s is -1; expected 0 or more"),
        ({"keys": ("f", "f")}, "all different"),
        ({"keys": ("f", "escape")}, "all different"),
        ({"keys": ("f", "j", "k")}, "expected two response keys"),
        ({"gamepad_buttons": (1, 1)}, "expected two different buttons"),
        ({"repeat_outcomes": ("gazebreak",)}, "repeat_outcomes holds 'gazebreak'"),
        ({"tone_outcomes": ("error",)}, "tone_outcomes holds 'error'"),
        ({"practice_criterion": 1.2}, "practice_criterion is 1.2"),
        ({"dropped_frame_ratio": 1.0}, "dropped_frame_ratio is 1.0"),
    ],
)
def test_impossible_settings_are_refused(fault, message):
    with pytest.raises(InputError, match=message):
        SessionConfig(**fault)


def test_response_keys_are_the_gamepad_s_buttons_when_there_is_one():
    assert SessionConfig().response_keys == ("f", "j")
    assert SessionConfig(gamepad_buttons=(4, 5)).response_keys == ("button4", "button5")
