"""What of a response is read beside a claim, and what the parts say together.

A model that was trained on pairs of short texts reads a long answer badly: what it thinks of a
claim stands in a few sentences, and the others drown it. So two texts are made of it: the sentences
that bear most on the claim, as UPHILL joins them (appendix A.4), and of all windows of two
neighbouring sentences (Laban et al. 2022, section 3) the one that does.
"""

from __future__ import annotations

import re
from collections import Counter
from math import fsum, log1p
from typing import TYPE_CHECKING, Final

from pytest_xling.text.sentences import sentences
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_xling.text.answer_text import Pair

SENTENCES: Final = 4
"""So many are joined: the first, the last, and those that take up most of the claim."""
_WINDOW = 2
_BULLET = re.compile(r"^\s*[-–•·*]\s+", re.MULTILINE)
_MARKS = re.compile(r"[*_#>`]{1,3}")
_LETTERS = 3
_HEADING = 60
_GRAM = 3
_NEVER_ZERO = 1e-9


def is_read_whole(pair: Pair) -> bool:
    """Tell whether the response is short enough to be read as it is."""
    return len(_units(pair.response, pair.language)) <= SENTENCES


def windows(pair: Pair) -> list[str]:
    """Return what is read of the response: it as it is where it is short, else two texts."""
    whole = _units(pair.response, pair.language)
    if len(whole) <= SENTENCES:
        return [" ".join(whole)]
    shared = _shared(pair.about, whole)
    last = len(whole) - 1
    order = sorted(range(len(whole)), key=lambda n: (n not in {0, last}, -shared[n], n))
    joined = " ".join(whole[place] for place in sorted(order[:SENTENCES]))
    neighbours = [" ".join(whole[start : start + _WINDOW]) for start in range(last)]
    shared = _shared(pair.about, neighbours)
    return [joined, neighbours[shared.index(max(shared))]]


def _units(response: str, language: str) -> list[str]:
    """Return the sentences, each once; a heading and the number of an item go with the next."""
    units: list[str] = []
    before = ""
    for sentence in sentences(_MARKS.sub("", _BULLET.sub("\n\n", response)), language):
        text = " ".join(f"{before} {sentence}".split())
        before = ""
        if sum(map(str.isalpha, sentence)) < _LETTERS or (
            sentence.endswith((":", "：")) and len(sentence) < _HEADING
        ):
            before = text
        else:
            units.append(text)
    return list(dict.fromkeys([*units, before] if before else units)) or [response]


def _shared(claim: str, texts: Sequence[str]) -> list[float]:
    """Return how much of the claim each text takes up; what few texts have counts more.

    Runs of characters are compared: they need no words, and find inflected ones.
    """
    grams = [_grams(text) for text in texts]
    frequent = Counter(gram for each in grams for gram in each)
    claim_grams = _grams(claim)
    weight = {gram: log1p(len(texts) / frequent[gram]) for gram in claim_grams if gram in frequent}
    # Rounded once: sets have no order.
    return [fsum(weight[gram] for gram in each & weight.keys()) for each in grams]


def _grams(text: str) -> set[str]:
    text = f" {text.casefold()} "
    return {text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1)}


def combined(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each stance is, of what each text says: shape (texts, stances).

    A text counts by how much it takes a side.
    """
    sided = 1 - shares[:, STANCES.index("neutral")] + _NEVER_ZERO
    together: NDArray[np.float64] = sided @ shares / sided.sum()
    return together
