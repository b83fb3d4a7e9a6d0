"""Whether a text supports a claim, by a model of natural language inference."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.annotators.support import SupportAnnotator, pair_of, support_value
from pytest_xling.interfaces.annotator import AnswerAnnotator
from pytest_xling.judging.annotator import too_long
from pytest_xling.models.nli.checkpoint import ADVICE, Checkpoint
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.models.nli.model import NliModel
    from pytest_xling.records import Answer
    from pytest_xling.text.answer_text import Pair

_DIGITS = 4
"""Of a probability: the others depend on what else is in its batch."""


class SupportCheckpoint(Checkpoint):
    """What ``--xling-param=support=nli:…`` names."""

    of: ClassVar[str] = "support"
    label: ClassVar[str] = "support nli:{}"
    named_by: ClassVar[str] = "--xling-param=support=nli:{}"
    advice: ClassVar[str] = f"{ADVICE} (--xling-param=support=…)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportNli(SupportAnnotator, AnswerAnnotator):
    """Has an NLI model say whether a text, its premise, entails a claim.

    A value has ``supported``: whether entailment is likelier than neutral and than contradiction;
    None where that is not known, and ``reason`` then says why. ``p`` is the probability of
    entailment.

    A text that is longer than the model takes is read in windows of sentences, all of them; each
    begins with the last sentence of the one before. The claim is supported where a window entails
    it, and ``p`` is the largest. What only follows from sentences far apart, no window entails.
    """

    name = "support_nli"
    version = "1"
    minimums: ClassVar[Mapping[str, float]] = {"max_chars": 1}
    libraries = ("sentencex",)

    support: str = "nli:"
    """``nli:`` and the model: a directory, or its name on the Hugging Face hub with ``@revision``
    where that matters."""
    device: str = "auto"
    """``auto``, ``cpu``, ``mps``, ``cuda`` or one of several such as ``cuda:1``."""
    max_chars: int = 50_000
    """Longer texts are not read."""

    def check(self) -> None:
        """Raise ConfigError where there is no such model, or an extra is missing."""
        SupportCheckpoint.check_named(self.support)

    def load(self) -> None:
        """Load the model."""
        self._opened()

    def signed(self) -> Mapping[str, JsonValue]:
        """Return the model's name, digest or revision and label order.

        Raises:
            ConfigError: there is no such model.
        """
        SupportCheckpoint.check_packages()
        from pytest_xling.models.nli.model import signature_of  # noqa: PLC0415  torch

        return {"support": signature_of(SupportCheckpoint.named(self.support))}

    def annotate(self, answers: Sequence[Answer]) -> list[JsonValue]:
        """Return one value per answer, in order.

        Raises:
            EvaluationError: the model gives NaN or infinity.
        """
        # Equal pairs are read once, however many answers they are from.
        pairs = list(dict.fromkeys(pair_of(answer) for answer in answers))
        values = {pair: support_value(reason=self._unfit(pair)) for pair in pairs}
        readable = [pair for pair in pairs if not self._unfit(pair)]
        if readable:
            values.update(zip(readable, _read(readable, self._opened()), strict=True))
        return [values[pair_of(answer)] for answer in answers]

    def _unfit(self, pair: Pair) -> str:
        """Say why *pair* is not read; "" if it is."""
        texts = {"claim": pair.about, "text": pair.response}
        empty = [name for name, text in texts.items() if not clean(text).strip()]
        return f"the {empty[0]} is empty" if empty else too_long(texts, max_chars=self.max_chars)

    def _opened(self) -> NliModel:
        SupportCheckpoint.check_packages()
        from pytest_xling.models.nli.model import open_model  # noqa: PLC0415  torch

        return open_model(SupportCheckpoint.named(self.support), device=self.device)


def _read(pairs: Sequence[Pair], model: NliModel) -> list[JsonValue]:
    """Return the annotation of each pair, in order."""
    around = model.lengths([""], [""])[0]
    tokens = _sizes([text for pair in pairs for text in (pair.about, pair.response)], model)
    sentences: dict[tuple[str, str], list[tuple[str, int]]] = {}
    premises: list[list[str]] = []
    for pair in pairs:
        room = model.limit - around - tokens[pair.about]
        if tokens[pair.response] <= room:
            premises.append([pair.response])
        elif room < model.limit // 2:
            premises.append([])
        else:
            key = pair.response, pair.language
            if key not in sentences:
                # Two of them fit beside any claim.
                sentences[key] = _sentences(*key, model, most=model.limit // 4 - 1)
            premises.append(_windows(sentences[key], room=room))
    claims = [pair.about for pair, own in zip(pairs, premises, strict=True) for _ in own]
    rows = iter(model.probabilities([each for own in premises for each in own], claims).tolist())
    place = model.labels.index("entailment")
    values = []
    for pair, own in zip(pairs, premises, strict=True):
        if own:
            probable = list(islice(rows, len(own)))
            entailment = [row.pop(place) for row in probable]
            entails = [p > max(row) for p, row in zip(entailment, probable, strict=True)]
            p = round(max(entailment), _DIGITS)
            values.append(support_value(supported=any(entails), p=p))
        else:
            reason = (
                f"the claim has {tokens[pair.about]} tokens, and the NLI model takes "
                f"{model.limit}; half of these must be left to a long text"
            )
            values.append(support_value(reason=reason))
    return values


def _sizes(texts: Sequence[str], model: NliModel) -> dict[str, int]:
    """Return how many tokens each of *texts* has, without those around a pair."""
    different = list(dict.fromkeys(texts))
    around, *lengths = model.lengths(["", *different], ["" for _ in range(len(different) + 1)])
    return {text: length - around for text, length in zip(different, lengths, strict=True)}


def _sentences(text: str, language: str, model: NliModel, *, most: int) -> list[tuple[str, int]]:
    """Return the sentences of *text* and how many tokens each has; those with more in pieces."""
    from pytest_xling.text.sentences import sentences  # noqa: PLC0415  where a text is long

    return _in_pieces([f"{each} " for each in sentences(text, language)], model, most=most)


def _in_pieces(parts: Sequence[str], model: NliModel, *, most: int) -> list[tuple[str, int]]:
    """Return *parts* and their tokens; those with more than *most* in halves, cut at a space."""
    tokens = _sizes(parts, model)
    pieces: list[tuple[str, int]] = []
    for part in parts:
        if tokens[part] <= most or len(part) == 1:
            pieces.append((part, tokens[part]))
        else:
            half = len(part) // 2
            cut = part.rfind(" ", 0, half) + 1 or half
            pieces += _in_pieces([part[:cut], part[cut:]], model, most=most)
    return pieces


def _windows(pieces: Sequence[tuple[str, int]], *, room: int) -> list[str]:
    """Return *pieces* in windows that fit into *room* tokens.

    Each begins with the last piece of the one before. A piece counts a token more than it has
    alone, since tokenizers may cut it otherwise in the middle of a text.
    """
    windows: list[str] = []
    start = used = 0
    for place, (_, tokens) in enumerate(pieces):
        if place > start and used + tokens + 1 > room:
            windows.append("".join(piece for piece, _ in pieces[start:place]))
            start = place - 1
            used = pieces[start][1] + 1
        used += tokens + 1
    return [*windows, "".join(piece for piece, _ in pieces[start:])]
