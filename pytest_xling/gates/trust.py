"""Decide nothing by an annotator that may err too often, or of which too little is known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.gates.reasons import needed
from pytest_xling.registry import load

if TYPE_CHECKING:
    from pytest_xling.records import Threshold, Verdict
    from pytest_xling.stats.label_quality import Labelling

LEAST_LABELLED = 30
"""Fewer labelled answers vouch for no annotator: an interval made by drawing them again is right
from about here on."""

LEAST_QUESTIONS = 10
"""Answers about fewer vouch for none either, however many: those about one are alike, and drawing
so few again says little. By 40 answers about 4 claims a judge of F1 .70 was trusted in 13 % of
simulated calibrations, about 10 claims in 5, about 20 in 4 (correlation .2 within a claim)."""

LEAST_PER_LABEL = 5
"""Fewer answers with a label tell nothing of it, and F1 over the others is not that of the task."""


def languages_judged(threshold: Threshold, *, pivot: str | None, gap: bool) -> list[str]:
    """Return the languages whose answers a gate rests on: its own, and where it compares the pivot.

    A gate over several languages rests on those of each.

    Args:
        threshold: the gate's.
        pivot: the language others are compared with, where the benchmark has one.
        gap: whether the gate is one of the gap to it.
    """
    own = list(threshold.languages)
    compares = gap or load("metric", threshold.metric).unit == "pivot"
    if not compares or pivot is None or pivot in own:
        return own
    return [*own, pivot]


def doubt(quality: Labelling, threshold: Threshold) -> str:
    """Say why an annotator cannot be trusted; empty where it can, or nobody asked.

    What counts is the lower end of the interval of its macro F1, since on few labelled
    answers a bad annotator may well have a high F1 by chance.

    Args:
        quality: how well it did on labelled answers in the language.
        threshold: says which F1 it needs, and how many answers anything is decided by.
    """
    least = threshold.min_judge_f1
    if least is None:
        return ""
    f1, low = quality.macro_f1.value, quality.macro_f1.low
    most = max(LEAST_LABELLED, threshold.min_n)
    rare = [label.label for label in quality.labels if label.support < LEAST_PER_LABEL]
    few = ""
    if quality.n < most:
        few = f"too few to say: needs {most} labelled answers"
    elif quality.questions is not None and quality.questions < LEAST_QUESTIONS:
        few = f"about {quality.questions} questions only: needs labels of {LEAST_QUESTIONS}"
    elif rare:
        few = f"too few of them {' or '.join(rare)} to say: needs {LEAST_PER_LABEL} of each"
    if few:
        return few
    if f1 is None or low is None:
        return f"which has no interval; calibrate again on two claims or more, to reach {least:g}"
    if f1 < least or low >= least:
        return f"below {least:g}" if f1 < least else ""
    size = quality.n * ((f1 - low) / (f1 - least)) ** 2 if f1 > least else math.inf
    enough = needed(size, quality.n, of="labelled answers")
    return f"the interval must reach {least:g}; {enough}"


def distrusted(verdict: Verdict, reason: str) -> Verdict:
    """Return *verdict*, inconclusive because the annotator it rests on is not trusted.

    An error stays one: there scores are missing, whoever made them.

    Args:
        verdict: of a gate.
        reason: who the annotator is, what is known of it, and what that lacks.
    """
    if verdict.outcome == "error":
        return verdict
    distrust = f"{reason}: nothing is decided; {verdict.reason}"
    return replace(verdict, outcome="inconclusive", reason=distrust, held="")
