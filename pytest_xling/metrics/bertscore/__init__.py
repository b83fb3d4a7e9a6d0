"""How alike answers are token by token: BERTScore (Zhang et al. 2020; XLingEval §4.1.2).

Precision, recall and F1 are computed once for all metrics that show a part of them.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from pytest_xling.encoders.metric import EncoderMetric
from pytest_xling.encoders.opening import open_encoder
from pytest_xling.errors import ConfigError
from pytest_xling.keys import content_key
from pytest_xling.metrics.bertscore.baseline import (
    ANY,
    Baseline,
    given_baselines,
    published_baselines,
    published_file,
)
from pytest_xling.models.devices import choose_device
from pytest_xling.records import ENGLISH, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.encoders import Encoder
    from pytest_xling.interfaces.metric import Unit
    from pytest_xling.keys import JsonValue
    from pytest_xling.metrics.bertscore.means import Means, Texts
    from pytest_xling.records import AnswerSet

__all__ = ["MEANS", "BertScore", "BertScorePrecision", "BertScoreRecall", "CrossBertScore"]

Part: TypeAlias = Literal["precision", "recall", "f1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _BertScore(EncoderMetric):
    """How BERTScore is computed (Zhang et al. 2020), for all metrics that are part of it.

    Attributes:
        layer: of the encoder whose states are compared; None is the last one.
        idf: whether a token weighs the more, the fewer texts of the set it is in.
        rescale: whether values are rescaled linearly so that unrelated texts score about 0.
        baseline: where to find what unrelated texts score, as a file in bert-score's format;
            ``{language}`` in it stands for the language's code. None: the file bert-score has.
        quantized: whether the encoder may be less exact on a CPU to be faster: F1 within 0.001.
    """

    version = "1"
    bounds = (None, 1.0)
    better = "higher"
    unit: ClassVar[Unit] = "repeats"
    least = 2
    part: ClassVar[Part] = "f1"
    """Which of the three values it gives."""

    layer: int | None = None
    idf: bool = False
    rescale: bool = False
    baseline: str | None = None
    quantized: bool = False

    def __post_init__(self) -> None:
        """Raise ConfigError for an invalid parameter."""
        if self.layer is not None and (type(self.layer) is not int or self.layer < 0):
            msg = f"bertscore: layer must be a whole number from 0 (embeddings), not {self.layer!r}"
            raise ConfigError(msg)
        if self.baseline is not None and not self.rescale:
            msg = "bertscore: baseline is for rescaling; add rescale=true or leave it out"
            raise ConfigError(msg)

    def signed(self) -> Mapping[str, JsonValue]:
        """Return the encoder's signature, and the SHA-256 of the baselines by language.

        Raises:
            ConfigError: there is no such encoder, or no baseline for it.
        """
        signed: dict[str, JsonValue] = {"encoder": dict(self.open().signed())}
        if self.rescale:
            signed["baseline"] = {
                language: baseline.sha256 for language, baseline in _baselines(self).items()
            }
        return signed

    def open(self) -> Encoder:
        """Return the encoder; the same object each time in one process.

        Raises:
            ConfigError: there is no such encoder.
        """
        return open_encoder(self.encoder, device=self.device, quantized=self.quantized)

    def score(self, answers: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        texts: dict[int, Texts] = {}
        languages: dict[int, str] = {}
        readings: dict[int, Reading] = {}
        for place, each in enumerate(answers):
            readable = self._texts(each)
            if isinstance(readable, Reading):
                readings[place] = readable
            else:
                texts[place], languages[place] = readable
        means = dict(zip(texts, MEANS.of(self, list(texts.values())), strict=True))
        baselines = _baselines(self) if self.rescale else {}
        for place, mean in means.items():
            if isinstance(mean, str):
                readings[place] = Reading(value=None, reason=mean)
                continue
            value = getattr(mean, self.part)
            if self.rescale:
                baseline = baselines.get(ANY) or baselines.get(languages[place])
                if baseline is None:
                    reason = (
                        f"no baseline for {self.encoder} in {languages[place]!r} to rescale with"
                    )
                    readings[place] = Reading(value=None, reason=reason)
                    continue
                least_value = getattr(baseline, self.part)
                value = (value - least_value) / (1.0 - least_value)
            readings[place] = Reading(value=value)
        return [readings[place] for place in range(len(answers))]

    def _texts(self, each: AnswerSet) -> tuple[Texts, str] | Reading:
        """Return the texts of a set and their language, or why they are too few."""
        from pytest_xling.metrics.bertscore.means import Texts  # noqa: PLC0415  imports numpy

        sides = self.texts_or_why(each)
        if isinstance(sides, Reading):
            return sides
        own, pivot = (tuple((text.text or "").strip() for text in side) for side in sides)
        language = sides[0][0].language
        return Texts(texts=own, pivot=pivot if self.unit == "pivot" else None), language


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScore(_BertScore):
    """The mean F1 of BERTScore over all pairs of the answers to a question in one language.

    F1 is the harmonic mean of precision and recall of a pair; it is the same whichever answer is
    the candidate. XLingEval takes bert-base-uncased, its last layer, rescaled, in English:
    ``encoder=bert-base-uncased``, ``rescale=true``, ``text_in=english``.
    """

    name = "bertscore"


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScorePrecision(_BertScore):
    """The mean precision of BERTScore over all pairs of the answers to a question in one language.

    Of two answers the earlier repeat is the candidate and the later one the reference, as where
    the pairs i < j are given to bert-score. Both ways round precision and recall would be equal.
    """

    name = "bertscore_precision"
    part = "precision"


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScoreRecall(_BertScore):
    """The mean recall of BERTScore over all pairs of the answers to a question in one language.

    Of two answers the earlier repeat is the candidate and the later one the reference, as where
    the pairs i < j are given to bert-score. Both ways round precision and recall would be equal.
    """

    name = "bertscore_recall"
    part = "recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossBertScore(_BertScore):
    """The mean F1 of BERTScore over all pairs of an answer and one in the pivot language.

    Answers are candidates and those in the pivot language references. ``text_in=native`` needs an
    encoder that knows both languages.
    """

    name = "cross_bertscore"
    unit = "pivot"
    least = 1


def _baselines(metric: _BertScore) -> Mapping[str, Baseline]:
    """Return the baselines by language.

    Raises:
        ConfigError: there is none that *metric* could use.
    """
    if metric.baseline is not None:
        return given_baselines(metric.baseline, layer=metric.layer)
    across = metric.unit == "pivot" and metric.text_in == "native"
    model = metric.encoder.partition("@")[0]  # what follows is a revision of it
    published = {} if across else published_baselines(model, layer=metric.layer)
    if not published or (metric.text_in == "english" and ENGLISH not in published):
        what = "texts in two languages" if across else repr(metric.encoder)
        msg = (
            f"bertscore: rescale=true, but the package bert-score has no baseline for {what}. "
            "Set the parameter baseline to a file with a line LAYER,P,R,F and a line of numbers, "
            "the mean scores of unrelated texts; or leave rescale out"
        )
        # A directory may be called anything: it is for the user to say that it is that model.
        called = Path(metric.encoder).name
        if not across and published_baselines(called, layer=metric.layer):
            msg += f". If it is the model {called!r}, the file is {published_file(called)!r}"
        raise ConfigError(msg)
    return published


class _MeansCache:
    """Means of the last sets, so that precision, recall and F1 are computed once for all three."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._means: OrderedDict[bytes, Means | str] = OrderedDict()
        # Also one computation at a time: metrics may be scored on several threads, and each of
        # the three then finds what the first one computed.
        self._lock = Lock()

    def of(self, metric: _BertScore, sets: list[Texts]) -> list[Means | str]:
        """Return the means of *sets*, computing those that are new."""
        from pytest_xling.metrics.bertscore.means import means_of  # noqa: PLC0415  imports numpy

        parameters: list[JsonValue] = [
            metric.encoder,
            metric.device,
            metric.quantized,
            metric.layer,
            metric.idf,
        ]
        keys = [_key(parameters, each) for each in sets]
        with self._lock:
            new = {
                key: each for key, each in zip(keys, sets, strict=True) if key not in self._means
            }
            by_key = {key: self._means[key] for key in keys if key in self._means}
            if new:
                computed = means_of(
                    list(new.values()),
                    encoder=metric.open(),
                    layer=metric.layer,
                    idf=metric.idf,
                    device=choose_device(metric.device, quantized=metric.quantized),
                )
                by_key.update(zip(new, computed, strict=True))
                self._means.update(zip(new, computed, strict=True))
            while len(self._means) > self._limit:
                self._means.popitem(last=False)
        return [by_key[key] for key in keys]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._means.clear()


MEANS = _MeansCache(limit=1 << 14)


def _key(parameters: list[JsonValue], each: Texts) -> bytes:
    # Answers may hold lone surrogates, which canonical JSON cannot: hash the texts on their own.
    hashes: list[JsonValue] = [
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in each.all
    ]
    return content_key([parameters, len(each.texts), each.pivot is None, hashes])
