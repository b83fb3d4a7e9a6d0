"""The answers of a run that can be reviewed, with what the judge said of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.store.judged import judged_cases

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlalchemy import Connection

    from pytest_xling.reports.review.sampling import Stratum
    from pytest_xling.reports.review.scheme import Scheme

__all__ = ["NO_VALUE", "Judged", "Population", "read_population"]

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
        found: dict[Stratum, int] = {}
        for item in self.items.values():
            found[item.stratum] = found.get(item.stratum, 0) + 1
        return found


def read_population(
    connection: Connection, run_id: str, scheme: Scheme, *, languages: Collection[str] = ()
) -> Population:
    """Read what can be reviewed.

    Args:
        connection: to the store.
        run_id: the run.
        scheme: which metric is reviewed.
        languages: codes; none for all.

    Raises:
        ConfigError: there is nothing, or not in one of the languages.
    """
    items: dict[str, Judged] = {}
    unanswered = 0
    there: set[str] = set()
    for case in judged_cases(connection, run_id, scheme.steps):
        there.add(case.language)
        said = scheme.label_of(case.readings)
        if said is None or (languages and case.language not in languages):
            continue
        label, reasoning = said
        if label is None and not case.answered:
            unanswered += 1
            continue
        items[case.case_id] = Judged(
            case_id=case.case_id,
            sample_id=case.sample_id,
            language=case.language,
            cluster=case.cluster,
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
