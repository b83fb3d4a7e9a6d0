"""What of a long response an NLI model reads: the sentences about the claim (UPHILL, app. A.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_xling.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.annotators.stance.pair import Pair
    from pytest_xling.encoders import Encoder

__all__ = ["SENTENCES", "Chosen", "choose"]

SENTENCES = 5
"""How many are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The sentences of a response that are most similar to the claim."""

    text: str
    """They, in the order of the response."""
    read: int
    """How many they are."""
    of: int
    """How many the response has."""


def choose(pairs: Sequence[Pair], encoder: Encoder) -> list[Chosen]:
    """Return the sentences most similar to the claim, of each pair.

    Of sentences that are equally similar the earlier go first.
    """
    split = [sentences(pair.response, pair.language) for pair in pairs]
    chosen = [pair for pair, each in zip(pairs, split, strict=True) if len(each) > SENTENCES]
    wanted = dict.fromkeys(pair.claim for pair in chosen)
    wanted |= dict.fromkeys(
        sentence for each in split if len(each) > SENTENCES for sentence in each
    )
    texts = list(wanted)
    vectors = dict(zip(texts, encoder.sentence_embeddings(texts), strict=True)) if texts else {}
    found = []
    for pair, each in zip(pairs, split, strict=True):
        places = list(range(len(each)))
        if len(each) > SENTENCES:
            similar = np.stack([vectors[sentence] for sentence in each]) @ vectors[pair.claim]
            places = sorted(np.argsort(-similar, kind="stable")[:SENTENCES].tolist())
        text = " ".join(each[place] for place in places)
        found.append(Chosen(text=text, read=len(places), of=len(each)))
    return found
