"""Cut texts into the tokens of an encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_xling.models.loading import load_tokenizer
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

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
        self._tokenizer = load_tokenizer(directory, name=of)
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
