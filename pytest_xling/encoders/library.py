"""An encoder that only sentence-transformers can run: other poolings, dense layers, static."""

from __future__ import annotations

import threading
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_xling.encoders.forward import lower_precision, precision
from pytest_xling.encoders.transformer import TransformerEncoder, signature_of
from pytest_xling.errors import EvaluationError
from pytest_xling.models.devices import share_cores
from pytest_xling.models.loading import check_packages, loading
from pytest_xling.text.display import clean, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_xling.encoders import TokenStates
    from pytest_xling.encoders.source import Source
    from pytest_xling.keys import JsonValue

_BATCH = 16
_SHOWN = 60


class LibraryEncoder:
    """Has sentence-transformers make sentence embeddings; token states come from the transformer.

    Args:
        source: the model.
        device: torch's name of it.
        dtype: what matrices are multiplied in.

    Raises:
        ConfigError: sentence-transformers is not installed.
    """

    def __init__(self, source: Source, *, device: str, dtype: str) -> None:
        check_packages(f"{source.title} needs", ("sentence_transformers",))
        self._source = source
        self._device = device
        self._dtype = dtype
        self._of_tokens = TransformerEncoder(source, device=device, dtype=dtype)
        self._lock = threading.RLock()

    def signed(self) -> Mapping[str, JsonValue]:
        """Return what its numbers rest on; loads no weights."""
        has_tokens = self._source.layout.transformer is not None
        package = "sentence-transformers"
        return {
            **(
                self._of_tokens.signed()
                if has_tokens
                else signature_of(self._source, dtype=self._dtype)
            ),
            "long_texts_of_sentences": "cut off",
            package: version(package),
        }

    def load(self) -> None:
        """Load the weights.

        Raises:
            ConfigError: they cannot be loaded.
        """
        with self._lock:
            _ = self._library

    @property
    def layers(self) -> int:
        """How many layers its transformer has; loads the weights.

        Raises:
            ConfigError: it has no transformer, or the weights cannot be loaded.
        """
        return self._of_tokens.layers

    def sentence_embeddings(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector of length 1 per text.

        Raises:
            EvaluationError: the model gives NaN or infinity.
        """
        different = list(dict.fromkeys(clean(text).strip() for text in texts))
        if not different:
            return np.zeros((0, int(self._library.get_embedding_dimension())), np.float32)
        with self._lock, precision(self._device, self._dtype):
            encoded = self._library.encode(
                different,
                batch_size=_BATCH,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        vectors = np.asarray(encoded, np.float32)
        for text, vector in zip(different, vectors, strict=True):
            if not np.isfinite(vector).all():
                shown = printable(text, limit=_SHOWN)
                msg = f"{self._source.title} gives NaN or infinity for the text {shown!r}"
                raise EvaluationError(msg)
        place = {text: number for number, text in enumerate(different)}
        rows: NDArray[np.float32] = vectors[[place[clean(text).strip()] for text in texts]]
        return rows

    def token_states(self, texts: Sequence[str], *, layer: int | None = None) -> list[TokenStates]:
        """Return the states of all tokens of each text, which must not be written to.

        Raises:
            ConfigError: there is no such layer, or the model is no transformer.
            EvaluationError: the model gives NaN or infinity.
        """
        return self._of_tokens.token_states(texts, layer=layer)

    @cached_property
    def _library(self) -> Any:  # noqa: ANN401  torch's modules are dynamic
        self._source.fetch()
        share_cores()
        with loading(f"{self._source.title}: its weights"):
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415  seconds

            model = SentenceTransformer(
                str(self._source.path),
                device=self._device,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
        return lower_precision(model.eval(), self._dtype)
