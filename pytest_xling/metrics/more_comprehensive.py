"""Whether an answer tells more than the expert's (XLingEval §3.1, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._correctness import NEEDS, has_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Better, Bounds, MetricKind
    from pytest_xling.records import Answer, Reading

__all__ = ["MoreComprehensive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreComprehensive:
    """1 for answers that say what the reference answer says, more completely and to the point.

    So a judge finds; it is the paper's "more comprehensive and appropriate", whose decrease from
    English to other languages is its headline. 0 for all other labels; None, with the reason,
    where there is no reference or the judge gave no label.
    """

    name: ClassVar[str] = "more_comprehensive"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "number"
    bounds: ClassVar[Bounds] = (0.0, 1.0)
    share: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    needs: ClassVar[tuple[str, ...]] = NEEDS
    libraries: ClassVar[tuple[str, ...]] = ()
    scores_missing: ClassVar[bool] = False

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [has_label(answer, self.name) for answer in answers]
