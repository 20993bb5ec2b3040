"""Which code made a file: the commit and the versions of packages."""

import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def find_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of those of `packages` that are installed."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def find_commit() -> str | None:
    """Return the commit of the code, with ``+changes`` when files differ from it; None outside git."""
    root = Path(__file__).parents[1]
    try:
        if not _run_git(root, "ls-files", "objecthood.py"):
            return None  # installed into somebody else's repository
        head = _run_git(root, "rev-parse", "HEAD")
        return f"{head}+changes" if _run_git(root, "status", "--porcelain") else head
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None


def _run_git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.strip()
