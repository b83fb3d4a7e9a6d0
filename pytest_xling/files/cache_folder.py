"""Where large files made once are kept between runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Return this user's cache folder for the project; it need not exist yet."""
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        base = Path(chosen)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif local := os.environ.get("LOCALAPPDATA"):
        base = Path(local)
    else:
        base = Path.home() / ".cache"
    return base / "pytest-xling"
