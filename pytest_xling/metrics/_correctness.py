"""Read the label a judge gave an answer (the annotator ``correctness_label``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_xling.records import Reading
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from pytest_xling.records import Answer

__all__ = ["NEEDS", "has_label"]

NEEDS: Final = ("correctness_label",)
_SHOWN = 300


def has_label(answer: Answer, label: str) -> Reading:
    """Return 1.0 if *answer* has *label*, with the judge's reasoning; 0.0 if it has another."""
    seen: Any = answer.annotations["correctness_label"].value
    if seen["label"] is None:
        return Reading(value=None, reason=printable(seen["reason"], limit=_SHOWN))
    if seen["label"] != label:
        return Reading(value=0.0)
    reasoning = seen["reasoning"] or "the judge gave no reasoning"
    return Reading(value=1.0, reason=printable(reasoning, limit=_SHOWN))
