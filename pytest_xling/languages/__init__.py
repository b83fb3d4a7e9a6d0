"""The languages this project knows: codes, names, and how the papers group them."""

from __future__ import annotations

from pytest_xling.languages._table import (
    Identifier,
    Language,
    ResourceLevel,
    codes,
    find,
    languages,
    named,
    names,
    training_languages,
)
from pytest_xling.languages._translation_codes import (
    TranslationFamily,
    languages_named,
    translation_code,
    translation_languages,
)

__all__ = [
    "Identifier",
    "Language",
    "ResourceLevel",
    "TranslationFamily",
    "codes",
    "find",
    "languages",
    "languages_named",
    "named",
    "names",
    "training_languages",
    "translation_code",
    "translation_languages",
]
