"""Make one sample of each candidate answer, to ask whether it is right (XLingEval, section 5)."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.keys import content_key

if TYPE_CHECKING:
    from pytest_xling.records import Sample

__all__ = ["candidates"]


def candidates(sample: Sample, *, seed: int, wrong: int | None = None) -> list[Sample]:
    """Return *sample* once for its reference and once for each wrong answer, mixed.

    The mix depends on the seed and the sample's id only, so parallel samples stay parallel. The
    new samples are called ``<id>-a1`` and so on; their reference, and ``gold`` in their metadata,
    is ``right`` or ``wrong``.

    Args:
        sample: with a reference, wrong answers or both; an empty one only keeps its place.
        seed: of the mix.
        wrong: the most wrong answers any parallel sample has, so that all are mixed alike; None:
            those of this one.
    """
    answers = [] if sample.reference is None else [(0, "right", sample.reference)]
    answers += [(number, "wrong", text) for number, text in enumerate(sample.wrong, start=1)]
    order = list(range(1 + max(wrong or 0, len(sample.wrong))))
    # Not for secrets: the same mix again is what is wanted.
    random.Random(content_key([seed, sample.id])).shuffle(order)  # noqa: S311
    place = {number: at for at, number in enumerate(order, start=1)}
    made = [
        replace(
            sample,
            id=f"{sample.id}-a{place[number]}",
            prompt={**sample.prompt, "answer": text},
            reference=gold,
            wrong=(),
            parallel_id=sample.parallel_id or sample.id,
            metadata={**sample.metadata, "gold": gold},
        )
        for number, gold, text in answers
        if text.strip()
    ]
    return sorted(made, key=lambda one: int(one.id.rpartition("-a")[2]))
