"""Numbers that carry a stance, of a claim and a response.

Words alone carry little: the same words affirm and deny. So four kinds of numbers stand side by
side: how like the claim the response is (what is beside the point is neutral), how much of the
claim's wording comes back, what cues the response has (and whether it negates where the claim does
not), and which of the claim affirmed, denied or left open it sounds like. Beside these stands the
response's embedding less the claim's: the manner in which it speaks.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from pytest_xling.annotators.stance.head.reading import read
from pytest_xling.annotators.stance.head.training import frames
from pytest_xling.text import stance_cues
from pytest_xling.text.langid import identify
from pytest_xling.text.stance import STANCES
from pytest_xling.text.stance_cues import count_cues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_xling.annotators.stance.head.reading import Reading
    from pytest_xling.annotators.stance.pair import Pair
    from pytest_xling.encoders import Encoder
    from pytest_xling.text.stance import Stance
    from pytest_xling.text.stance_cues import Cue

__all__ = ["LEAST_SPREAD", "NAMES", "SIGNS", "UNIT", "feature_version", "stance_features"]

_VERSION = "1"
"""Raised whenever the same pair would get other numbers by a change of code."""
_DIMENSIONS = 384
"""Of the embedded encoder."""

_AT_ONCE = 64
_OPENING_CHARACTERS = 200
_MOST = 3
"""More cues of a kind count as this many: a long response is not a stronger one."""
_SCOPES = ("excerpt", "nearest")
_SCOPED: tuple[Cue, ...] = (
    "refutes",
    "supports",
    "hedges",
    "negates",
    "reports",
    "contrasts",
    "refuses",
)
_SIMILARITY = ("nearest", "mean", "whole")
_WORDING = (
    "claim_mean",
    "claim_least",
    "claim_quarter",
    "claim_half",
    "response_mean",
    "response_most",
)
_OPENING = ("opens_yes", "opens_no", "opens_yes_to_negation", "opens_no_to_negation")
_POLARITY = (
    "claim_negated",
    "nearest_differs",
    "excerpt_differs",
    "nearest_negates_alone",
    "claim_negates_alone",
    "negates_turned",
)
_CUES = (*(f"{scope}_{cue}" for scope in _SCOPES for cue in _SCOPED), *_OPENING, *_POLARITY)
_SEMANTIC = (
    *(f"similarity_{name}" for name in _SIMILARITY),
    *(f"wording_{name}" for name in _WORDING),
)
_MANNER = tuple(f"manner_{number}" for number in range(_DIMENSIONS))

NAMES: Final = (*_SEMANTIC, *_CUES, *frames.NAMES, *_MANNER)
LEAST_SPREAD: Final = tuple(0.15 if name in _CUES else 1e-6 for name in NAMES)
"""Standard deviations that features are taken to have at least: a cue that hardly ever occurs is
not blown up."""
UNIT: Final = tuple(0.1 if name in _MANNER else 1.0 for name in NAMES)
"""How much a standard deviation of a feature counts: of 384 that say little each, less."""

_SIGNS: Final[dict[str, dict[Stance, int]]] = {
    "refutes": {"agree": -1, "disagree": 1},
    "opens_no": {"agree": -1, "disagree": 1},
    "supports": {"agree": 1, "disagree": -1},
    "opens_yes": {"agree": 1, "disagree": -1},
    "hedges": {"agree": -1, "disagree": -1, "neutral": 1},
}
SIGNS: Final = tuple(
    tuple(
        _SIGNS.get(name.removeprefix("excerpt_").removeprefix("nearest_"), {}).get(stance, 0)
        for stance in STANCES
    )
    for name in NAMES
)
"""For each feature and stance 1 or -1 where its weight may only have that sign: what a cue means is
known, and where several occur together one of them is easily learnt the wrong way round."""


@cache
def feature_version() -> str:
    """Return what weights must have been trained on: the version of code, cues and frames."""
    content = b"".join(
        hashlib.sha256(file.read_bytes()).digest() for file in (stance_cues.FILE, frames.FILE)
    )
    return f"{_VERSION}-{hashlib.sha256(content).hexdigest()[:12]}"


def stance_features(pairs: Sequence[Pair], encoder: Encoder) -> NDArray[np.float64]:
    """Return the features of *pairs*: shape (pairs, features), in the order of ``NAMES``.

    Raises:
        EvaluationError: the encoder gives NaN or infinity.
    """
    parts = []
    for start in range(0, len(pairs), _AT_ONCE):
        some = pairs[start : start + _AT_ONCE]
        readings = read(some, encoder)
        languages = identify([reading.excerpt for reading in readings])
        own = [
            [*_similarity(reading), *_wording(reading), *_cues(pair, reading, language)]
            for pair, reading, language in zip(some, readings, languages, strict=True)
        ]
        manner = [reading.vector - reading.claim.vector for reading in readings]
        framing = frames.frame_features(some, readings, encoder)
        parts.append(np.concatenate([own, framing, manner], axis=1))
    return np.concatenate(parts)


def _similarity(reading: Reading) -> list[float]:
    whole = float(reading.vector @ reading.claim.vector)
    return [float(reading.cosines.max()), float(reading.cosines.mean()), whole]


def _wording(reading: Reading) -> list[float]:
    """Return how well tokens of the claim are matched in the response, and the other way round."""
    tokens = np.concatenate([sentence.tokens for sentence in reading.sentences])
    cosines = reading.claim.tokens @ tokens.T
    claim, response = np.sort(cosines.max(axis=1)), np.sort(cosines.max(axis=0))
    return [
        float(claim.mean()),
        float(claim[0]),
        float(claim[len(claim) // 4]),
        float(claim[len(claim) // 2]),
        float(response.mean()),
        float(response[-3:].mean()),
    ]


def _cues(pair: Pair, reading: Reading, language: str) -> list[float]:
    """Return the cues by where they stand, and how they sit with negation in the claim.

    Args:
        pair: the claim and the response.
        reading: the sentences that are read.
        language: the one the response seems to be in, whatever it should be in.
    """
    languages = {pair.language, language}
    texts = (reading.excerpt, reading.sentences[reading.nearest].text)
    excerpt, nearest = (count_cues(text, languages, known=pair.claim) for text in texts)
    opening = count_cues(pair.response[:_OPENING_CHARACTERS], languages)
    claim_negated = count_cues(pair.claim, {pair.language})["negates"] > 0
    excerpt_negates, nearest_negates = excerpt["negates"] > 0, nearest["negates"] > 0
    yes_no = (opening["opens_yes"], opening["opens_no"])
    return [
        *(float(min(counts[cue], _MOST)) for counts in (excerpt, nearest) for cue in _SCOPED),
        *(float(opens and not claim_negated) for opens in yes_no),
        *(float(opens and claim_negated) for opens in yes_no),
        float(claim_negated),
        float(nearest_negates != claim_negated),
        float(excerpt_negates != claim_negated),
        float(nearest_negates and not claim_negated),
        float(claim_negated and not nearest_negates),
        (-1.0 if claim_negated else 1.0) * nearest_negates,
    ]
