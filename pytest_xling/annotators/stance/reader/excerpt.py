"""What of a long response is read: the sentences that bear most on the claim.

A model's answer of 400 words says in three or four sentences what it thinks of a claim, mostly in
the first, in the last and in those that take up the claim's words; reading no others costs a
quarter. Pieces of words are compared, so that it works alike in every language.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_xling.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_xling.encoders.tokens import Tokens
    from pytest_xling.text.answer_text import Pair

TOKENS = 112
"""Most tokens of a claim and what is read beside it, special ones included."""
_MOST_OF_CLAIM = 48
_SPECIAL = 4
"""``<s>`` claim ``</s></s>`` response ``</s>``, as XLM-RoBERTa was trained on pairs."""


def excerpts(pairs: Sequence[Pair], tokens: Tokens) -> list[tuple[list[int], int]]:
    """Return for each pair the ids that are read, and how many of them are the claim's.

    Sentences are taken as long as there is room: the first, the last, then those that share most
    of the claim's tokens, rare ones counting more (ids of the vocabulary go by frequency). They
    are read in their order. A sentence that does not fit is cut at its end.
    """
    # A sentence that is repeated says nothing new.
    split = [
        list(dict.fromkeys(sentences(pair.response, pair.language))) or [pair.response]
        for pair in pairs
    ]
    wanted = [pair.about for pair in pairs] + [sentence for each in split for sentence in each]
    # Equal sentences of many responses, such as disclaimers, are cut into tokens once.
    distinct = list(dict.fromkeys(wanted))
    by_text = dict(zip(distinct, tokens.ids(distinct), strict=True))
    read = []
    for pair, each in zip(pairs, split, strict=True):
        first, *claim, last = by_text[pair.about].tolist()
        claim = claim[:_MOST_OF_CLAIM]
        inner = [by_text[sentence][1:-1] for sentence in each]
        chosen = _chosen(claim, inner, room=TOKENS - len(claim) - _SPECIAL)
        read.append(([first, *claim, last, last, *chosen, last], len(claim) + 2))
    return read


def _chosen(claim: Sequence[int], inner: Sequence[NDArray[np.int32]], *, room: int) -> list[int]:
    """Return the ids of the sentences that are read.

    Args:
        claim: its ids.
        inner: those of each sentence.
        room: most that are returned.
    """
    weights = {token: math.log(token + 1) for token in claim}
    shared = [
        sum(weights.get(token, 0.0) for token in set(sentence.tolist())) for sentence in inner
    ]
    ends = (0, len(inner) - 1)
    order = sorted(range(len(inner)), key=lambda place: (place not in ends, -shared[place], place))
    taken: dict[int, list[int]] = {}
    for place in order:
        if room <= 0:
            break
        taken[place] = inner[place].tolist()[:room]
        room -= len(taken[place])
    return [token for place in sorted(taken) for token in taken[place]]
