"""Read pairs of a claim and a response with an NLI model, window by window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.annotators.stance import StanceAnnotator
from pytest_xling.annotators.stance.windows import combined, windows
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.models.nli.checkpoint import Label
    from pytest_xling.models.nli.model import NliModel
    from pytest_xling.text.answer_text import Pair
    from pytest_xling.text.stance import Stance

_LEAST_ROOM: Final = 16
"""Tokens a claim must leave to a window, or it would be judged by next to nothing."""
LABELS: Final[Mapping[Stance, Label]] = {
    "neutral": "neutral",
    "agree": "entailment",
    "disagree": "contradiction",
}
"""What each stance is to a model. Where two are equally probable, the first one counts."""


def read(pairs: Sequence[Pair], model: NliModel) -> list[JsonValue]:
    """Return the annotation of each pair, in order.

    Args:
        pairs: at least one.
        model: takes a window of the response as premise and the claim as hypothesis.

    Raises:
        EvaluationError: the model gives NaN or infinity.
    """
    without = model.lengths(["" for _ in pairs], [pair.about for pair in pairs])
    pieces = [
        windows(pair) if length + _LEAST_ROOM <= model.limit else []
        for pair, length in zip(pairs, without, strict=True)
    ]
    premises = [text for each in pieces for text in each]
    claims = [pair.about for pair, each in zip(pairs, pieces, strict=True) for _ in each]
    rows = model.probabilities(premises, claims)[
        :, [model.labels.index(LABELS[stance]) for stance in STANCES]
    ]
    values: list[JsonValue] = []
    start = 0
    for each, length in zip(pieces, without, strict=True):
        if not each:
            reason = (
                f"no stance: the claim has {length} tokens, and the NLI model takes {model.limit} "
                "of claim and response together"
            )
            values.append(StanceAnnotator.labelled_value(None, reason=reason))
            continue
        shares = combined(rows[start : start + len(each)])
        start += len(each)
        probable = dict(zip(STANCES, shares.tolist(), strict=True))
        stance = max(LABELS, key=probable.__getitem__)
        listed = ", ".join(f"{label} {probable[stated]:.3f}" for stated, label in LABELS.items())
        values.append(StanceAnnotator.labelled_value(stance, reasoning=listed))
    return values
