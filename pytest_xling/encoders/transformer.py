"""An encoder that runs a transformer itself, so that one reading serves texts and tokens."""

from __future__ import annotations

import threading
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from pytest_xling.encoders import TokenStates
from pytest_xling.encoders.forward import Forward
from pytest_xling.encoders.reading import Reader, Window
from pytest_xling.encoders.tokens import Tokens
from pytest_xling.errors import ConfigError
from pytest_xling.models.batches import budget_on
from pytest_xling.models.loading import max_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pytest_xling.encoders.source import Source
    from pytest_xling.keys import JsonValue


class TransformerEncoder:
    """Encodes with a transformer.

    Token states are those of the text alone; where the model's makers put a prefix before texts
    (e5's "query: "), sentence embeddings have it, and only then does the model read a text twice.

    Args:
        source: the model.
        device: torch's name of it.
        dtype: what matrices are multiplied in.
    """

    def __init__(self, source: Source, *, device: str, dtype: str) -> None:
        self._source = source
        self._layout = source.layout
        self._device = device
        self._dtype = dtype
        self._lock = threading.RLock()

    def signed(self) -> Mapping[str, JsonValue]:
        """Return what its numbers rest on; loads no weights."""
        windows = {"long_texts": _windows(self._token_limit)}
        if self._sentence_limit != self._token_limit:
            windows["long_texts_of_sentences"] = _windows(self._sentence_limit)
        return {**signature_of(self._source, dtype=self._dtype), **windows}

    def load(self) -> None:
        """Load the weights.

        Raises:
            ConfigError: they cannot be loaded.
        """
        with self._lock:
            _ = self._forward, self._tokens

    @property
    def layers(self) -> int:
        """How many layers it has, the embedding layer not counted; loads the weights.

        Raises:
            ConfigError: they cannot be loaded.
        """
        with self._lock:
            return self._forward.layers

    def sentence_embeddings(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector of length 1 per text.

        Raises:
            EvaluationError: the model gives NaN or infinity.
        """
        with self._lock:
            prefix = self._layout.prefix
            ids = self._tokens.ids(texts, prefix=prefix)
            window = self._window(self._sentence_limit, prefix=prefix)
            return self._reader.vectors(texts, ids, window=window)

    def token_states(self, texts: Sequence[str], *, layer: int | None = None) -> list[TokenStates]:
        """Return the states of all tokens of each text, which must not be written to.

        Raises:
            ConfigError: there is no such layer.
            EvaluationError: the model gives NaN or infinity.
        """
        with self._lock:
            last = self._forward.layers
            if layer is not None and not 0 <= layer <= last:
                msg = f"{self._source.title}: has layers 0 to {last}, no layer {layer}"
                raise ConfigError(msg)
            ids = self._tokens.ids(texts)
            by_place: dict[int, TokenStates] = {}
            for places, states in self._reader.states(
                texts,
                ids,
                window=self._window(self._token_limit),
                layer=last if layer is None else layer,
            ):
                states.flags.writeable = False  # others get the same array
                for place in places:
                    by_place[place] = TokenStates(ids=ids[place], states=states)
            return [by_place[place] for place in range(len(texts))]

    @property
    def _directory(self) -> Path:
        if self._layout.transformer is None:
            msg = (
                f"{self._source.title}: is no transformer and gives no states of tokens; "
                "name another for metrics that compare tokens"
            )
            raise ConfigError(msg)
        return self._layout.transformer

    @cached_property
    def _token_limit(self) -> int:
        return max_tokens(self._directory, name=self._source.title)

    @property
    def _sentence_limit(self) -> int:
        return min(self._token_limit, self._layout.sentence_limit or self._token_limit)

    @cached_property
    def _forward(self) -> Forward:
        self._source.fetch()
        return Forward(
            self._directory, of=self._source.title, device=self._device, dtype=self._dtype
        )

    @cached_property
    def _tokens(self) -> Tokens:
        return Tokens(self._directory, of=self._source.title)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(
            self._forward,
            of=self._source.title,
            pad=self._tokens.pad,
            budget=budget_on(self._device),
            first=self._layout.pooling == "cls",
        )

    def _window(self, size: int, *, prefix: str = "") -> Window:
        head, tail = self._tokens.ends(prefix=prefix)
        return Window(size=size, head=head, tail=tail)


def signature_of(source: Source, *, dtype: str) -> dict[str, JsonValue]:
    """Return what the numbers of any encoder made of *source* rest on."""
    return {
        "name": source.name,
        **source.identity,
        "dtype": dtype,
        "pooling": source.layout.pooling,
        "prefix": source.layout.prefix,
        **{package: version(package) for package in ("torch", "transformers", "tokenizers")},
    }


def _windows(limit: int) -> str:
    return f"windows:{limit}/{Window(size=limit, head=0, tail=0).stride}"
