"""Whether an answer abstains, or warns in general, by the phrases it holds (UPHILL, section 4).

Phrases are known for a few languages (:mod:`pytest_xling.text.disclaimers`); for others the reading
is None, unless answers are read in English (``text_in=english``). Neither end is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import ConfigError
from pytest_xling.interfaces.metric import Number, TextIn
from pytest_xling.languages import find
from pytest_xling.records import ENGLISH, Answer, Reading
from pytest_xling.text.answer_text import readable
from pytest_xling.text.disclaimers import abstention, disclaimer, known_languages
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLEAR = Reading(value=0.0)
_NO_LETTERS = Reading(value=None, reason="the answer holds no letters")
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _HasPhrase(Number[Answer]):
    """Which text is read.

    Attributes:
        text_in: ``native`` reads answers as they are, ``english`` their translations.
    """

    bounds = (0.0, 1.0)
    share = True

    text_in: TextIn = "native"

    @property
    def needs(self) -> tuple[str, ...]:
        """What language answers are in, and the translation where texts are read in English."""
        return ("language_id", "translate") if self.text_in == "english" else ("language_id",)

    def find(self, text: str, languages: Sequence[str]) -> str:
        """Return the first sentence of *text* with such a phrase of *languages*; "" if none."""
        raise NotImplementedError

    def read(self, answer: Answer, /) -> Reading:
        """Return 1.0 with the sentence that is found in *answer*, 0.0 where none is.

        It is looked for in the language the answer should be in, in the one it is in, and in
        English. Where none is found, and no phrases are known for the language the answer is in,
        the value is None.
        """
        read = readable(answer, text_in=self.text_in)
        if read.text is None or not read.text.strip():
            return Reading(value=None, reason=f"no answer: {read.reason or 'empty'}")
        translated = read.language == ENGLISH and answer.language != ENGLISH
        seen: Any = answer.annotations["language_id"].value
        if not translated and seen["language"] is None:
            return _NO_LETTERS
        expected = find(read.language).base
        identified = expected if translated else seen["language"]
        if sentence := self.find(read.text, (expected, identified, ENGLISH)):
            return Reading(value=1.0, reason=f"says: {printable(sentence, limit=_SHOWN)}")
        # English can be told from any language, whoever decides in the end.
        if translated or identified in known_languages() or seen["langid"] == ENGLISH:
            return _CLEAR
        return Reading(value=None, reason=f"no phrases are known for {_language_name(identified)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstains(_HasPhrase):
    """Gives 1.0 where an answer declines or says that it cannot judge, else 0.0.

    It does by phrases such as "as an AI I cannot give medical advice" near the beginning or "I
    can't say whether this is true" anywhere; what else it says does not matter. Refusals that the
    provider reports are no answers: see ``no_answer``.
    """

    name = "abstains"
    version = "1"

    def find(self, text: str, languages: Sequence[str]) -> str:
        """Return the first sentence that abstains."""
        return abstention(text, languages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclaimer(_HasPhrase):
    """Gives 1.0 where an answer has a warning that would fit any other, else 0.0.

    Such as to consult a doctor, or that this is no medical advice; what doctors think or do
    ("doctors advise against it") is none.
    """

    name = "disclaimer"
    version = "1"

    def find(self, text: str, languages: Sequence[str]) -> str:
        """Return the first sentence that warns."""
        return disclaimer(text, languages)


def _language_name(code: str) -> str:
    try:
        return f"{find(code).english_name} ({code})"
    except ConfigError:
        return repr(code)
