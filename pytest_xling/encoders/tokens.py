"""Cut texts into the tokens of an encoder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_xling.errors import ConfigError
from pytest_xling.models.loading import load_tokenizer, loading
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Tokens", "most_tokens"]

_UNBOUNDED = 1 << 20
"""Tokenizers without a limit say so with a huge number."""
_DEFAULT = 512
_LEAST = 8
_SAMPLE = "a"


class Tokens:
    """A transformer's tokenizer.

    Args:
        directory: where it is.
        of: what messages call the encoder.

    Raises:
        ConfigError: it cannot be loaded.
    """

    def __init__(self, directory: Path, *, of: str) -> None:
        self._tokenizer = load_tokenizer(directory, of=of)
        pad = self._tokenizer.pad_token_id
        self.pad: int = 0 if pad is None else int(pad)
        """The id that fills up shorter texts."""

    def ids(self, texts: Sequence[str], *, prefix: str = "") -> list[NDArray[np.int32]]:
        """Return the ids of each text's tokens, special ones at both ends."""
        if not texts:
            return []
        read = [prefix + clean(text).strip() for text in texts]
        encoded = self._tokenizer(read, truncation=False, padding=False, verbose=False)
        return [np.asarray(ids, np.int32) for ids in encoded["input_ids"]]

    def ends(self, *, prefix: str = "") -> tuple[int, int]:
        """Return how many special tokens a text begins and ends with.

        A prefix counts as special where its tokens are the same before every text: each window of
        a long text then begins with it.
        """
        sample = self._tokenizer(
            prefix + _SAMPLE, return_special_tokens_mask=True, truncation=False, verbose=False
        )
        special = list(sample["special_tokens_mask"])
        head, tail = special.index(0), special[::-1].index(0)
        if prefix:
            alone = self._tokenizer(prefix.strip(), add_special_tokens=False)["input_ids"]
            if sample["input_ids"][head : head + len(alone)] == alone:
                head += len(alone)
        return head, tail


def most_tokens(directory: Path, *, of: str) -> int:
    """Return how many tokens a transformer takes, special ones included; reads settings only.

    Args:
        directory: where its settings are.
        of: what messages call the model.

    Raises:
        ConfigError: its settings cannot be used.
    """
    with loading(f"{of}: its settings in config.json"):
        from transformers import AutoConfig  # noqa: PLC0415  an extra, and a second to import

        config: Any = AutoConfig.from_pretrained(
            directory, local_files_only=True, trust_remote_code=False
        )
    limits = [_UNBOUNDED]
    try:
        text = (directory / "tokenizer_config.json").read_text(encoding="utf-8")
        limits.append(int(json.loads(text).get("model_max_length") or _UNBOUNDED))
    except (OSError, ValueError, TypeError, AttributeError, OverflowError):
        pass  # the tokenizer, once loaded, says what is wrong with it
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # RoBERTa and its kin count positions from behind the id of the padding.
        padding = config.pad_token_id if _counts_from_padding(str(config.model_type)) else None
        limits.append(positions - (0 if padding is None else int(padding) + 1))
    limit = min(limits)
    if limit < _LEAST:
        msg = f"{of}: takes only {limit} tokens; see its config.json"
        raise ConfigError(msg)
    return _DEFAULT if limit == _UNBOUNDED else limit


def _counts_from_padding(kind: str) -> bool:
    return "roberta" in kind or kind in {"camembert", "data2vec-text", "longformer", "mpnet"}
