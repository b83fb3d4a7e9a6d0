"""A response's stance towards a claim, by a small classifier on the embedded encoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.annotators.stance.pair import PairAnnotator, pair_of, stance_value
from pytest_xling.interfaces.annotator import AnswerAnnotator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.annotators.stance.head.weights import Weights
    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["StanceHead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceHead(PairAnnotator, AnswerAnnotator):
    """Tells a stance by what the response says, how it says it, and how like the claim it is.

    It costs nothing and reads answers that say outright whether a claim is true; where that has to
    be inferred it is wrong about as often as not. Of a response it reads the five sentences most
    like the claim. Lexical cues are known in en, es, hi and zh: in other languages it has the
    encoder alone, and has not been measured.

    ``reasoning`` has the probabilities. They are those of an encoder in 32 bits on any device.
    """

    name = "stance_head"
    called = "the stance classifier"
    version = "1"
    calibrated = True
    libraries = ("py3langid", "sentencex")

    weights: str = ""
    """A file that ``xling train stance`` wrote; empty for the weights that come along."""
    device: str = "auto"
    """``auto``, ``cpu``, ``mps``, ``cuda`` or one of several such as ``cuda:1``."""

    def check(self) -> None:
        """Raise ConfigError where an extra is missing or the weights cannot be used."""
        from pytest_xling.encoders.opening import check_encoder  # noqa: PLC0415  as load

        check_encoder("embedded")
        _weights(self.weights)

    def load(self) -> None:
        """Load the encoder.

        Raises:
            ConfigError: the weights were trained on another one.
        """
        encoder = _encoder(self.device)
        _weights(self.weights).check_encoder(encoder)
        encoder.load()

    def signed(self) -> Mapping[str, JsonValue]:
        """Return the encoder's signature and which weights these are.

        Raises:
            ConfigError: the weights cannot be used, or were trained on another encoder.
        """
        encoder, weights = _encoder(self.device), _weights(self.weights)
        weights.check_encoder(encoder)
        return {
            "encoder": dict(encoder.signed()),
            "features": weights.about["features"],
            "weights": weights.sha256,
        }

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return the claim and the response as they are read, or why they are not."""
        pair = pair_of(answer, text_in=self.text_in)
        return pair if isinstance(pair, str) else [pair.claim, pair.response, pair.language]

    def annotate(self, answers: Sequence[Answer]) -> list[JsonValue]:
        """Return one value per answer, in order.

        Raises:
            EvaluationError: the encoder gives NaN or infinity.
        """
        from pytest_xling.annotators.stance.head.features import (  # noqa: PLC0415  imports numpy
            stance_features,
        )
        from pytest_xling.text.stance import STANCES  # noqa: PLC0415  with the above

        read = [pair_of(answer, text_in=self.text_in) for answer in answers]
        pairs = [pair for pair in read if not isinstance(pair, str)]
        if not pairs:
            return [stance_value(None, reason=str(why)) for why in read]
        encoder, weights = _encoder(self.device), _weights(self.weights)
        weights.check_encoder(encoder)
        probabilities = iter(weights.probabilities(stance_features(pairs, encoder)))
        values: list[JsonValue] = []
        for pair in read:
            if isinstance(pair, str):
                values.append(stance_value(None, reason=pair))
                continue
            likely = dict(zip(STANCES, next(probabilities), strict=True))
            ranked = sorted(STANCES, key=lambda stance: -likely[stance])
            shares = ", ".join(f"{stance} {likely[stance]:.2f}" for stance in ranked)
            values.append(stance_value(ranked[0], reasoning=shares))
        return values


def _encoder(device: str) -> Encoder:
    from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  imports numpy

    # Weights were trained on states in 32 bits; others would be other features.
    return open_encoder("embedded", device=device, dtype="float32")


def _weights(path: str) -> Weights:
    from pytest_xling.annotators.stance.head.weights import (  # noqa: PLC0415  imports numpy
        SHIPPED,
        load_weights,
    )

    return load_weights(Path(path).expanduser() if path else SHIPPED)
