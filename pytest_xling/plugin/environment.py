"""What else a run's numbers rest on: versions of libraries, and the state of the user's code."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["git_state", "library_versions"]

LIBRARIES = ("pytest-xling", "pytest", "openai", "xllamacpp", "tiktoken", "py3langid", "pycld2")


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that shape numbers."""
    versions = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            continue
    return versions


def git_state(folder: Path) -> str:
    """Return the commit of the repository around *folder*, with ``-dirty`` if it has changed."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(  # noqa: S603  a fixed command
            command, capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
