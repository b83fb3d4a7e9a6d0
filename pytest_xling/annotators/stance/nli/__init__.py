"""A response's stance towards a claim, by a model of natural language inference (UPHILL, §3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.annotators.stance import StanceAnnotator
from pytest_xling.judging.annotator import too_long
from pytest_xling.models.nli.checkpoint import ADVICE, Checkpoint
from pytest_xling.text.answer_text import PairClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.models.nli.model import NliModel
    from pytest_xling.records import Answer
    from pytest_xling.text.answer_text import Pair

__all__ = ["StanceCheckpoint", "StanceNli"]


class StanceCheckpoint(Checkpoint):
    """What ``--xling-param=stance=nli:…`` names."""

    of: ClassVar[str] = "stance"
    label: ClassVar[str] = "stance nli:{}"
    named_by: ClassVar[str] = "--xling-param=stance=nli:{}"
    advice: ClassVar[str] = f"{ADVICE} (--xling-param=stance=…)"


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceNli(StanceAnnotator, PairClassifier):
    """Has an NLI model say whether the response, its premise, entails the claim or contradicts it.

    Which output means what is read from the model's config.json. Of a response that is longer than
    the model takes, the five sentences most similar to the claim are read, and what of these is too
    long still is cut: ``reasoning`` says so, beside the probabilities.

    Models trained on XNLI read answers as they are; those trained on MNLI alone need
    ``text_in=english``.
    """

    name = "stance_nli"
    called = "the stance classifier"
    version = "1"
    minimums: ClassVar[Mapping[str, float]] = {"max_chars": 1}
    libraries = ("sentencex",)

    stance: str = "nli:"
    """``nli:`` and the model: a directory, or its name on the Hugging Face hub with ``@revision``
    where that matters."""
    encoder: str = "embedded"
    """Finds the sentences of long responses that are most similar to the claim."""
    device: str = "auto"
    """``auto``, ``cpu``, ``mps``, ``cuda`` or one of several such as ``cuda:1``."""
    max_chars: int = 50_000
    """Longer texts are not read."""

    def check(self) -> None:
        """Raise ConfigError where there is no such model, or an extra is missing."""
        from pytest_xling.encoders.opening import check_encoder  # noqa: PLC0415  as load

        StanceCheckpoint.check_named(self.stance)
        check_encoder(self.encoder)

    def load(self) -> None:
        """Load the model; the encoder is loaded with the first long response."""
        _opened(self)

    def signed(self) -> Mapping[str, JsonValue]:
        """Return the model's name, digest or revision and label order, and the encoder's signature.

        Raises:
            ConfigError: there is no such model or encoder.
        """
        StanceCheckpoint.check_packages()
        from pytest_xling.annotators.stance.nli.reading import LABELS  # noqa: PLC0415  numpy
        from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  imports numpy
        from pytest_xling.models.nli.model import signature_of  # noqa: PLC0415  torch

        encoder = open_encoder(self.encoder, device=self.device)
        checkpoint = StanceCheckpoint.named(self.stance)
        stances = {label: stance for stance, label in LABELS.items()}
        signed = signature_of(checkpoint) | {
            "labels": [stances[each] for each in checkpoint.labels]
        }
        return {"stance": signed, "encoder": dict(encoder.signed())}

    def read(self, answer: Answer) -> Pair | str:
        """Return what the model reads of *answer*; where it reads nothing, the reason in words."""
        pair = self.pair_or_why(answer)
        if isinstance(pair, str):
            return pair
        texts = {"claim": pair.about, "response": pair.response}
        reason = too_long(texts, max_chars=self.max_chars)
        return f"no stance: {reason}" if reason else pair

    def values(self, pairs: Sequence[Pair]) -> list[JsonValue]:
        """Return the value of each of *pairs*."""
        model = _opened(self)
        from pytest_xling.annotators.stance.nli.reading import read  # noqa: PLC0415  numpy
        from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  imports numpy

        return read(pairs, model, lambda: open_encoder(self.encoder, device=self.device))


def _opened(annotator: StanceNli) -> NliModel:
    StanceCheckpoint.check_packages()
    from pytest_xling.models.nli.model import open_model  # noqa: PLC0415  torch

    return open_model(StanceCheckpoint.named(annotator.stance), device=annotator.device)
