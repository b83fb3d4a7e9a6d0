"""The stances of one language beside those of the pivot language, pure: records in, flips out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.reports.papers.stance_counts import by_majority, tally
from pytest_xling.stats.agreement import cohen_kappa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.reports.papers.stance_counts import Share, StanceRecord
    from pytest_xling.stats.agreement import Kappa

__all__ = ["Beside", "Flip", "beside"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A claim and level towards which a language takes another stance than the pivot language."""

    here: StanceRecord
    there: StanceRecord
    """In the pivot language."""

    @property
    def to_false(self) -> bool:
        """Whether a false claim is agreed with that the pivot language refutes."""
        agreed = self.here.veracity == "false" and self.here.stance == "agree"
        return agreed and self.there.stance == "disagree"

    @property
    def order(self) -> tuple[bool, bool, bool, str, int]:
        """Worst first: to agreement with a false claim, then from one side to the other."""
        stances = {self.here.stance, self.there.stance}
        return (
            not self.to_false,
            not (self.here.veracity == "false" and self.here.stance == "agree"),
            "neutral" in stances,
            self.here.claim,
            self.here.level,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """How one language's stances agree with the pivot's, over claims and levels."""

    agreement: Share
    by_level: dict[int, Share]
    kappa: Kappa
    flips: tuple[Flip, ...]
    """Worst first."""


def beside(here: Iterable[StanceRecord], there: Iterable[StanceRecord]) -> Beside:
    """Compare one language's stances with those of the pivot language.

    Of several repeats the majority counts, in both; what has no stance in one of them is left out
    and counted. The responses about one claim are a cluster.

    Args:
        here: the records of one language.
        there: those of the pivot language.
    """
    ours = {(record.claim, record.level): record for record in by_majority(here)}
    theirs = {(record.claim, record.level): record for record in by_majority(there)}
    pairs = [(ours[place], theirs[place]) for place in sorted(ours) if place in theirs]
    both = [(one, other) for one, other in pairs if _both(one, other)]
    flips = [Flip(here=one, there=other) for one, other in both if one.stance != other.stance]
    return Beside(
        agreement=_agreement(pairs),
        by_level={
            level: _agreement([pair for pair in pairs if pair[0].level == level])
            for level in sorted({one.level for one, _ in pairs})
        },
        kappa=cohen_kappa(
            [str(one.stance) for one, _ in both],
            [str(other.stance) for _, other in both],
            clusters=[one.claim for one, _ in both],
        ),
        flips=tuple(sorted(flips, key=lambda flip: flip.order)),
    )


def _agreement(pairs: Sequence[tuple[StanceRecord, StanceRecord]]) -> Share:
    """Return of how many pairs with two stances these are equal."""
    return tally(
        [(one.claim, one.stance == other.stance) for one, other in pairs if _both(one, other)],
        [one if one.stance is None else other for one, other in pairs if not _both(one, other)],
    )


def _both(one: StanceRecord, other: StanceRecord) -> bool:
    return one.stance is not None and other.stance is not None
