"""The languages this project knows: codes, names, and how the papers group them."""

from __future__ import annotations

from pytest_xling.languages._table import (
    Identifier,
    Language,
    ResourceLevel,
    codes,
    find,
    languages,
    names,
)

__all__ = ["Identifier", "Language", "ResourceLevel", "codes", "find", "languages", "names"]
