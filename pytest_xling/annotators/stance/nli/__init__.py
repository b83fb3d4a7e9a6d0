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

    Which output means what is read from the model's config.json. Of a long response is read what
    ``stance_reader`` reads, and combined as there; what is longer than the model takes is cut.

    Models trained on XNLI read answers as they are; those trained on MNLI alone need
    ``text_in=english``.
    """

    name = "stance_nli"
    display_name = "the stance classifier"
    version = "2"
    minimums: ClassVar[Mapping[str, float]] = {"max_chars": 1}
    libraries = ("sentencex",)

    stance: str = "nli:"
    """``nli:`` and the model: a directory, or its name on the Hugging Face hub with ``@revision``
    where that matters."""
    device: str = "auto"
    """``auto``, ``cpu``, ``mps``, ``cuda`` or one of several such as ``cuda:1``."""
    max_chars: int = 50_000
    """Longer texts are not read."""

    def check(self) -> None:
        """Raise ConfigError where there is no such model, or an extra is missing."""
        StanceCheckpoint.check_named(self.stance)

    def load(self) -> None:
        """Load the model."""
        _opened(self)

    def signed(self) -> Mapping[str, JsonValue]:
        """Return the model's name, digest or revision and label order.

        Raises:
            ConfigError: there is no such model.
        """
        StanceCheckpoint.check_packages()
        from pytest_xling.annotators.stance.nli.reading import LABELS  # noqa: PLC0415  numpy
        from pytest_xling.models.nli.model import signature_of  # noqa: PLC0415  torch

        checkpoint = StanceCheckpoint.named(self.stance)
        stances = {label: stance for stance, label in LABELS.items()}
        signed = signature_of(checkpoint) | {
            "labels": [stances[each] for each in checkpoint.labels]
        }
        return {"stance": signed}

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

        return read(pairs, model)


def _opened(annotator: StanceNli) -> NliModel:
    StanceCheckpoint.check_packages()
    from pytest_xling.models.nli.model import open_model  # noqa: PLC0415  torch

    return open_model(StanceCheckpoint.named(annotator.stance), device=annotator.device)
