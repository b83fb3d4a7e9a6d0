"""What a classifier of empathy has to beat: the words of a response, by TF-IDF and regression."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from pytest_xling.stats.logistic_regression import fit_logistic
from pytest_xling.text.words import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.annotators.empathy.pair import Pair

_PENALTY = 1.0
"""Of the sum over all examples: scikit-learn's C = 1."""


def tfidf_regression(
    learnt: Sequence[Pair], labels: Sequence[bool], asked: Sequence[Pair]
) -> list[bool]:
    """Return what a logistic regression on words and pairs of words says of *asked*.

    Counts are taken as 1 + log, weighted by the logarithm of how few responses have the word, and
    brought to length 1. Both classes weigh the same. The post is not read.

    Args:
        learnt: pairs to learn from.
        labels: theirs.
        asked: others.
    """
    terms = [_terms(pair) for pair in learnt]
    documents = Counter(term for counts in terms for term in counts)
    place = {term: number for number, term in enumerate(sorted(documents))}
    rarity = {
        term: 1 + math.log((1 + len(terms)) / (1 + count)) for term, count in documents.items()
    }
    known = np.array(labels)
    share = known.mean()
    weights = np.where(known, 0.5 / share, 0.5 / (1 - share))
    coefficients, intercepts = fit_logistic(
        _rows(terms, place, rarity),
        known.astype(np.int64),
        classes=2,
        weights=weights / len(known),
        # A softmax has two vectors, each the half of a logistic regression's one.
        penalty=2 * _PENALTY / len(known),
    )
    scores = _rows([_terms(pair) for pair in asked], place, rarity) @ coefficients + intercepts
    return [bool(present) for present in scores.argmax(axis=1)]


def _terms(pair: Pair) -> Counter[str]:
    single = words(pair.response, pair.language)
    return Counter([*single, *(f"{first} {second}" for first, second in pairwise(single))])


def _rows(
    terms: Sequence[Mapping[str, int]], place: Mapping[str, int], rarity: Mapping[str, float]
) -> csr_matrix:
    """Return the terms that are known, as rows of length 1: shape (texts, terms)."""
    values: list[float] = []
    columns: list[int] = []
    ends = [0]
    for counts in terms:
        own = {
            term: (1 + math.log(n)) * rarity[term] for term, n in counts.items() if term in place
        }
        length = math.sqrt(sum(value**2 for value in own.values())) or 1.0
        values += [value / length for value in own.values()]
        columns += [place[term] for term in own]
        ends.append(len(values))
    return csr_matrix((values, columns, ends), shape=(len(terms), len(place)))
