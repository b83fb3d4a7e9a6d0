"""Whether a model says that the answer it is shown is right (XLingEval, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_xling.interfaces.metric import Number
from pytest_xling.records import Answer, Reading
from pytest_xling.text.verdict import verdict_of

__all__ = ["SaysRight"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaysRight(Number[Answer]):
    """Gives 1.0 where the model says "right", 0.0 where "wrong".

    The rules are those of :mod:`pytest_xling.text.yes_no`, in the answer's language or in English.
    Where they find neither, or both, the reading is None and its reason quotes the reply. Whether
    the verdict is true is not looked at: see ``misjudged``.
    """

    name = "says_right"
    version = "2"
    bounds = (0.0, 1.0)
    share = True

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer)


def _read(answer: Answer) -> Reading:
    verdict = verdict_of(answer)
    value = None if verdict.right is None else float(verdict.right)
    return Reading(value=value, reason=verdict.reason)
