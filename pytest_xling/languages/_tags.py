"""Languages that no file of ours has: every valid BCP 47 tag, by the data of CLDR and IANA.

Names, likely scripts and which tags are valid come from langcodes and language_data; names of
languages in themselves, and those that people may have meant, from Babel. Loading these takes a
quarter of a second, so this module is imported when such a language is named.

A tag goes by its shortest form (CLDR's likely subtags): ``sv-Latn-SE`` is ``sv``, ``zh-Hant`` is
``zh-TW``. What is left of script, region and variant makes a language of its own: ``sr-Latn``,
``es-AR``. It is identified as its base, where both are written in one script.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from babel import Locale, UnknownLocaleError
from langcodes import Language as Tag
from langcodes import standardize_tag
from langcodes.data_dicts import ALL_SCRIPTS, LIKELY_SUBTAGS, MACROLANGUAGES
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
_SCRIPTS: Final = {"azb": "Arab"}
"""Where CLDR says nothing of a language: not the script of its macrolanguage, and not Latin."""
_NO_REGION: Final = re.compile(r"AA|Q[M-Z]|X[A-Z]|ZZ")
"""For private use: mBART writes en_XX."""


def by_tag(text: str) -> Language | None:
    """Return the language of a BCP 47 tag; None where it is none, or for private use."""
    tag = _parsed(text)
    if tag is None or private_code(text):
        return None
    code = _shortest(tag)
    return spellings().get(normalise(code)) or _described(code)


def by_name(text: str) -> Language | None:
    """Return the language that is called so in any language; None where none is."""
    name, names = normalize_name(text), _names()
    if not name.isprintable() or name not in names:  # a NUL or a surrogate breaks the trie
        return None
    return by_tag(names[name][0].decode())


def private_code(text: str) -> str | None:
    """Return the tag of *text* if it is one that everybody may use for a language of their own."""
    tag = _parsed(text)
    language = (tag and tag.language) or ""
    three = len(language) == _CODE and int(language, 36) in _PRIVATE_USE
    return tag.to_tag() if tag and (tag.private or three or language.startswith("x-")) else None


def script_code(text: str) -> str | None:
    """Return the ISO 15924 code that *text* is, in whatever case; None where it is none."""
    return text.title() if text.title() in ALL_SCRIPTS else None


def advice(spelling: str) -> str:
    """Say what may have been meant by what is no language, or else what is one."""
    head, _, rest = spelling.partition("-")
    if spelling in _NO_LANGUAGE:
        return " That is no language of its own"
    if private_code(spelling):
        return " It is for private use: say what it is below `languages:` in prompts.yaml"
    if rest and (base := by_tag(head)):
        return f" Did you mean {base.code!r}?"
    if (country := f"und-{spelling.upper()}") in LIKELY_SUBTAGS:
        return f" Did you mean {Tag.get(country).maximize().language!r}?"
    if len(spelling) > _CODE:
        english = map(normalise, _english().values())
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
    if tag.language is None or tag.language in _NO_LANGUAGE or tag.extlangs:
        return None  # an extended language that is one has become the language itself: zh-yue
    # Babel's list is newer than langcodes': it has Toki Pona.
    known = tag.update_dict({"language": "en"}) if tag.language in _english() else tag
    return tag if known.is_valid() else None


def _shortest(tag: Tag) -> str:
    """Return the shortest tag that means the same."""
    alias = spellings().get(tag.language or "")
    language = alias.code if alias else tag.language
    region = None if _NO_REGION.fullmatch(tag.territory or "") else tag.territory
    full = _filled(Tag.make(language=language, script=tag.script, territory=region))
    regional = Tag.make(language=language, territory=full.territory)
    tries = (
        Tag.make(language=language),
        Tag.make(language=language, territory=region),
        Tag.make(language=language, script=tag.script),
        Tag.make(language=language, script=tag.script, territory=region),
    )
    kept = (region or tag.script) and regional.to_tag() in _KEPT and _filled(regional) == full
    short = regional if kept else next(each for each in tries if _filled(each) == full)
    return Tag.make(**{**short.to_dict(), "variants": tag.variants}).to_tag()


def _filled(tag: Tag) -> Tag:
    """Return a tag with its likely script and, where that is known, its likely region."""
    language = tag.language or ""
    if language in LIKELY_SUBTAGS:
        return tag.maximize()
    script = tag.script or _SCRIPTS.get(language)
    if script is None and language in MACROLANGUAGES:
        script = Tag.get(MACROLANGUAGES[language]).maximize().script
    return Tag.make(language=language, script=script or "Latn", territory=tag.territory)


@cache
def _described(code: str) -> Language:
    """Return what is known of a language by its shortest tag."""
    tag = Tag.get(code)
    language = tag.language or ""
    base = None if code == language else by_tag(language)
    script = _filled(tag).script or ""
    english = tag.display_name()
    kin = base
    if base and base.script != script:  # sr-ME is written and identified as sr-Latn is
        written = _shortest(Tag.make(language=language, script=script))
        kin = None if written == code else by_tag(written)
    in_training_data = base.in_training_data if base else _in_training_data(code)
    described = {
        "code": code,
        "english_name": english,
        "native_name": _native_name(code) or english,
        "script": script,
        "direction": direction_of(script),
        "family": _family(code),
        "in_training_data": in_training_data,
        "resource_level": base.resource_level if base else None,
        "identified_as": base.identified_as if base else _IDENTIFIED_AS.get(code, code),
        "base": kin.base if kin else code,
    }
    row = measured().get(code)
    if row is not None:
        mistaken = {other for other in row.confused if _family(other) == _family(code)}
        close = {*mistaken, *([base.code] if base else [])}
        identified = _identification(english, row)
    elif kin is not None:
        close = {*kin.close, kin.code}
        names = "identifier", "identifiable", "unidentified", "langid_misreads"
        identified = {name: getattr(kin, name) for name in names}
    else:
        close = set()
        why = f"no identifier has been measured on {english}: see docs/languages.md"
        identified = {"identifier": "langid", "identifiable": False}
        identified |= {"unidentified": why, "langid_misreads": why}
    return Language(
        **described,  # type: ignore[arg-type]  # values of several types
        **identified,  # type: ignore[arg-type]  # as above
        close=tuple(sorted(close - {code})),
        measured=row,
    )


def _family(code: str) -> str:
    return families().get(code.partition("-")[0], OTHER_FAMILY)


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
        family
        for each in languages()
        for family, named in each.in_training_data.items()
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
def _english() -> Mapping[str, str]:
    """Return the names in English that CLDR has, by code."""
    return dict(Locale("en").languages.items())


@cache
def _names() -> Mapping[str, list[bytes]]:
    """Return the code of each name of a language, in any language."""
    names: Mapping[str, list[bytes]] = load_trie(data_filename("trie/und/name_to_language.marisa"))
    return names
