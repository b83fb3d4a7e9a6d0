"""Where large files made once are kept between runs."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

_NAME = "pytest-xling"


def cache_folder() -> Path:
    """Return this user's cache folder for the project; it need not exist yet.

    ``XDG_CACHE_HOME`` says where caches are on every system; otherwise the system's own place.
    """
    if caches := os.environ.get("XDG_CACHE_HOME"):
        return Path(caches) / _NAME
    return user_cache_path(_NAME, appauthor=False)
