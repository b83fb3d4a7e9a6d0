"""How much each token counts in BERTScore."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def has_tokens(ids: NDArray[np.int32]) -> bool:
    """Whether there is a token that is not a special one."""
    return bool(_counts(ids).any())


def weights_of(
    texts: Sequence[NDArray[np.int32]], *, idf: bool, copies: Sequence[int]
) -> list[NDArray[np.float32]]:
    """Return the weights of the tokens of each text; their sum is 1.

    Special tokens weigh nothing (other tokens may still find them most similar), as in the package
    bert-score. Without *idf* all others weigh the same. With it, a token that is in c of the N
    texts weighs log((N + 1) / (c + 1)), so nothing where it is in all of them; a text without any
    rarer token has nothing to set it apart, and its tokens weigh the same.

    Args:
        texts: the ids of their tokens, special ones at both ends; each text has others, too.
        idf: whether rare tokens weigh more.
        copies: how often each text stands in the set; each copy counts as a text.
    """
    raw = [_counts(ids).astype(np.float64) for ids in texts]
    if idf:
        distinct = [np.unique(ids) for ids in texts]
        known, place = np.unique(np.concatenate(distinct), return_inverse=True)
        repeated = np.repeat(np.asarray(copies), [len(ids) for ids in distinct])
        texts_with = np.bincount(place, weights=repeated)
        rarity = np.log((sum(copies) + 1) / (texts_with + 1))
        scaled = [
            counts * rarity[np.searchsorted(known, ids)]
            for ids, counts in zip(texts, raw, strict=True)
        ]
        raw = [new if new.any() else old for new, old in zip(scaled, raw, strict=True)]
    return [(weights / weights.sum()).astype(np.float32) for weights in raw]


def _counts(ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which tokens are not special; a text may spell a special token out."""
    counts: NDArray[np.bool_] = (ids != ids[0]) & (ids != ids[-1])
    return counts
