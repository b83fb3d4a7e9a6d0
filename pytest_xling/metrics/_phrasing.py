"""What the metrics that look for phrases in an answer share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.metrics._readable import ENGLISH, readable
from pytest_xling.records import Reading
from pytest_xling.text.disclaimers import known_languages
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.interfaces.metric import Bounds, MetricKind, TextIn
    from pytest_xling.records import Answer

__all__ = ["PhraseMetric", "reading_of"]

_CLEAR = Reading(value=0.0)
_NO_LETTERS = Reading(value=None, reason="the answer holds no letters")
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseMetric:
    """Which text is read.

    Attributes:
        text_in: ``native`` reads answers as they are, ``english`` their translations.
    """

    kind: ClassVar[MetricKind] = "number"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    share: ClassVar[bool] = True
    libraries: ClassVar[tuple[str, ...]] = ()
    scores_missing: ClassVar[bool] = False

    text_in: TextIn = "native"

    @property
    def needs(self) -> tuple[str, ...]:
        """What language answers are in, and the translation where texts are read in English."""
        return ("language_id", "translate") if self.text_in == "english" else ("language_id",)


def reading_of(
    metric: PhraseMetric, answer: Answer, look: Callable[[str, Sequence[str]], str]
) -> Reading:
    """Return 1.0 with the sentence that *look* finds in *answer*, 0.0 where it finds none.

    It is looked for in the language the answer should be in, in the one it is in, and in English.
    Where none is found, and no phrases are known for the language the answer is in, the value is
    None.
    """
    read = readable(answer, text_in=metric.text_in)
    if read.text is None or not read.text.strip():
        return Reading(value=None, reason=f"no answer: {read.reason or 'empty'}")
    translated = read.language == ENGLISH and answer.language != ENGLISH
    seen: Any = answer.annotations["language_id"].value
    if not translated and seen["language"] is None:
        return _NO_LETTERS
    expected = find(read.language).code
    found = expected if translated else seen["language"]
    if sentence := look(read.text, (expected, found, ENGLISH)):
        return Reading(value=1.0, reason=f"says: {printable(sentence, limit=_SHOWN)}")
    # English can be told from any language, whoever decides in the end.
    if translated or found in known_languages() or seen["langid"] == ENGLISH:
        return _CLEAR
    return Reading(value=None, reason=f"no phrases are known for {_named(found)}")


def _named(code: str) -> str:
    try:
        return f"{find(code).english_name} ({code})"
    except ConfigError:
        return repr(code)
