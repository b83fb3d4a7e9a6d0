"""How alike answers are as sentence embeddings (XLingEval §4.1.2, Eq. 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.interfaces.metric import Number, TextIn
from pytest_xling.records import AnswerSet, Reading
from pytest_xling.text.answer_text import needs_of, readable_or_why

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["CrossSimSent", "SimSent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SentenceSimilarity(Number[AnswerSet]):
    """How sentence embeddings are made.

    Attributes:
        text_in: ``native`` reads answers as they are, ``english`` their translations.
        encoder: gives one vector per text.
        device: ``auto``, ``cpu``, ``cuda`` or one of several such as ``cuda:1``.
    """

    bounds = (-1.0, 1.0)
    better = "higher"

    text_in: TextIn = "native"
    encoder: str = "embedded"
    device: str = "auto"

    @property
    def needs(self) -> tuple[str, ...]:
        """The translation, where texts are read in English."""
        return needs_of(self.text_in)

    def check(self) -> None:
        """Raise ConfigError where there is no such encoder, or an extra is missing."""
        from pytest_xling.encoders.opening import check_encoder  # noqa: PLC0415  as load

        check_encoder(self.encoder)

    def load(self) -> None:
        """Load the encoder."""
        _opened(self).load()

    def signed(self) -> Mapping[str, JsonValue]:
        """Return the encoder's signature.

        Raises:
            ConfigError: there is no such encoder.
        """
        return {"encoder": dict(_opened(self).signed())}

    def score(self, answers: Sequence[AnswerSet]) -> list[Reading]:
        """Return the mean cosine of each set, over all pairs or those with the pivot's answers."""
        pivot = self.unit == "pivot"
        read = [_texts(self, each, pivot=pivot) for each in answers]
        # Each text is embedded once, however many answers and sets it is in.
        distinct = list(
            dict.fromkeys(
                text
                for found in read
                if not isinstance(found, Reading)
                for side in found
                for text in side
            )
        )
        if not distinct:
            return [found for found in read if isinstance(found, Reading)]
        found_vectors = _opened(self).sentence_embeddings(distinct)
        vectors = dict(zip(distinct, found_vectors, strict=True))
        return [
            found
            if isinstance(found, Reading)
            else Reading(value=_mean_cosine(found, vectors, pivot=pivot))
            for found in read
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimSent(_SentenceSimilarity):
    """The mean cosine over all pairs of the answers to a question in one language."""

    name = "sim_sent"
    version = "1"
    unit = "repeats"
    least = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossSimSent(_SentenceSimilarity):
    """The mean cosine over all pairs of an answer and one in the pivot language.

    ``text_in=native`` needs an encoder that knows both languages.
    """

    name = "cross_sim_sent"
    version = "1"
    unit = "pivot"


def _opened(metric: _SentenceSimilarity) -> Encoder:
    from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  imports numpy

    return open_encoder(metric.encoder, device=metric.device)


def _texts(
    metric: _SentenceSimilarity, each: AnswerSet, *, pivot: bool
) -> tuple[list[str], list[str]] | Reading:
    """Return the texts of a set and of its pivot, or why they are too few."""

    def texts(answers: tuple[Answer, ...], least: int) -> list[str] | Reading:
        read = readable_or_why(answers, text_in=metric.text_in, least=least)
        return read if isinstance(read, Reading) else [one.text or "" for one in read]

    own = texts(each.answers, 1 if pivot else 2)
    if isinstance(own, Reading):
        return own
    others = texts(each.pivot, 1) if pivot else []
    if isinstance(others, Reading):
        return Reading(value=None, reason=f"pivot: {others.reason}")
    return own, others


def _mean_cosine(
    texts: tuple[list[str], list[str]], vectors: dict[str, NDArray[np.float32]], *, pivot: bool
) -> float:
    import numpy as np  # noqa: PLC0415  loading the class must stay cheap

    own, others = (np.array([vectors[text] for text in side], dtype=np.float64) for side in texts)
    if pivot:
        mean = (own @ others.T).mean()
    else:
        mean = (own @ own.T)[np.triu_indices(len(own), k=1)].mean()
    # Vectors of length 1 in 32 bits may have a product of slightly more than 1.
    return float(np.clip(mean, -1.0, 1.0))
