"""A page as PDF, through the Chromium that is installed, if one is."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from stimuli.errors import InputError
from stimuli.table_io import replacing

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge")
TIME_LIMIT_S = 120


def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def print_pdf(page: Path, pdf: Path, *, browser: str) -> None:
    """Print a self-contained HTML page as PDF, complete or not at all.

    Parameters
    ----------
    page, pdf
        From, to.
    browser
        As `find_chromium` returns it.

    Raises
    ------
    InputError
        The browser ends without a PDF; the message holds its last words.
    """
    with tempfile.TemporaryDirectory() as profile, replacing(pdf) as temporary:
        flags = ["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-pdf-header-footer"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium's sandbox refuses root
        command = [browser, *flags, f"--user-data-dir={profile}", f"--print-to-pdf={temporary}"]
        done = subprocess.run(  # noqa: S603 (a browser of this machine, on our own page)
            [*command, page.resolve().as_uri()],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
        if done.returncode != 0 or not temporary.read_bytes().startswith(b"%PDF"):
            said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
            raise InputError(
                f"{pdf}: {browser} made no PDF (exit code {done.returncode}; it said: {said[0]}); "
                f"open {page} and print it, or pass --no-pdf"
            )
