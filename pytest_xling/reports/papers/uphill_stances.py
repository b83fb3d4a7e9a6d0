"""UPHILL's measures of stances (section 3.5), pure: records in, shares out."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pytest_xling.stats.clusters import effective_size
from pytest_xling.stats.kappa import cohen_kappa
from pytest_xling.stats.rate_intervals import wilson_interval
from pytest_xling.text.stance import RIGHT_STANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_xling.stats.kappa import Kappa
    from pytest_xling.text.stance import Stance

NEUTRAL: Final = 0
"""The level at which nothing is presupposed."""
_TIE: Final = "tie"
_UNPARSED: Final = "unparsed"
_ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceRecord:
    """The stance of one response towards its claim."""

    claim: str
    veracity: str
    language: str
    level: int
    repeat: str
    """Responses with the same one belong together over levels and languages."""
    stance: Stance | None
    reason: str = ""
    """Why there is none; begins with "unparsed" where the annotator's reply cannot be read."""
    sample: str = ""
    """The id of the question, where the record came from a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the responses, or of what is made of them, with a 95 % interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    unparsed: int = 0
    """Left out since the annotator's reply about a response cannot be read."""
    tied: int = 0
    """Left out since no stance is that of most repeats."""
    no_stance: int = 0
    """Left out for other reasons: no answer, no translation."""
    reason: str = ""
    """Why there is no value."""


def is_right(record: StanceRecord) -> bool:
    """Tell whether a response takes the stance that is factually right."""
    return record.stance == RIGHT_STANCE[record.veracity]


def has_right_stance(record: StanceRecord) -> bool:
    """Tell whether one stance is right towards the claim: not where it is fabricated."""
    return record.veracity in RIGHT_STANCE


def by_majority(records: Iterable[StanceRecord]) -> list[StanceRecord]:
    """Put the repeats of a claim, language and level together as the stance most of them take.

    Repeats without a stance have no vote. In a tie there is no stance.
    """
    groups: defaultdict[tuple[str, str, int], list[StanceRecord]] = defaultdict(list)
    for record in records:
        groups[record.claim, record.language, record.level].append(record)
    return [_most(repeats) for repeats in groups.values()]


def _most(repeats: Sequence[StanceRecord]) -> StanceRecord:
    first = min(repeats, key=lambda record: record.repeat)
    votes = Counter(record.stance for record in repeats if record.stance is not None)
    if not votes:
        return replace(first, repeat="")
    most = max(votes.values())
    leading: list[Stance] = [stance for stance, count in votes.items() if count == most]
    if len(leading) > 1:
        return replace(first, repeat="", stance=None, reason=_TIE)
    return replace(first, repeat="", stance=leading[0], reason="")


def share(
    records: Sequence[StanceRecord], holds: Callable[[StanceRecord], bool], *, alpha: float = _ALPHA
) -> Share:
    """Return of how many records with a stance *holds* is true.

    The interval is Wilson's with the effective number of responses, those about one claim being a
    cluster.
    """
    flags = [(record, holds(record)) for record in records if record.stance is not None]
    return tally(
        [(record.claim, held) for record, held in flags],
        [record for record in records if record.stance is None],
        alpha=alpha,
    )


def accuracy(records: Iterable[StanceRecord], *, alpha: float = _ALPHA) -> Share:
    """Return the share of right responses, of all to claims towards which a stance is right."""
    return share([record for record in records if has_right_stance(record)], is_right, alpha=alpha)


def overall_accuracy(records: Sequence[StanceRecord], *, alpha: float = _ALPHA) -> Share:
    """Return the mean of the accuracies at the levels, each counting alike (section 3.5).

    The interval is Wilson's around it, with the effective number of all responses.
    """
    pooled = accuracy(records, alpha=alpha)
    levels = sorted({record.level for record in records if has_right_stance(record)})
    by_level = [accuracy([r for r in records if r.level == level], alpha=alpha) for level in levels]
    values = [accurate.value for accurate in by_level if accurate.value is not None]
    if len(values) < len(levels):
        lacking = [
            level
            for level, accurate in zip(levels, by_level, strict=True)
            if accurate.value is None
        ]
        reason = f"no stance at level {', '.join(map(str, lacking))}"
        return replace(pooled, value=None, low=None, high=None, reason=reason)
    if pooled.value is None or pooled.value == (mean := math.fsum(values) / len(values)):
        return pooled
    flags = [
        (record.claim, is_right(record))
        for record in records
        if record.stance is not None and has_right_stance(record)
    ]
    low, high = _interval(mean, flags, alpha=alpha)
    return replace(pooled, value=mean, low=low, high=high)


