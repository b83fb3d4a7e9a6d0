"""Run a checkpoint of natural language inference over pairs of a premise and a hypothesis."""

from __future__ import annotations

import threading
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.models.batches import batches, budget_on, in_halves
from pytest_xling.models.devices import choose_device, share_cores
from pytest_xling.models.loading import listed, load_model, load_tokenizer, loading, max_tokens
from pytest_xling.text.display import clean, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_xling.keys import JsonValue
    from pytest_xling.models.nli.checkpoint import Checkpoint, Label

_SHOWN = 60
_opening = threading.Lock()


class NliModel:
    """A loaded checkpoint; its numbers are float32 wherever it runs.

    Args:
        checkpoint: where it is.
        device: torch's name of it.

    Raises:
        ConfigError: it cannot be loaded, or weights are missing.
    """

    def __init__(self, checkpoint: Checkpoint, *, device: str) -> None:
        checkpoint.fetch()
        share_cores()
        self._title = checkpoint.title
        self._device = device
        self.labels: tuple[Label, ...] = checkpoint.labels
        self.limit = max_tokens(checkpoint.path, name=checkpoint.title)
        """Most tokens of a pair, special ones included."""
        self._tokenizer = load_tokenizer(checkpoint.path, name=checkpoint.title)
        self._model = _model(checkpoint).to(device)
        self._lock = threading.Lock()

    def lengths(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[int]:
        """Return how many tokens each pair has, special ones included."""
        with self._lock:
            return [len(ids) for ids in self._encoded(premises, hypotheses)["input_ids"]]

    def probabilities(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.float64]:
        """Return the probability of each label for each pair: shape (pairs, labels).

        Premises that are too long are cut at their end.

        Raises:
            EvaluationError: a hypothesis leaves no room for its premise, or the model gives NaN or
                infinity; says for which text.
        """
        with self._lock:
            return self._probabilities(premises, hypotheses)

    def _probabilities(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.float64]:
        encoded = self._encoded(premises, hypotheses, truncation="only_first")
        lengths = [len(ids) for ids in encoded["input_ids"]]
        logits = np.empty((len(lengths), len(self.labels)), np.float64)
        alone = self._tokenizer.pad_token_id is None
        budget = 1 if alone else budget_on(self._device)
        for places in batches(lengths, budget=budget):
            rows: list[Mapping[str, list[int]]] = [
                {key: values[place] for key, values in encoded.items()} for place in places
            ]
            logits[places] = in_halves(self._forward, rows)
        for premise, row in zip(premises, logits, strict=True):
            if not np.isfinite(row).all():
                shown = printable(premise, limit=_SHOWN)
                msg = f"{self._title} gives NaN or infinity for the text {shown!r}"
                raise EvaluationError(msg)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
        return probabilities

    def _encoded(
        self, premises: Sequence[str], hypotheses: Sequence[str], *, truncation: str | bool = False
    ) -> Mapping[str, list[list[int]]]:
        if not premises:
            return {"input_ids": []}
        encoded: Any = self._tokenizer(
            [clean(premise).strip() for premise in premises],
            [clean(hypothesis).strip() for hypothesis in hypotheses],
            truncation=truncation,
            max_length=self.limit if truncation else None,
            padding=False,
            # A text that holds "</s>" would else begin a hypothesis of its own.
            split_special_tokens=True,
            verbose=False,
        )
        return dict(encoded)

    def _forward(self, rows: Sequence[Mapping[str, list[int]]]) -> NDArray[np.float64]:
        """Return the logits of one batch."""
        inputs = {key: self._padded(key, [row[key] for row in rows]) for key in rows[0]}
        with torch.inference_mode():
            logits = self._model(**inputs).logits
        array: NDArray[np.float64] = logits.cpu().double().numpy()  # mps has no float64
        return array

    def _padded(self, key: str, values: Sequence[list[int]]) -> torch.Tensor:
        """Return the rows of one input, filled up to the longest of this batch."""
        fills = {
            "input_ids": self._tokenizer.pad_token_id or 0,
            "token_type_ids": getattr(self._tokenizer, "pad_token_type_id", 0),
        }
        longest = max(map(len, values))
        left = self._tokenizer.padding_side == "left"
        padded = torch.full((len(values), longest), fills.get(key, 0), dtype=torch.long)
        for row, tokens in enumerate(values):
            start = longest - len(tokens) if left else 0
            padded[row, start : start + len(tokens)] = torch.tensor(tokens)
        return padded.to(self._device)


def signature_of(checkpoint: Checkpoint) -> dict[str, JsonValue]:
    """Return what the numbers of *checkpoint* rest on; loads no weights.

    Raises:
        ConfigError: its weights or settings cannot be used.
    """
    return {
        "name": checkpoint.name,
        **checkpoint.identity,
        "labels": list(checkpoint.labels),
        "tokens": max_tokens(checkpoint.path, name=checkpoint.title),
        "dtype": "float32",
        **{package: version(package) for package in ("torch", "transformers", "tokenizers")},
    }


def open_model(checkpoint: Checkpoint, *, device: str) -> NliModel:
    """Return the model of *checkpoint*; the same object each time in one process.

    Raises:
        ConfigError: there is no such device, or it cannot be loaded.
    """
    with _opening:
        return _open(checkpoint, choose_device(device))


@cache
def _open(checkpoint: Checkpoint, device: str) -> NliModel:
    return NliModel(checkpoint, device=device)


def _model(checkpoint: Checkpoint) -> Any:  # noqa: ANN401  transformers' classes are dynamic
    with loading(f"{checkpoint.title}: its weights"):
        from transformers import (  # noqa: PLC0415  a second to import
            AutoModelForSequenceClassification,
        )

        model, missing = load_model(
            AutoModelForSequenceClassification, checkpoint.path, dtype=torch.float32
        )
    if missing:
        msg = (
            f"{checkpoint.title}: lacks {len(missing)} of its weights ({listed(missing)}), which "
            "would be random numbers; name a model that was trained for NLI"
        )
        raise ConfigError(msg)
    return model.eval()
