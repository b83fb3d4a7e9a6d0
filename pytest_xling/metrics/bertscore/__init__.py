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

from pytest_xling.errors import ConfigError
from pytest_xling.interfaces.metric import Number, TextIn
from pytest_xling.keys import content_key
from pytest_xling.metrics.bertscore.baseline import (
    ANY,
    Baseline,
    given_baselines,
    published_baselines,
    published_file,
)
from pytest_xling.records import AnswerSet, Reading
from pytest_xling.text.answer_text import ENGLISH, needs_of, readable_or_why

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue
    from pytest_xling.metrics.bertscore.means import Means, Texts

__all__ = ["MEANS", "BertScore", "BertScorePrecision", "BertScoreRecall", "CrossBertScore"]

Part: TypeAlias = Literal["precision", "recall", "f1"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _BertScore(Number[AnswerSet]):
    """How BERTScore is computed (Zhang et al. 2020), for all metrics that are part of it.

    Attributes:
        text_in: ``native`` reads answers as they are, ``english`` their translations.
        encoder: gives the states of tokens.
        device: ``auto``, ``cpu``, ``cuda`` or one of several such as ``cuda:1``.
        layer: of the encoder whose states are compared; None is the last one.
        idf: whether a token weighs the more, the fewer texts of the set it is in.
        rescale: whether values are rescaled linearly so that unrelated texts score about 0.
        baseline: where to find what unrelated texts score, as a file in bert-score's format;
            ``{language}`` in it stands for the language's code. None: the file bert-score has.
        quantized: whether the encoder may be less exact on a CPU to be faster: F1 within 0.001.
    """

    bounds = (None, 1.0)
    better = "higher"
    part: ClassVar[Part] = "f1"
    """Which of the three values it gives."""

    text_in: TextIn = "native"
    encoder: str = "embedded"
    device: str = "auto"
    layer: int | None = None
    idf: bool = False
    rescale: bool = False
    baseline: str | None = None
    quantized: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.layer is not None and (type(self.layer) is not int or self.layer < 0):
            msg = f"bertscore: layer must be a whole number from 0 (embeddings), not {self.layer!r}"
            raise ConfigError(msg)
        if self.baseline is not None and not self.rescale:
            msg = "bertscore: baseline is for rescaling; add rescale=true or leave it out"
            raise ConfigError(msg)

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
        """Return the encoder's signature, and the SHA-256 of the baselines by language.

        Raises:
            ConfigError: there is no such encoder, or no baseline for it.
        """
        signed: dict[str, JsonValue] = {"encoder": dict(_opened(self).signed())}
        if self.rescale:
            signed["baseline"] = {
                language: baseline.sha256 for language, baseline in _baselines(self).items()
            }
        return signed

    def score(self, answers: Sequence[AnswerSet]) -> list[Reading]:
        """Return one reading per set, in order."""
        texts: dict[int, Texts] = {}
        languages: dict[int, str] = {}
        done: dict[int, Reading] = {}
        for place, each in enumerate(answers):
            found = _texts(self, each)
            if isinstance(found, Reading):
                done[place] = found
            else:
                texts[place], languages[place] = found
        means = dict(zip(texts, MEANS.of(self, list(texts.values())), strict=True))
        baselines = _baselines(self) if self.rescale else {}
        for place, mean in means.items():
            if isinstance(mean, str):
                done[place] = Reading(value=None, reason=mean)
                continue
            value = getattr(mean, self.part)
            if self.rescale:
                baseline = baselines.get(ANY) or baselines.get(languages[place])
                if baseline is None:
                    reason = (
                        f"no baseline for {self.encoder} in {languages[place]!r} to rescale with"
                    )
                    done[place] = Reading(value=None, reason=reason)
                    continue
                least_value = getattr(baseline, self.part)
                value = (value - least_value) / (1.0 - least_value)
            done[place] = Reading(value=value)
        return [done[place] for place in range(len(answers))]


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScore(_BertScore):
    """The mean F1 of BERTScore over all pairs of the answers to a question in one language.

    F1 is the harmonic mean of precision and recall of a pair; it is the same whichever answer is
    the candidate. XLingEval takes bert-base-uncased, its last layer, rescaled, in English:
    ``encoder=bert-base-uncased``, ``rescale=true``, ``text_in=english``.
    """

    name = "bertscore"
    version = "1"
    unit = "repeats"
    least = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScorePrecision(_BertScore):
    """The mean precision of BERTScore over all pairs of the answers to a question in one language.

    Of two answers the earlier repeat is the candidate and the later one the reference, as where
    the pairs i < j are given to bert-score. Both ways round precision and recall would be equal.
    """

    name = "bertscore_precision"
    version = "1"
    unit = "repeats"
    least = 2
    part = "precision"


@dataclass(frozen=True, slots=True, kw_only=True)
class BertScoreRecall(_BertScore):
    """The mean recall of BERTScore over all pairs of the answers to a question in one language.

    Of two answers the earlier repeat is the candidate and the later one the reference, as where
    the pairs i < j are given to bert-score. Both ways round precision and recall would be equal.
    """

    name = "bertscore_recall"
    version = "1"
    unit = "repeats"
    least = 2
    part = "recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossBertScore(_BertScore):
    """The mean F1 of BERTScore over all pairs of an answer and one in the pivot language.

    Answers are candidates and those in the pivot language references. ``text_in=native`` needs an
    encoder that knows both languages.
    """

    name = "cross_bertscore"
    version = "1"
    unit = "pivot"


def _texts(metric: _BertScore, each: AnswerSet) -> tuple[Texts, str] | Reading:
    """Return the texts of a set and their language, or why they are too few."""
    from pytest_xling.metrics.bertscore.means import Texts  # noqa: PLC0415  imports numpy

    read = readable_or_why(each.answers, text_in=metric.text_in, least=metric.least)
    if isinstance(read, Reading):
        return read
    pivot: tuple[str, ...] | None = None
    if metric.unit == "pivot":
        of_pivot = readable_or_why(each.pivot, text_in=metric.text_in, least=1)
        if isinstance(of_pivot, Reading):
            return Reading(value=None, reason=f"pivot: {of_pivot.reason}")
        pivot = tuple((one.text or "").strip() for one in of_pivot)
    texts = tuple((one.text or "").strip() for one in read)
    return Texts(texts=texts, pivot=pivot), read[0].language


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


class _KeptMeans:
    """Means of the last sets, so that precision, recall and F1 are computed once for all three."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[bytes, Means | str] = OrderedDict()
        # Also one computation at a time: metrics may be scored on several threads, and each of
        # the three then finds what the first one computed.
        self._lock = Lock()

    def of(self, metric: _BertScore, sets: list[Texts]) -> list[Means | str]:
        """Return the means of *sets*, computing those that are new."""
        from pytest_xling.metrics.bertscore.means import means_of  # noqa: PLC0415  imports numpy

        how: list[JsonValue] = [metric.encoder, metric.device, metric.quantized, metric.layer]
        keys = [_key([*how, metric.idf], each) for each in sets]
        with self._lock:
            new = {key: each for key, each in zip(keys, sets, strict=True) if key not in self._kept}
            found: dict[bytes, Means | str] = {
                key: self._kept[key] for key in keys if key in self._kept
            }
            if new:
                computed = means_of(
                    list(new.values()),
                    encoder=_opened(metric),
                    layer=metric.layer,
                    idf=metric.idf,
                    device=_torch_device(metric),
                )
                found.update(zip(new, computed, strict=True))
                self._kept.update(zip(new, computed, strict=True))
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return [found[key] for key in keys]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()


MEANS = _KeptMeans(limit=1 << 14)


def _key(how: list[JsonValue], each: Texts) -> bytes:
    # Answers may hold lone surrogates, which canonical JSON cannot: hash the texts on their own.
    hashes: list[JsonValue] = [
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in each.all
    ]
    return content_key([how, len(each.texts), each.pivot is None, hashes])


def _opened(metric: _BertScore) -> Encoder:
    from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  imports numpy

    return open_encoder(metric.encoder, device=metric.device, quantized=metric.quantized)


def _torch_device(metric: _BertScore) -> str:
    """Return the device tokens are matched on: the encoder's."""
    from pytest_xling.models.devices import choose_device  # noqa: PLC0415  as above

    return choose_device(metric.device, quantized=metric.quantized)
