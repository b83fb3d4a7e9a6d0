"""Draw a stratified sample that can be weighted back to all it was drawn from.

Strata are what the judge said within a language. Languages get equal shares of the sample, and so
do the strata of a language, as far as there is enough in them: what is rare is what reviewers
must see, and an item's weight makes up for its being seen more often (Cochran 1977, Sampling
Techniques, chapter 5). Shares grow one by one and items are drawn in an order that depends on
nothing but the seed and their names, so a larger sample with the same seed holds the smaller one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_xling.errors import ConfigError
from pytest_xling.keys import content_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Drawn", "Stratum", "allocate", "drawing_order", "stratified"]

Stratum: TypeAlias = tuple[str, str]
"""A language, and what the judge said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """An item of the sample."""

    name: str
    stratum: Stratum
    weight: float
    """How many items of its stratum it stands for; all weights sum to the population."""


def stratified(population: Iterable[tuple[str, Stratum]], size: int, *, seed: int) -> list[Drawn]:
    """Draw *size* items, at random within strata, at least one of each; all if there are fewer.

    Args:
        population: names, each once, with their strata.
        size: how many to draw.
        seed: of the draw.

    Returns:
        The items, mixed: neither language nor stratum can be told from an item's place.

    Raises:
        ConfigError: *size* is too small for the strata.
    """
    members: defaultdict[Stratum, list[str]] = defaultdict(list)
    for name, stratum in population:
        members[stratum].append(name)
    shares = allocate({stratum: len(names) for stratum, names in members.items()}, size)
    drawn = [
        Drawn(name=name, stratum=stratum, weight=len(names) / shares[stratum])
        for stratum, names in members.items()
        for name in drawing_order(names, seed=seed)[: shares[stratum]]
    ]
    return sorted(drawn, key=lambda item: content_key(["place", seed, item.name]))


def drawing_order(names: Iterable[str], *, seed: int) -> list[str]:
    """Return *names* in an order that is random but for the seed."""
    return sorted(names, key=lambda name: content_key(["draw", seed, name]))


def allocate(sizes: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """Return how many items to draw from each stratum.

    One from each to begin with; then one by one from the language that has fewest, there from the
    stratum that has fewest, as long as it is not used up. Ties go to what is larger, then by name.

    Args:
        sizes: how many items there are; at least 1 in each.
        size: how many to draw in all; those there are where that is more.

    Raises:
        ConfigError: there are more strata than items to draw.
    """
    if size < len(sizes):
        languages = len({language for language, _ in sizes})
        msg = (
            f"a sample of {size} cannot hold one of each of {len(sizes)} strata (what was said, in "
            f"{languages} languages); draw {len(sizes)} at least, better some {10 * len(sizes)}, "
            "or fewer languages"
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
        chosen = min((one for one in sizes if shares[one] < sizes[one]), key=order)
        shares[chosen] += 1
        of_language[chosen[0]] += 1
    return shares
