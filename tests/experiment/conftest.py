"""A virtual screen for tests that open a window."""

import os
import shutil
import subprocess

import pytest

from tests.experiment.displays import make_benchmark
from tests.experiment.driver import write_config, write_display


@pytest.fixture(scope="session")
def screen(tmp_path_factory):
    """Start a virtual screen; return the environment of programs that shall use it.

    HOME is a folder of the tests', since PsychoPy writes its preferences there.
    """
    program = shutil.which("Xvfb")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Xvfb is missing; apt-get install xvfb")
        pytest.skip("no Xvfb: apt-get install xvfb (see scripts/system_packages.sh)")
    command = [
        program,
        "-displayfd",
        "1",
        "-screen",
        "0",
        "1920x1080x24",
        "-nolisten",
        "tcp",
        "-noreset",
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        number = server.stdout.readline().strip()
        assert number, "Xvfb did not start"
        home = tmp_path_factory.mktemp("home")
        yield {
            **os.environ,
            "DISPLAY": f":{number}",
            "HOME": str(home),
            "OMP_NUM_THREADS": "1",
            "PYTHONWARNINGS": "default",
        }
    finally:
        server.terminate()
        server.wait(timeout=10)
        server.stdout.close()


@pytest.fixture
def bench(tmp_path):
    """Return a small benchmark's folder, in a path with a space."""
    return make_benchmark(tmp_path / "my bench").folder


@pytest.fixture
def lab(bench, screen):
    """Return the benchmark's folder, its displays file and configuration beside it."""
    write_display(bench.parent)
    write_config(bench.parent)
    return bench
