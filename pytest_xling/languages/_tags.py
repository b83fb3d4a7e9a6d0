"""Languages that no file of ours has: every valid BCP 47 tag, by the data of CLDR and IANA.

Names, likely scripts and which tags are valid come from langcodes and language_data; names of
languages in themselves, and those that people may have meant, from Babel. Loading these takes a
quarter of a second, so this module is imported when such a language is named.

A tag goes by its shortest form (CLDR's likely subtags): ``sv-Latn-SE`` is ``sv``, ``zh-Hant`` is
``zh-TW``. What is left of script, region and variant makes a language of its own: ``sr-Latn``,
``es-AR``. It is identified as its base, where both are written in one script.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from babel import Locale, UnknownLocaleError
from langcodes import Language as Tag
from langcodes import standardize_tag
from langcodes.data_dicts import ALL_SCRIPTS, LIKELY_SUBTAGS
from langcodes.tag_parser import LanguageTagError
from language_data.names import load_trie, normalize_name
from language_data.util import data_filename

from pytest_xling.errors import did_you_mean
from pytest_xling.languages._language import Language, direction_of
from pytest_xling.languages._table import (
    OTHER_FAMILY,
    OTHERS_IN_TRAINING_DATA,
    families,
    languages,
    measured,
    normalise,
    spellings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.languages._language import Measured

_NO_LANGUAGE: Final = frozenset({"all", "mis", "mul", "und", "zxx"})
"""Tags for several languages or none; ``all`` means that in every file and option of ours, and not
Allar."""
_PRIVATE_USE: Final = range(int("qaa", 36), int("qtz", 36) + 1)
_CODE: Final = 3
"""Two or three letters are a code, and no name to have been misspelt."""
_KEPT: Final = frozenset({"pt-BR", "zh-TW"})
"""Tags that are not shortened. CLDR takes ``pt`` for Brazil's, and those who ask in both standards
want both; ``zh-Hant`` means this ``zh-TW``."""
_IDENTIFIED_AS: Final = {"ckb": "ku", "fil": "tl"}
"""What identifiers call a language by another code than ours."""
_WITHOUT_DATA: Final = "Latn"
"""The script of a language that CLDR knows nothing of."""


def by_tag(text: str) -> Language | None:
    """Return the language of a BCP 47 tag; None where it is none, or for private use."""
    tag = _parsed(text)
    if tag is None or is_private(tag.language or "") or tag.private:
        return None
    code = _shortest(tag)
    return spellings().get(normalise(code)) or _described(code)


def by_name(text: str) -> Language | None:
    """Return the language that is called so in any language; None where none is."""
    name = normalize_name(text)
    names = _names()
    return by_tag(names[name][0].decode()) if name in names else None


def is_private(code: str) -> bool:
    """Tell whether *code* is one that everybody may use for a language of their own."""
    three = len(code) == _CODE and code.isascii() and code.isalpha()
    return code.startswith("x-") or (three and int(code, 36) in _PRIVATE_USE)


def is_tag(text: str) -> bool:
    """Tell whether *text* is a valid tag of a language, be it for private use."""
    return _parsed(text) is not None


def script_named(text: str) -> str | None:
    """Return the ISO 15924 code that *text* is, in any case, or names; None where it is none."""
    if text.title() in ALL_SCRIPTS:
        return text.title()
    try:
        return Tag.find_name("script", text, "en").script
    except LookupError:
        return None


def script_name(script: str) -> str:
    """Return what a script, by its ISO 15924 code, is called in English."""
    name: str = Locale("en").scripts.get(script, script)
    return name


def advice(spelling: str) -> str:
    """Say what may have been meant by what is no language, or else what is one."""
    head, _, rest = spelling.partition("-")
    if spelling in _NO_LANGUAGE:
        return " That is no language of its own"
    if is_tag(spelling):
        return " It is for private use: say what it is below `languages:` in prompts.yaml"
    if rest and (base := by_tag(head)):
        return f" Did you mean {base.code!r}?"
    if (country := f"und-{spelling.upper()}") in LIKELY_SUBTAGS:
        return f" Did you mean {Tag.get(country).maximize().language!r}?"
    if len(spelling) > _CODE:
        english = map(normalise, Locale("en").languages.values())
        known = [name for name in (*spellings(), *english) if len(name) > _CODE]
        if close := did_you_mean(spelling, known):
            return close
    return (
        " Languages go by their BCP 47 tag, such as sv, sr-Latn or pt-BR, or by name; one of your "
        "own goes below `languages:` in prompts.yaml"
    )


def _parsed(text: str) -> Tag | None:
    """Read a valid tag of a language; None where it is none."""
    try:
        tag = Tag.get(standardize_tag(text, macro=True))
    except LanguageTagError:
        return None
    one = tag.language is not None and tag.language not in _NO_LANGUAGE
    return tag if one and tag.is_valid() else None


def _shortest(tag: Tag) -> str:
    """Return the shortest tag that means the same."""
    base = spellings().get(tag.language or "")
    language = base.code if base else tag.language
    full = Tag.make(language=language, script=tag.script, territory=tag.territory)
    meant = full.maximize()
    regional = Tag.make(language=language, territory=meant.territory)
    short = full
    if regional.to_tag() in _KEPT and regional.maximize() == meant and full.to_tag() != language:
        short = regional
    elif language in LIKELY_SUBTAGS:
        parts = ({}, {"territory": tag.territory}, {"script": tag.script})
        same = (Tag.make(language=language, **each) for each in parts)
        short = next((each for each in same if each.maximize() == meant), full)
    return Tag.make(**{**short.to_dict(), "variants": tag.variants}).to_tag()


@cache
def _described(code: str) -> Language:
    """Return what is known of a language by its shortest tag."""
    tag = Tag.get(code)
    language = tag.language or ""
    base = None if code == language else by_tag(language)
    known = language in LIKELY_SUBTAGS or tag.script
    script = (tag.maximize().script if known else None) or _WITHOUT_DATA
    english = tag.display_name()
    likely = base
    if base and base.script != script:  # sr-ME is identified as sr-Latn is
        written = _shortest(Tag.make(language=language, script=script))
        likely = None if written == code else by_tag(written)
    in_training_data = base.in_training_data if base else _in_training_data(code)
    described = {
        "code": code,
        "english_name": english,
        "native_name": _native_name(code) or english,
        "script": script,
        "direction": direction_of(script),
        "family": families().get(language, OTHER_FAMILY),
        "in_training_data": in_training_data,
        "resource_level": base.resource_level if base else None,
    }
    identified_as = base.identified_as if base else _IDENTIFIED_AS.get(code, code)
    row = measured().get(code)
    if row is not None:
        close = {*row.close, *([base.code] if base else [])}
        return Language(
            **described,  # type: ignore[arg-type]  # values of several types
            **_identification(english, row),
            identified_as=identified_as,
            close=tuple(sorted(close - {code})),
            measured=row,
        )
    why = f"no identifier has been measured on {english}: see docs/languages.md"
    return Language(
        **described,  # type: ignore[arg-type]  # as above
        identifier=likely.identifier if likely else "langid",
        identifiable=bool(likely and likely.identifiable),
        unidentified=likely.unidentified if likely else why,
        langid_misreads=likely.langid_misreads if likely else why,
        identified_as=identified_as,
        close=tuple(sorted({*likely.close, likely.code})) if likely else (),
    )


def _identification(name: str, row: Measured) -> dict[str, object]:
    """Return what follows from a measurement."""
    trusted = row.trusts(row.right)
    by = {"langid": "langid", "cld2": "CLD2"}[row.identifier]
    why = f"{name} cannot be identified reliably: {by} recognises {row.right} of {row.texts} texts"
    misread = f"langid recognises only {row.langid} of {row.texts} {name} texts"
    return {
        "identifier": row.identifier,
        "identifiable": trusted,
        "unidentified": "" if trusted else why,
        "langid_misreads": "" if row.trusts(row.langid) else misread,
    }


def _in_training_data(code: str) -> Mapping[str, bool | None]:
    """Return for each family of models whether its documentation names a language we lack.

    Where a list is open, as it is for some of the table's languages, nobody knows.
    """
    open_lists = {
        family for each in languages() for family, named in each.in_training_data.items()
        if named is None
    }
    return {
        family: None if family in open_lists else code in OTHERS_IN_TRAINING_DATA.get(family, ())
        for family in languages()[0].in_training_data
    }


def _native_name(code: str) -> str | None:
    try:
        return Locale.parse(code.replace("-", "_")).get_display_name()
    except (UnknownLocaleError, ValueError):
        return Tag.get(code).autonym()


@cache
def _names() -> Mapping[str, list[bytes]]:
    """Return the code of each name of a language, in any language."""
    names: Mapping[str, list[bytes]] = load_trie(data_filename("trie/und/name_to_language.marisa"))
    return names
