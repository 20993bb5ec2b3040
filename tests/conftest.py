"""Fixtures that every folder's tests share."""

import os
from pathlib import Path

import numpy as np
import pytest

SHARED = Path(os.environ.get("OBJECTHOOD_SHARED", Path(__file__).parents[2] / "shared"))


def pytest_collection_modifyitems(items):
    """Skip tests of real data where it isn't; in CI its absence is a failure."""
    if SHARED.is_dir() or os.environ.get("CI") == "true":
        return
    reason = f"no real data at {SHARED}; set OBJECTHOOD_SHARED to its folder"
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real data; a test that uses it is marked `shared`."""
    assert SHARED.is_dir(), f"{SHARED} is missing; set OBJECTHOOD_SHARED"
    return SHARED


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a fresh generator with a fixed seed."""
    return np.random.default_rng(20260101)
