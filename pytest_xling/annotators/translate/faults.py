"""What a translator answered about one sentence, and what is wrong with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import regex

from pytest_xling.languages import find
from pytest_xling.text.display import printable
from pytest_xling.text.repeats import degenerate

if TYPE_CHECKING:
    from pytest_xling.records import Response

_FENCE_LINE = re.compile(r"^[ \t]*<<<(?:BEGIN|END)\b.*$", re.MULTILINE)
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
# Scripts in ISO 15924 that stand for several of Unicode's.
_SCRIPTS = {
    "Hans": ("Hani",),
    "Hant": ("Hani",),
    "Jpan": ("Hani", "Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
}
_LEAST_WORDS = 5
_ALIKE = 0.9
_SHOWN = 40


def translation(response: Response) -> str:
    """Return the translation in *response* as one line; "" where there is none."""
    return " ".join(_FENCE_LINE.sub("", response.text or "").split())


def fault(response: Response, *, sentence: str, source: str, target: str) -> str:
    """Say what is wrong with a translation of *sentence*; "" where nothing is seen to be.

    Args:
        response: of the translator.
        sentence: what it was to translate.
        source: code of the language *sentence* should be in.
        target: code of the language it was wanted in.
    """
    if response.stop_reason in {"content_filter", "refusal", "error"}:
        why = f": {printable(response.error)}" if response.error else ""
        return f"no translation ({response.stop_reason.replace('_', ' ')}){why}"
    text = translation(response)
    if wrong := degenerate(text, source=sentence):
        return wrong
    if response.stop_reason == "length":
        return "cut off at the token limit"
    return _untranslated(text, sentence=sentence, source=source, target=target)


def _untranslated(text: str, *, sentence: str, source: str, target: str) -> str:
    """Say how *text* is still in the language of *sentence*; "" where it is not seen to be.

    A sentence that was in the other language all along may stay as it is.
    """
    script = find(target).script
    if find(source).script != script:
        if _in_script(sentence, script) or _in_script(text, script):
            return ""
        return f"not in {find(target).english_name}: {printable(text, limit=_SHOWN)!r}"
    words = _WORD.findall(text.casefold())
    known = set(_WORD.findall(sentence.casefold()))
    if len(words) < _LEAST_WORDS or sum(word in known for word in words) < _ALIKE * len(words):
        return ""
    # Imported when needed, which is seldom: it loads scipy and a model.
    from pytest_xling.text import langid  # noqa: PLC0415

    (identified,) = langid.identify([text])
    return (
        ""
        if identified == find(target).identified_as
        else f"left untranslated: {printable(text, limit=_SHOWN)!r}"
    )


def _in_script(text: str, script: str) -> bool:
    """Tell whether at least half of the letters of *text* are in *script*; no letters are, too."""
    letters = _LETTER.findall(text)
    of_script = "".join(rf"\p{{Script={name}}}" for name in _SCRIPTS.get(script, (script,)))
    return 2 * len(regex.findall(f"[{of_script}]", "".join(letters))) >= len(letters)
