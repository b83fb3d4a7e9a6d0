"""The table of languages, read once from ``table.jsonl`` beside this file.

Where its columns come from:

- ``script_group``, ``family_group``: Tables 11 and 12 of Found in Translation (2025), as printed
  (they put German and Dutch under ``Rom``, Persian under ``IA``); empty for other languages.
- ``calmqa``: Table 10 of CaLMQA (Arora et al., 2024).
- ``resource_level``: CaLMQA tells only "high- and mid-resource" from "low-resource". Its low ones
  are ``low`` here. All others follow the taxonomy of Joshi et al. (2020): classes 5 and 4 are
  ``high``, 3 is ``mid``, 2 to 0 are ``low``; the two sources agree on all 23 languages.
- ``identifier``, ``identifiable``: CaLMQA §3.1, App. C.1 and its released code. Languages that
  paper does not have go to langid, which knows all of them.
- ``in_training_data``: **not from the paper**, which refers to the models' documentation; nor from
  the training data, which is not published. It says whether the documentation names the language:
  the model card of Aya Expanse (23 languages), of Llama 3.1 (8), of Qwen 2.5, and the list of
  the Gemini API at the time of Gemini 2.0 (38). Qwen's card names 13 of "over 29" languages, so
  for the rest the answer is None; the paper's split, "explicitly included" or not, counts them
  as out. Gemma 2 and GPT-4o publish no list and have no entry.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_xling.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Identifier",
    "Language",
    "ResourceLevel",
    "codes",
    "find",
    "languages",
    "named",
    "names",
    "training_languages",
]

Identifier: TypeAlias = Literal["cld2", "langid"]
ResourceLevel: TypeAlias = Literal["high", "mid", "low"]

_TABLE = Path(__file__).with_name("table.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language; the module's docstring says where each column comes from."""

    code: str
    """BCP 47, the shortest form: ``he``, never ``iw``."""
    aliases: tuple[str, ...]
    """Lower case: the English name, other codes (``iw``, ``heb``, ``zh-cn``), other names."""
    english_name: str
    native_name: str
    script: str
    """ISO 15924, of the script our papers' data is written in."""
    script_group: str
    """``Latin``, ``Indic``, ``PArb``, ``Oth1`` or empty."""
    family_group: str
    """``Rom``, ``Slav``, ``IA``, ``Drav``, ``Oth2`` or empty."""
    in_training_data: Mapping[str, bool | None] = field(hash=False)
    """Model family to whether its documentation names this language; None where it is unclear."""
    resource_level: ResourceLevel
    calmqa: bool
    found_in_translation: bool
    direction: Literal["ltr", "rtl"]
    identifier: Identifier
    """Which identifier decides first whether a text is in this language."""
    identifiable: bool
    """Whether that identifier can be trusted on this language at all."""
    close: tuple[str, ...]
    """Codes of languages that no identifier tells from this one by a line of text."""


@cache
def languages() -> tuple[Language, ...]:
    """Return all languages, sorted by code."""
    with _TABLE.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return tuple(
        Language(**{**row, "aliases": tuple(row["aliases"]), "close": tuple(row["close"])})
        for row in rows
    )


@cache
def codes() -> tuple[str, ...]:
    """Return the codes of all languages, sorted."""
    return tuple(language.code for language in languages())


def names(code: str) -> tuple[str, ...]:
    """Return what the language with this code or alias is called: in English, then in itself.

    Raises:
        ConfigError: no such language.
    """
    language = find(code)
    return tuple(dict.fromkeys((language.english_name, language.native_name)))


def named(code: str) -> str:
    """Return a language's English name with its code; the code alone where we have no such one."""
    try:
        return f"{find(code).english_name} ({code})"
    except ConfigError:
        return repr(code)


def find(code_or_alias: str) -> Language:
    """Return the language of a code, an alias or a name; case and ``_`` for ``-`` do not matter.

    Raises:
        ConfigError: no such language; says what is close, or else what there is.
    """
    spelling = _normalise(code_or_alias)
    known = _spellings()
    if spelling in known:
        return known[spelling]
    advice = did_you_mean(spelling, known)
    base = spelling.partition("-")[0]
    if base in known:  # a region or script we have no data for: es-ar, zh-tw
        advice = f" Did you mean {known[base].code!r}?"
    if not advice:
        advice = f" Known, by these codes or by name: {', '.join(codes())}"
    msg = f"unknown language {code_or_alias!r}.{advice}"
    raise ConfigError(msg)


def training_languages(text: str) -> frozenset[str]:
    """Return the codes of the languages that a model was trained on.

    Args:
        text: languages, or families of models whose documentation names them, separated by commas:
            ``en,de,hi`` or ``llama-3.1``.

    Raises:
        ConfigError: names what is neither.
    """
    families = {family for language in languages() for family in language.in_training_data}
    named: set[str] = set()
    for part in text.split(","):
        family = _normalise(part)
        if family in families:
            named.update(entry.code for entry in languages() if entry.in_training_data.get(family))
        elif family in _spellings():
            named.add(find(part).code)
        else:
            msg = (
                f"unknown language or family of models {part!r}."
                f"{did_you_mean(family, [*families, *_spellings()])} Languages go by code or name; "
                f"the families are: {', '.join(sorted(families))}"
            )
            raise ConfigError(msg)
    return frozenset(named)


def _normalise(spelling: str) -> str:
    return spelling.strip().casefold().replace("_", "-")


@cache
def _spellings() -> Mapping[str, Language]:
    """Return every accepted spelling with its language; codes win over names."""
    by_spelling: dict[str, Language] = {}
    for language in languages():
        for spelling in (*language.aliases, language.english_name, language.native_name):
            by_spelling.setdefault(_normalise(spelling), language)
    by_spelling.update((language.code, language) for language in languages())
    return by_spelling
