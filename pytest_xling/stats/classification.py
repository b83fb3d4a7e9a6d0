"""How well a model tells right answers from wrong ones, by two conventions.

XLingEval (section 5, appendix D.1) reports macro precision, recall and F1, accuracy and the area
under the ROC curve. Its released code and the paper's text differ, and both leave out replies
without a verdict, so the conventions are named:

``released``
    What the released code computes. Replies without a verdict are dropped; macro F1 is the mean of
    the two classes' F1; the AUC is that of the verdicts themselves, and so equals macro recall. A
    class that is never named has precision 0.
``honest``
    A reply without a verdict is a miss of its class (it lowers recall and accuracy) but names no
    class, so precision is of the verdicts given. The AUC ranks by P(right), for the answers that
    have it. A class that is never named has no precision.

The paper's equation 6 defines macro F1 as the harmonic mean of macro precision and macro recall,
which is another number: ``f1_eq6``. A value that is not defined is None with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Cell: TypeAlias = tuple[bool, bool | None]
    """What an answer is, and what is said of it."""

_NAMES = {True: "right", False: "wrong"}
_CLASSES = (True, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """The scores of one convention; from 0 to 1, or None with the reason."""

    convention: Literal["released", "honest"]
    n: int
    """Answers that count."""
    precision: Reading
    """Macro precision, equation 4."""
    recall: Reading
    """Macro recall, equation 5."""
    f1: Reading
    """Macro F1, the mean of the two classes' F1."""
    f1_eq6: Reading
    """Macro F1 by the paper's equation 6."""
    accuracy: Reading
    """Equation 7."""
    auc: Reading
    auc_n: int
    """Answers the AUC rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """The same answers by both conventions."""

    n: int
    unknown: int
    """Answers of which nothing was said."""
    unknown_rate: Reading
    released: Classification
    honest: Classification


def classification(
    gold: Sequence[bool],
    verdicts: Sequence[bool | None],
    *,
    p_right: Sequence[float | None] | None = None,
) -> Conventions:
    """Return both conventions' scores.

    Args:
        gold: whether each answer is right.
        verdicts: whether it was said to be; None where neither was.
        p_right: the probability it was given of being right, where there is one.

    Raises:
        ValueError: the lengths differ, or a probability is none.
    """
    probabilities = p_right if p_right is not None else [None] * len(gold)
    if not len(gold) == len(verdicts) == len(probabilities):
        msg = (
            f"{len(gold)} gold labels, {len(verdicts)} verdicts, {len(probabilities)} probabilities"
        )
        raise ValueError(msg)
    if any(p is not None and not 0 <= p <= 1 for p in probabilities):
        msg = "a probability is from 0 to 1"
        raise ValueError(msg)
    cells: Counter[Cell] = Counter(zip(gold, verdicts, strict=True))
    n = len(gold)
    unknown = cells[True, None] + cells[False, None]
    ranked = [(g, p) for g, p in zip(gold, probabilities, strict=True) if p is not None]
    nothing = Reading(value=None, reason="no answers")
    return Conventions(
        n=n,
        unknown=unknown,
        unknown_rate=Reading(value=unknown / n) if n else nothing,
        released=_released(cells),
        honest=_honest(cells, ranked),
    )


def auc(gold: Sequence[bool], scores: Sequence[float]) -> Reading:
    """Return the area under the ROC curve.

    That is how often a right answer's score is above a wrong one's, ties counting half (Mann and
    Whitney's U over the number of pairs).

    Raises:
        ValueError: the lengths differ, or a score is not a number.
    """
    if len(gold) != len(scores) or any(math.isnan(score) for score in scores):
        msg = "as many labels as scores are needed, and all scores must be numbers"
        raise ValueError(msg)
    right = sum(map(bool, gold))
    wrong = len(gold) - right
    if missing := _missing(right, wrong):
        return Reading(value=None, reason=missing)
    below = wins = 0.0
    ranked = sorted(zip(scores, gold, strict=True), key=lambda pair: pair[0])
    for _, tied in groupby(ranked, key=lambda pair: pair[0]):
        counts = Counter(bool(label) for _, label in tied)
        wins += counts[True] * (below + counts[False] / 2)
        below += counts[False]
    return Reading(value=wins / (right * wrong))


def _released(cells: Mapping[Cell, int]) -> Classification:
    known = Counter({cell: count for cell, count in cells.items() if cell[1] is not None})
    recall = _recall(known)
    # Where a class has no answers its precision says nothing of the model.
    precision = recall if recall.value is None else _precision(known, never_named=0.0)
    n = known.total()
    return Classification(
        convention="released",
        n=n,
        precision=precision,
        recall=recall,
        f1=_f1(known),
        f1_eq6=_harmonic(precision, recall),
        accuracy=_accuracy(known),
        auc=recall,
        auc_n=n,
    )


def _honest(cells: Counter[Cell], ranked: Sequence[tuple[bool, float]]) -> Classification:
    recall = _recall(cells)
    precision = recall if recall.value is None else _precision(cells)
    if ranked:
        area = auc([gold for gold, _ in ranked], [p for _, p in ranked])
    else:
        area = Reading(value=None, reason="no log-probabilities")
    return Classification(
        convention="honest",
        n=cells.total(),
        precision=precision,
        recall=recall,
        f1=_f1(cells),
        f1_eq6=_harmonic(precision, recall),
        accuracy=_accuracy(cells),
        auc=area,
        auc_n=len(ranked),
    )


def _missing(right: int, wrong: int) -> str:
    """Say which class has no answers; "" where both have some."""
    if not right and not wrong:
        return "no answers"
    if not right:
        return "no answer is right"
    return "" if wrong else "no answer is wrong"


def _sizes(cells: Mapping[Cell, int]) -> dict[bool, int]:
    """Return how many answers are right and how many are wrong."""
    sizes = dict.fromkeys(_CLASSES, 0)
    for (gold, _), count in cells.items():
        sizes[bool(gold)] += count
    return sizes


def _recall(cells: Counter[Cell]) -> Reading:
    sizes = _sizes(cells)
    if missing := _missing(sizes[True], sizes[False]):
        return Reading(value=None, reason=missing)
    return Reading(value=sum(cells[label, label] / sizes[label] for label in _CLASSES) / 2)


def _precision(cells: Counter[Cell], *, never_named: float | None = None) -> Reading:
    scores = []
    for label in _CLASSES:
        predicted = cells[True, label] + cells[False, label]
        score = cells[label, label] / predicted if predicted else never_named
        if score is None:
            return Reading(value=None, reason=f"no answer was said to be {_NAMES[label]}")
        scores.append(score)
    return Reading(value=sum(scores) / 2)


def _f1(cells: Counter[Cell]) -> Reading:
    """Return the mean of the two classes' F1, which is 0 for a class that is never named."""
    sizes = _sizes(cells)
    if missing := _missing(sizes[True], sizes[False]):
        return Reading(value=None, reason=missing)
    predicted = {label: cells[True, label] + cells[False, label] for label in _CLASSES}
    return Reading(
        value=sum(cells[label, label] / (predicted[label] + sizes[label]) for label in _CLASSES)
    )


def _accuracy(cells: Counter[Cell]) -> Reading:
    n = cells.total()
    if not n:
        return Reading(value=None, reason="no answers")
    return Reading(value=(cells[True, True] + cells[False, False]) / n)


def _harmonic(precision: Reading, recall: Reading) -> Reading:
    if precision.value is None or recall.value is None:
        return precision if precision.value is None else recall
    total = precision.value + recall.value
    return Reading(value=2 * precision.value * recall.value / total if total else 0.0)
