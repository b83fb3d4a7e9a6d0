"""Whether an answer contradicts the expert's (XLingEval §3.1, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.metrics._correctness import NEEDS, has_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Answer, Reading

__all__ = ["Contradictory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradictory:
    """Flags answers that a judge finds to contradict the reference answer.

    The reading is None, with the reason, where there is no reference or the judge gave no label.
    """

    name: ClassVar[str] = "contradictory"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "flag"
    needs: ClassVar[tuple[str, ...]] = NEEDS
    libraries: ClassVar[tuple[str, ...]] = ()
    scores_missing: ClassVar[bool] = False

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [has_label(answer, self.name) for answer in answers]
