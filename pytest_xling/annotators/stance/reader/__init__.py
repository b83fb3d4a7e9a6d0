"""A response's stance towards a claim, by the embedded encoder tuned to read both at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.annotators.stance import StanceAnnotator
from pytest_xling.errors import ConfigError
from pytest_xling.text.answer_text import PairClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_xling.annotators.stance.reader.weights import Weights
    from pytest_xling.keys import JsonValue
    from pytest_xling.text.answer_text import Pair

__all__ = ["StanceReader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceReader(StanceAnnotator, PairClassifier):
    """Reads claim and response at once with the embedded encoder, whose upper layers were tuned.

    It costs nothing. Of a long response it reads the sentences that bear on the claim and, where
    these leave it unsure, the window of two that does most, each beside the claim. It was trained
    on answers in en, es, hi, zh and ar. Where the likeliest stance is less likely than ``least``,
    it gives none.

    ``reasoning`` has the probabilities, in numbers of 32 bits on any device.
    """

    name = "stance_reader"
    display_name = "the stance reader"
    version = "3"
    libraries = ("sentencex",)

    stance: str = "reader"
    """``reader:`` and the folder that ``xling train stance`` wrote; without it the weights that
    come along."""
    least: float = 0.4
    """Stances that are less likely are not given; 0 always gives one."""
    device: str = "auto"
    """``auto``, ``cpu``, ``mps``, ``cuda`` or one of several such as ``cuda:1``."""

    def __post_init__(self) -> None:
        """Raise ConfigError for an invalid parameter."""
        if not 0 <= self.least < 1:
            msg = f"stance_reader: least must be at least 0 and below 1, not {self.least}"
            raise ConfigError(msg)
        StanceAnnotator.__post_init__(self)

    def check(self) -> None:
        """Raise ConfigError where an extra is missing or the weights cannot be used."""
        from pytest_xling.encoders.opening import check_encoder  # noqa: PLC0415  as load

        check_encoder("embedded")
        _weights(self.stance)

    def load(self) -> None:
        """Load encoder and weights.

        Raises:
            ConfigError: they cannot be used.
        """
        from pytest_xling.annotators.stance.reader.network import (  # noqa: PLC0415  torch
            open_model,
        )

        open_model(_path(self.stance), device=self.device)

    def signed(self) -> Mapping[str, JsonValue]:
        """Return which weights these are, which encoder they change, and how much is read.

        Raises:
            ConfigError: the weights cannot be used.
        """
        from pytest_xling.annotators.stance.reader.weights import TOKENS  # noqa: PLC0415  numpy
        from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  imports numpy

        encoder = open_encoder("embedded", device=self.device, dtype="float32")
        weights = _weights(self.stance)
        return {"encoder": dict(encoder.signed()), "stance": weights.sha256, "tokens": TOKENS}

    def values(self, pairs: Sequence[Pair]) -> list[JsonValue]:
        """Return the value of each of *pairs*."""
        from pytest_xling.annotators.stance.reader.network import (  # noqa: PLC0415  torch
            open_model,
        )

        model = open_model(_path(self.stance), device=self.device)
        return [self._value(shares) for shares in model.probabilities(pairs)]

    def _value(self, shares: NDArray[np.float64]) -> JsonValue:
        from pytest_xling.text.stance import STANCES  # noqa: PLC0415  with the above

        likely = dict(zip(STANCES, shares.tolist(), strict=True))
        ranked = sorted(STANCES, key=lambda stance: -likely[stance])
        told = ", ".join(f"{stance} {likely[stance]:.2f}" for stance in ranked)
        if likely[ranked[0]] < self.least:
            reason = f"no stance: none is as likely as {self.least:g}"
            return self.labelled_value(None, reason=reason, reasoning=told)
        return self.labelled_value(ranked[0], reasoning=told)


def _path(stance: str) -> Path:
    from pytest_xling.annotators.stance.reader.weights import FILE, SHIPPED  # noqa: PLC0415  numpy

    folder = stance.partition(":")[2]
    return (Path(folder).expanduser() if folder else SHIPPED) / FILE


def _weights(stance: str) -> Weights:
    from pytest_xling.annotators.stance.reader.weights import load_weights  # noqa: PLC0415  numpy

    return load_weights(_path(stance))
