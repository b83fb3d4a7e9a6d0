"""The mechanisms of empathy in a response, by a small classifier on a frozen encoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.annotators.empathy import EmpathyAnnotator
from pytest_xling.text.answer_text import PairClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.annotators.empathy.head.weights import Weights
    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue
    from pytest_xling.text.answer_text import Pair

__all__ = ["EmpathyHead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmpathyHead(EmpathyAnnotator, PairClassifier):
    """Tells the mechanisms by a bi-encoder: the response's tokens attend to those of the post.

    It costs nothing. The one that comes along was trained on a few hundred pairs written for it,
    in en, es, hi and zh. ``reasoning`` has the probabilities; those of an encoder in 32 bits on any
    device.
    """

    name = "empathy_head"
    display_name = "the empathy classifier"
    version = "1"

    empathy: str = "head"
    """``head:`` and the folder that ``xling train empathy`` wrote; without it the weights that come
    along."""
    device: str = "auto"
    """``auto``, ``cpu``, ``mps``, ``cuda`` or one of several such as ``cuda:1``."""

    def check(self) -> None:
        """Raise ConfigError where an extra is missing or the weights cannot be used."""
        from pytest_xling.encoders.opening import check_encoder  # noqa: PLC0415  as load

        check_encoder(_weights(self.empathy).about["encoder"])

    def load(self) -> None:
        """Load the encoder.

        Raises:
            ConfigError: the weights were trained on another one.
        """
        encoder = self._encoder()
        _weights(self.empathy).check_encoder(encoder)
        encoder.load()

    def signed(self) -> Mapping[str, JsonValue]:
        """Return the encoder's signature and which weights these are.

        Raises:
            ConfigError: the weights cannot be used, or were trained on another encoder.
        """
        encoder, weights = self._encoder(), _weights(self.empathy)
        weights.check_encoder(encoder)
        return {"empathy": weights.sha256, "encoder": dict(encoder.signed())}

    def values(self, pairs: Sequence[Pair]) -> list[JsonValue]:
        """Return the value of each of *pairs*."""
        from pytest_xling.annotators.empathy.head.weights import (  # noqa: PLC0415  imports numpy
            HALF,
            probabilities,
        )

        return [
            self.labelled_value(
                {m: "present" if share >= HALF else "absent" for m, share in likely.items()},
                reasoning={m: f"present {share:.2f}" for m, share in likely.items()},
            )
            for likely in probabilities(pairs, _weights(self.empathy), self._encoder())
        ]

    def _encoder(self) -> Encoder:
        from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  imports numpy

        # Weights were trained on states in 32 bits; others would be other numbers.
        spec = _weights(self.empathy).about["encoder"]
        return open_encoder(spec, device=self.device, dtype="float32")


def _weights(empathy: str) -> Weights:
    from pytest_xling.annotators.empathy.head.weights import (  # noqa: PLC0415  imports numpy
        SHIPPED,
        load_weights,
    )

    folder = empathy.partition(":")[2]
    return load_weights(Path(folder).expanduser() if folder else SHIPPED)
