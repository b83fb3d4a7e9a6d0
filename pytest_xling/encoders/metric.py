"""What metrics of sets share that compare texts by an encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.encoders.opening import check_encoder, open_encoder
from pytest_xling.text.answer_text import TextMetric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderMetric(TextMetric):
    """A number read from the texts of a set by an encoder.

    Attributes:
        text_in: ``native`` reads answers as they are, ``english`` their translations.
        encoder: ``embedded``, or the directory or the hub's name of a model.
        device: ``auto``, ``cpu``, ``mps``, ``cuda`` or one of several such as ``cuda:1``.
    """

    encoder: str = "embedded"
    device: str = "auto"

    def check(self) -> None:
        """Raise ConfigError where there is no such encoder, or an extra is missing."""
        check_encoder(self.encoder)

    def load(self) -> None:
        """Load the encoder."""
        self.open().load()

    def signed(self) -> Mapping[str, JsonValue]:
        """Return the encoder's signature.

        Raises:
            ConfigError: there is no such encoder.
        """
        return {"encoder": dict(self.open().signed())}

    def open(self) -> Encoder:
        """Return the encoder; the same object each time in one process.

        Raises:
            ConfigError: there is no such encoder.
        """
        return open_encoder(self.encoder, device=self.device)
