"""The answers of a run that can be reviewed, and a stratified sample of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.keys import content_key
from pytest_xling.store.cases import read_cases
from pytest_xling.store.scores import level_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.reports.review.scheme import Scheme

Stratum: TypeAlias = tuple[str, str]
"""A language, and what the judge said; or, where nothing was judged, the set of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """An item of the sample."""

    name: str
    stratum: Stratum
    weight: float
    """How many items of its stratum it stands for; all weights sum to the population."""


def stratified(population: Iterable[tuple[str, Stratum]], size: int, *, seed: int) -> list[Drawn]:
    """Draw *size* items, at random within strata, at least one of each; all if there are fewer.

    They are mixed: neither language nor stratum can be told from an item's place.

    Args:
        population: names, each once, with their strata.
        size: how many to draw.
        seed: of the draw.

    Raises:
        ConfigError: *size* is too small for the strata.
    """
    members: defaultdict[Stratum, list[str]] = defaultdict(list)
    for name, stratum in population:
        members[stratum].append(name)
    shares = allocate({stratum: len(names) for stratum, names in members.items()}, size)
    return drawn(members, shares, seed=seed)


def drawn(
    members: Mapping[Stratum, Sequence[str]],
    shares: Mapping[Stratum, int],
    *,
    without: Collection[str] = (),
    seed: int,
) -> list[Drawn]:
    """Draw so many members of each stratum, at random, from those that are not among *without*."""
    items = []
    for stratum, share in shares.items():
        names = sorted(members[stratum], key=lambda name: content_key(["draw", seed, name]))
        left = [name for name in names if name not in without]
        whole = len(names) / (len(names) - len(left) + share) if share else 0.0
        items += [Drawn(name=name, stratum=stratum, weight=whole) for name in left[:share]]
    return sorted(items, key=lambda item: content_key(["place", seed, item.name]))


def allocate(sizes: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """Return how many items to draw from each stratum.

    One from each to begin with; then one by one from the language that has fewest, there from the
    stratum that has fewest, as long as it is not used up. Ties go to what is larger, then by name.

    Raises:
        ConfigError: there are more strata than items to draw.
    """
    if size < len(sizes):
        languages = len({language for language, _ in sizes})
        msg = (
            f"a sample of {size} cannot hold one of each of {len(sizes)} strata (what was said, or "
            f"sets of questions, in {languages} languages); draw {len(sizes)} at least, better some"
            f" {10 * len(sizes)}, or fewer languages"
        )
        raise ConfigError(msg)
    shares = dict.fromkeys(sizes, 1)
    of_language = Counter(language for language, _ in sizes)
    whole: Counter[str] = Counter()
    for (language, _), many in sizes.items():
        whole[language] += many

    def order(stratum: Stratum) -> tuple[Any, ...]:
        language = stratum[0]
        return (
            of_language[language],
            -whole[language],
            language,
            shares[stratum],
            -sizes[stratum],
            stratum,
        )

    for _ in range(min(size, sum(sizes.values())) - len(sizes)):
        chosen = min((stratum for stratum in sizes if shares[stratum] < sizes[stratum]), key=order)
        shares[chosen] += 1
        of_language[chosen[0]] += 1
    return shares


NO_VALUE: Final = "no value"
"""The stratum of answers about which the judge said nothing that can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An answer and what the judge said of it."""

    case_id: str
    sample_id: str
    language: str
    cluster: str
    """What answers share that are about one question or claim."""
    label: str | None
    reasoning: str
    """The judge's; without a label, why there is none."""
    metadata: Mapping[str, str]

    @property
    def stratum(self) -> Stratum:
        """Its language, and what the judge said."""
        return (self.language, self.label or NO_VALUE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """All answers of a run that can be reviewed."""

    items: Mapping[str, Judged]
    """By case."""
    unanswered: int
    """Cases left out: there is no text to look at, and the judge said nothing."""

    def sizes(self) -> dict[Stratum, int]:
        """Return how many answers there are, by stratum."""
        return dict(Counter(item.stratum for item in self.items.values()))

    def at_level(self, level: int) -> Population:
        """Return the answers to questions of one level of presupposition."""
        there = {
            case: item
            for case, item in self.items.items()
            if level_of(item.metadata.get("level")) == level
        }
        return replace(self, items=there)


def read_population(
    connection: Connection, run_id: str, scheme: Scheme, *, languages: Collection[str] = ()
) -> Population:
    """Read what can be reviewed, in some *languages* or in all.

    Raises:
        ConfigError: there is nothing, or not in one of the languages.
    """
    items: dict[str, Judged] = {}
    unanswered = 0
    there: set[str] = set()
    for case in read_cases(connection, run_id, benchmark=scheme.benchmark, scored=scheme.steps):
        there.add(case.language)
        verdict = scheme.label_of(case.readings)
        if verdict is None or (languages and case.language not in languages):
            continue
        label, reasoning = verdict
        if label is None and not case.answered:
            unanswered += 1
            continue
        items[case.case_id] = Judged(
            case_id=case.case_id,
            sample_id=case.sample_id,
            language=case.language,
            cluster=case.question_id,
            label=label,
            reasoning=reasoning,
            metadata=case.metadata,
        )
    having = {item.language for item in items.values()}
    for language in languages:
        if language not in having:
            msg = (
                f"run {run_id!r} has no answers in {language!r} that were scored with "
                f"{scheme.metric!r}.{did_you_mean(language, there)} It was asked in: "
                f"{', '.join(sorted(there)) or 'none'}"
            )
            raise ConfigError(msg)
    if not items:
        left = f"; of {unanswered} cases there is no text to look at" if unanswered else ""
        msg = f"run {run_id!r} has no answer that was scored with {scheme.metric!r}{left}"
        raise ConfigError(msg)
    return Population(items=items, unanswered=unanswered)
