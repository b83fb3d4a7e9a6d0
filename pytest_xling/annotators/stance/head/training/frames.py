"""How much a sentence sounds like a claim that is affirmed, denied or left open."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_xling.annotators.stance.head.reading import Reading
    from pytest_xling.annotators.stance.pair import Pair
    from pytest_xling.encoders import Encoder

__all__ = ["FILE", "NAMES", "frame_features", "framed"]

FILE: Final = Path(__file__).with_suffix(".jsonl")
_FALLBACK = "en"
"""Frames are put around claims of languages that have none of their own, too: the encoder was
trained on texts of mixed languages."""

NAMES = (
    *(f"frame_{stance}" for stance in STANCES),
    *(f"frame_{stance}_most" for stance in STANCES),
)


def framed(claim: str, language: str) -> list[list[str]]:
    """Return for each stance the claim in the frames that take it."""
    frames = _frames().get(language) or _frames()[_FALLBACK]
    return [[frame.replace("{claim}", claim) for frame in frames[stance]] for stance in STANCES]


def frame_features(
    pairs: Sequence[Pair], readings: Sequence[Reading], encoder: Encoder
) -> NDArray[np.float64]:
    """Return how like the frames of each stance a response is: shape (pairs, features).

    For each stance: the highest mean cosine of a sentence with the claim so framed, less the
    highest with the claim alone; then the same less their mean over the stances.
    """
    texts = [framed(pair.claim, pair.language) for pair in pairs]
    distinct = list(dict.fromkeys(text for of in texts for frames in of for text in frames))
    vectors = dict(zip(distinct, encoder.sentence_embeddings(distinct), strict=True))
    rows = []
    for of, reading in zip(texts, readings, strict=True):
        sentences = np.array([sentence.vector for sentence in reading.sentences])
        most = [
            (sentences @ np.array([vectors[text] for text in frames]).T).mean(axis=1).max()
            for frames in of
        ]
        rows.append(np.array(most) - reading.cosines.max())
    counts = np.array(rows).reshape(len(rows), len(STANCES))
    return np.concatenate([counts, counts - counts.mean(axis=1, keepdims=True)], axis=1)


@cache
def _frames() -> dict[str, dict[str, list[str]]]:
    frames: dict[str, dict[str, list[str]]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        frames.setdefault(row["language"], {})[row["stance"]] = row["frames"]
    return frames
