"""Languages: codes, names, scripts, who identifies them, and how the papers group them."""

from __future__ import annotations

from pytest_xling.languages._find import (
    declare,
    declared,
    find,
    identified_by_declaration,
    named,
    names,
    private_code,
    require_language,
    script_code,
    script_name,
    training_languages,
)
from pytest_xling.languages._language import (
    Identifier,
    Language,
    Measured,
    ResourceLevel,
    direction_of,
)
from pytest_xling.languages._table import codes, languages, measured
from pytest_xling.languages._translation_codes import (
    TranslationFamily,
    languages_named,
    translation_code,
    translation_languages,
)

__all__ = [
    "Identifier",
    "Language",
    "Measured",
    "ResourceLevel",
    "TranslationFamily",
    "codes",
    "declare",
    "declared",
    "direction_of",
    "find",
    "identified_by_declaration",
    "languages",
    "languages_named",
    "measured",
    "named",
    "names",
    "private_code",
    "require_language",
    "script_code",
    "script_name",
    "training_languages",
    "translation_code",
    "translation_languages",
]