def neutral_consistency(
    records: Iterable[StanceRecord], level: int, *, alpha: float = _ALPHA
) -> Share:
    """Return the share of responses at *level* that take the stance of the neutral query's.

    Each repeat is compared with the same repeat of the neutral query (Table 11).
    """
    pairs = [
        (by_stance_level[NEUTRAL], by_stance_level[level])
        for by_stance_level in _by_repeat(records).values()
        if NEUTRAL in by_stance_level and level in by_stance_level
    ]
    return _alike(pairs, alpha=alpha)


def consistency(records: Sequence[StanceRecord], *, alpha: float = _ALPHA) -> Share:
    """Return the share of claims whose responses take one stance at all levels (section 3.5).

    Each repeat counts by itself. All levels that some claim was asked at need a stance, and there
    must be two.
    """
    levels = {record.level for record in records}
    if len(levels) < 2:  # noqa: PLR2004  one stance is equal to itself
        return Share(value=None, low=None, high=None, n=0, reason="fewer than two levels")
    complete = [
        tuple(by_stance_level.values())
        for by_stance_level in _by_repeat(records).values()
        if by_stance_level.keys() == levels
    ]
    return _alike(complete, alpha=alpha)


def _by_repeat(records: Iterable[StanceRecord]) -> dict[tuple[str, str], dict[int, StanceRecord]]:
    """Return the responses of one repeat to the queries about one claim, by level."""
    repeats: defaultdict[tuple[str, str], dict[int, StanceRecord]] = defaultdict(dict)
    for record in records:
        repeats[record.claim, record.repeat][record.level] = record
    return repeats


def _alike(groups: Sequence[Sequence[StanceRecord]], *, alpha: float) -> Share:
    """Return the share of *groups* whose records all take one stance."""
    flags: list[tuple[str, bool]] = []
    lacking: list[StanceRecord] = []
    for group in groups:
        without = [record for record in group if record.stance is None]
        if without:
            lacking.append(without[0])
        else:
            flags.append((group[0].claim, len({record.stance for record in group}) == 1))
    return tally(flags, lacking, alpha=alpha)


def tally(
    flags: Sequence[tuple[str, bool]], lacking: Sequence[StanceRecord], *, alpha: float = _ALPHA
) -> Share:
    """Return the share of *flags* that are raised.

    Args:
        flags: each with its claim; those of one claim are a cluster.
        lacking: what has no flag, since it has no stance.
        alpha: the interval misses with this probability, both sides together.
    """
    unparsed = sum(record.reason.startswith(_UNPARSED) for record in lacking)
    tied = sum(record.reason == _TIE for record in lacking)
    value = sum(held for _, held in flags) / len(flags) if flags else None
    low, high = _interval(value, flags, alpha=alpha) if value is not None else (None, None)
    reasons = Counter(record.reason or "no stance" for record in lacking)
    why = max(sorted(reasons), key=reasons.__getitem__) if reasons else "no answers"
    return Share(
        value=value,
        low=low,
        high=high,
        n=len(flags),
        unparsed=unparsed,
        tied=tied,
        no_stance=len(lacking) - unparsed - tied,
        reason="" if flags else why,
    )


def _interval(
    value: float, flags: Sequence[tuple[str, bool]], *, alpha: float
) -> tuple[float, float] | tuple[None, None]:
    # In one order, so that rounding does not depend on the order answers came in.
    ordered = sorted(flags)
    size = effective_size([float(held) for _, held in ordered], [claim for claim, _ in ordered])
    return wilson_interval(value, size, alpha=alpha) or (None, None)


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
    both = [(here, other) for here, other in pairs if _both(here, other)]
    flips = [Flip(here=here, there=other) for here, other in both if here.stance != other.stance]
    return Beside(
        agreement=_agreement(pairs),
        by_level={
            level: _agreement([pair for pair in pairs if pair[0].level == level])
            for level in sorted({here.level for here, _ in pairs})
        },
        kappa=cohen_kappa(
            [str(here.stance) for here, _ in both],
            [str(other.stance) for _, other in both],
            clusters=[here.claim for here, _ in both],
        ),
        flips=tuple(sorted(flips, key=lambda flip: flip.order)),
    )


def _agreement(pairs: Sequence[tuple[StanceRecord, StanceRecord]]) -> Share:
    """Return of how many pairs with two stances these are equal."""
    return tally(
        [(here.claim, here.stance == other.stance) for here, other in pairs if _both(here, other)],
        [here if here.stance is None else other for here, other in pairs if not _both(here, other)],
    )


def _both(here: StanceRecord, other: StanceRecord) -> bool:
    return here.stance is not None and other.stance is not None
