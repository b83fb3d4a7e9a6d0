"""Mean precision, recall and F1 of BERTScore over all pairs of each set of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_xling.metrics.bertscore.matching import Tokens, shares_between, shares_within
from pytest_xling.metrics.bertscore.weights import has_tokens, weights_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_xling.encoders import Encoder, TokenStates

CHARACTERS = 1 << 17
"""Texts whose token states are held at once: at most some 200 MB at 384 dimensions, mostly a
quarter of that. A single set may be longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The texts of one set."""

    texts: tuple[str, ...]
    pivot: tuple[str, ...] | None = None
    """What they are compared with; None: with each other."""

    @property
    def all(self) -> tuple[str, ...]:
        """All texts, a text as often as it was given."""
        return self.texts + (self.pivot or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Means over the pairs of one set."""

    precision: float
    recall: float
    f1: float


def means_of(  # the texts of one set never change what another gets
    sets: Sequence[Texts],
    *,
    encoder: Encoder,
    layer: int | None = None,
    idf: bool = False,
    device: str = "cpu",
) -> list[Means | str]:
    """Return the means of each set, or why there are none.

    A pair of a set without pivot is (i, j) with i before j; i is the candidate, of which the share
    found in the other is the precision, and j the reference. With a pivot each text is a candidate
    for each text of the pivot. Texts without any token but special ones are left out.

    Args:
        sets: at least 2 texts in each, or with a pivot 1 on either side.
        encoder: loaded.
        layer: of the encoder; None is the last one.
        idf: whether tokens weigh by how rare they are among all texts of their set.
        device: where to match tokens.
    """
    means: list[Means | str] = []
    for group in _groups(sets):
        distinct = list(dict.fromkeys(text for each in group for text in each.all))
        states = dict(zip(distinct, encoder.token_states(distinct, layer=layer), strict=True))
        means += [_mean(each, states, idf=idf, device=device) for each in group]
    return means


def _groups(sets: Sequence[Texts]) -> Iterator[list[Texts]]:
    group: list[Texts] = []
    characters = 0
    for each in sets:
        length = sum(map(len, set(each.all)))
        if group and characters + length > CHARACTERS:
            yield group
            group, characters = [], 0
        group.append(each)
        characters += length
    if group:
        yield group


def _mean(each: Texts, states: dict[str, TokenStates], *, idf: bool, device: str) -> Means | str:
    texts = [text for text in each.texts if has_tokens(states[text].ids)]
    pivot = [text for text in each.pivot or () if has_tokens(states[text].ids)]
    enough = len(texts) >= 1 and len(pivot) >= 1 if each.pivot is not None else len(texts) > 1
    if not enough:
        left_out = len(each.all) - len(texts) - len(pivot)
        return f"{left_out} of {len(each.all)} texts have no token the encoder knows"
    distinct = list(dict.fromkeys(texts + pivot))
    weights = weights_of(
        [states[text].ids for text in distinct],
        idf=idf,
        copies=[(texts + pivot).count(text) for text in distinct],
    )
    tokens = {
        text: Tokens(states=states[text].states, weights=weighed)
        for text, weighed in zip(distinct, weights, strict=True)
    }
    if each.pivot is None:
        place = {text: index for index, text in enumerate(distinct)}
        shares = shares_within([tokens[text] for text in distinct], device=device)
        positions = np.array([place[text] for text in texts])
        candidates, references = np.triu_indices(len(texts), k=1)
        forth = shares[positions[candidates], positions[references]]
        back = shares[positions[references], positions[candidates]]
    else:
        # A text that several answers share is compared once and counts for each of them.
        lefts, left_at = _numbered(texts)
        rights, right_at = _numbered(pivot)
        matched = shares_between(
            [tokens[text] for text in lefts], [tokens[text] for text in rights], device=device
        )
        forth = matched[0][np.ix_(left_at, right_at)]
        back = matched[1].T[np.ix_(left_at, right_at)]
    return _means(forth, back)


def _numbered(texts: list[str]) -> tuple[list[str], list[int]]:
    distinct = list(dict.fromkeys(texts))
    place = {text: index for index, text in enumerate(distinct)}
    return distinct, [place[text] for text in texts]


def _means(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> Means:
    both = precision + recall
    # Where nothing at all is found both are 0, and so is their harmonic mean.
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return Means(
        precision=float(precision.mean()), recall=float(recall.mean()), f1=float(f1.mean())
    )
