"""Whether a model says that the answer it is shown is right (XLingEval, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._verdict import verdict_of
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Bounds, MetricKind
    from pytest_xling.records import Answer

__all__ = ["SaysRight"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaysRight:
    """Gives 1.0 where the model says "right", 0.0 where "wrong".

    The rules are those of :mod:`pytest_xling.text.yes_no`, in the answer's language or in English.
    Where they find neither, or both, the reading is None and its reason quotes the reply. Whether
    the verdict is true is not looked at: see ``misjudged``.
    """

    name: ClassVar[str] = "says_right"
    version: ClassVar[str] = "2"
    kind: ClassVar[MetricKind] = "number"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    share: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ()
    scores_missing: ClassVar[bool] = False

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [_read(answer) for answer in answers]


def _read(answer: Answer) -> Reading:
    verdict = verdict_of(answer)
    value = None if verdict.right is None else float(verdict.right)
    return Reading(value=value, reason=verdict.reason)
