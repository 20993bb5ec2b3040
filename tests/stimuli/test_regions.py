"""Where a dot fits and which objects meet, against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stimuli.regions import count_contacts, find_fitting_labels

MAPS = arrays(
    np.int16,
    st.tuples(st.integers(3, 14), st.integers(3, 14)),
    elements=st.sampled_from([0, 1, 1, 1, 2]),
)


def fits_by_loop(labels, row, column, *, object_margin_px, image_margin_px):
    height, width = labels.shape
    x, y = column + 0.5, row + 0.5
    if min(x, y, width - x, height - y) < image_margin_px:
        return False
    reach = int(object_margin_px)
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            if (dx or dy) and dx**2 + dy**2 >= object_margin_px**2:
                continue
            if not (0 <= row + dy < height and 0 <= column + dx < width):
                return False
            if labels[row + dy, column + dx] != labels[row, column]:
                return False
    return True


@settings(max_examples=60, deadline=None)
@given(labels=MAPS, margin=st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.2, 9.0]))
def test_a_dot_fits_where_all_of_its_disc_shows_one_object(labels, margin):
    found = find_fitting_labels(labels, object_margin_px=margin, image_margin_px=margin)
    for (row, column), label in np.ndenumerate(labels):
        fits = fits_by_loop(labels, row, column, object_margin_px=margin, image_margin_px=margin)
        assert found[row, column] == (label if fits else 0)


def contacts_by_loop(labels, gap_px):
    n = labels.max() + 1
    counts = np.zeros((n, n), dtype=int)
    for lines in (labels, labels.T):
        for line in lines:
            for i in range(len(line)):
                for j in range(i + 1, min(i + gap_px + 2, len(line))):
                    a, b = line[i], line[j]
                    if a and b and a != b and not line[i + 1 : j].any():
                        counts[a, b] += 1
                        counts[b, a] += 1
    return counts


@settings(max_examples=60, deadline=None)
@given(labels=MAPS, gap_px=st.integers(0, 3))
def test_contacts_are_pairs_across_at_most_the_gap(labels, gap_px):
    assert np.array_equal(count_contacts(labels, gap_px=gap_px), contacts_by_loop(labels, gap_px))


@pytest.mark.parametrize(("gap_px", "n_pairs"), [(1, 0), (2, 1)])
def test_two_unlabelled_pixels_are_a_gap_of_two(gap_px, n_pairs):
    assert count_contacts(np.array([[1, 0, 0, 2]]), gap_px=gap_px)[1, 2] == n_pairs
