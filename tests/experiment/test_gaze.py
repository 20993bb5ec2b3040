"""Fixation within a limit."""

import pytest

from experiment.gaze import FixationLimit, FixationWatch

LIMIT = FixationLimit(x_px=100, y_px=50, radius_px=30, loss_s=0.2)


@pytest.mark.parametrize(
    ("gaze", "inside"),
    [
        ((100, 50), True),
        ((130, 50), True),
        ((130.1, 50), False),
        ((121, 71), True),
        ((122, 72), False),
        (None, False),
    ],
)
def test_inside_is_within_the_radius_border_included(gaze, inside):
    assert FixationWatch(LIMIT).is_inside(gaze) is inside


def test_a_sample_outside_breaks_at_once():
    assert FixationWatch(LIMIT).is_broken((200, 50), 0.0)
    assert not FixationWatch(LIMIT).is_broken((100, 50), 0.0)


def test_a_short_loss_is_no_break_and_each_loss_counts_anew():
    watch = FixationWatch(LIMIT)
    samples = [(None, 0.0), (None, 0.15), ((100, 50), 0.18), (None, 0.2), (None, 0.39)]
    assert [watch.is_broken(gaze, now_s) for gaze, now_s in samples] == [False] * 5
    assert watch.is_broken(None, 0.41)


def test_with_no_allowance_any_loss_breaks():
    watch = FixationWatch(FixationLimit(x_px=0, y_px=0, radius_px=1, loss_s=0))
    assert watch.is_broken(None, 3.0)
