"""The answers a reader should see first: flagged, worst gates before others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pytest_xling.gates.spec import kind_of
from pytest_xling.records import Finding
from pytest_xling.reports.estimates import traits_of
from pytest_xling.reports.gate_summary import is_of_metric
from pytest_xling.store.cases import read_cases
from pytest_xling.store.scores import metric_steps, worst
from pytest_xling.text.numbers import Figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.records import Verdict
    from pytest_xling.store.scores import Direction, Place, Worst

Standing: TypeAlias = Literal["failed", "undecided", "tolerated", "ungated"]
"""What the gate says of the metric and language an answer was flagged in."""

STANDINGS: Final[Mapping[Standing, str]] = {
    "failed": "gate failed",
    "undecided": "gate undecided",
    "tolerated": "within the budget",
    "ungated": "no gate",
}
"""In the order in which findings are shown, with the words for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A finding, and what its gate says."""

    benchmark: str
    standing: Standing
    finding: Finding


def find_worst(
    connection: Connection, run_id: str, verdicts: Sequence[Verdict], *, limit: int
) -> list[Ranked]:
    """Return findings of failed gates first, then of undecided ones, then tolerated ones.

    Within these, gates take turns, those furthest beyond their limit first, and an answer is shown
    once. Only the texts of what is returned are read.
    """
    # No single answer is to blame for a gap, a drop or a trend. Of several gates of one metric and
    # language that of all levels speaks, and where there is none the last that did not pass.
    gates = {
        (v.threshold.benchmark, v.threshold.metric, v.threshold.language): v
        for v in sorted(verdicts, key=lambda v: (is_of_metric(v), v.outcome != "pass"))
        if kind_of(v.estimate) in {"limit", "cases"}
    }
    candidates = _candidates(connection, run_id, gates, each=limit)
    ranked: list[Ranked] = []
    listed: set[tuple[str, str]] = set()
    for standing, flagged in _interleaved(candidates, gates):
        if len(ranked) == limit:
            break
        if (flagged.benchmark, flagged.case_id) in listed:
            continue
        listed.add((flagged.benchmark, flagged.case_id))
        gate = gates.get((flagged.benchmark, flagged.metric, flagged.language))
        (case,) = read_cases(
            connection, run_id, benchmark=flagged.benchmark, case_ids=[flagged.case_id]
        )
        finding = Finding(
            case=flagged.case_id,
            metric=flagged.metric,
            language=flagged.language,
            question=case.question,
            answer=case.text,
            thoughts=case.thoughts,
            reason=_reason(flagged, gate),
        )
        ranked.append(Ranked(benchmark=flagged.benchmark, standing=standing, finding=finding))
    return ranked


def _candidates(
    connection: Connection, run_id: str, gates: dict[Place, Verdict], *, each: int
) -> dict[Place, list[Worst]]:
    """Return flagged answers of gated metrics, and what pulled a failed mean beyond its limit.

    Metrics without a gate count only where nothing has one.
    """
    rates = {place[:2] for place, gate in gates.items() if _is_about_flags(gate)}
    flags = [
        step
        for step in metric_steps(connection, run_id)
        if (step.benchmark, step.metric) in rates
        or (not gates and traits_of(step.metric).kind == "flag")
    ]
    numbers = {place: end for place, gate in gates.items() if (end := _worst_end(gate)) is not None}
    return worst(connection, run_id, flagged=flags, numbers=numbers, each=each)


def _is_about_flags(verdict: Verdict) -> bool:
    """Tell whether flagged answers are to blame for what a gate says."""
    return verdict.threshold.max_rate is not None or verdict.estimate.per_case


def _worst_end(verdict: Verdict) -> Direction | None:
    """Return which end of the values is to blame for a failed gate on a mean."""
    limits, estimate = verdict.threshold, verdict.estimate
    if verdict.outcome != "fail" or _is_about_flags(verdict):
        return None
    if limits.floor is not None and estimate.high is not None and estimate.high < limits.floor:
        return "lowest"
    return "highest"


def _interleaved(
    candidates: dict[Place, list[Worst]], gates: dict[Place, Verdict]
) -> Iterator[tuple[Standing, Worst]]:
    for standing in STANDINGS:
        places = [place for place in candidates if _standing(gates.get(place)) == standing]
        places.sort(key=lambda place: (-_excess(gates.get(place)), place))
        for turn in zip_longest(*(candidates[place] for place in places)):
            for flagged in turn:
                if flagged is not None:
                    yield standing, flagged


def _standing(verdict: Verdict | None) -> Standing:
    if verdict is None:
        return "ungated"
    if verdict.outcome == "fail":
        return "failed"
    return "tolerated" if verdict.outcome == "pass" else "undecided"


def _excess(verdict: Verdict | None) -> float:
    """Return by how much a rate is beyond its budget; 0 for other gates."""
    if verdict is None or verdict.estimate.value is None or verdict.threshold.max_rate is None:
        return 0.0
    return verdict.estimate.value - verdict.threshold.max_rate


def _reason(flagged: Worst, gate: Verdict | None) -> str:
    """Say what was detected, or for a number what it is."""
    if gate is None or _is_about_flags(gate):
        return flagged.reason
    figures = Figures.of(gate.estimate)
    limits = (("floor", gate.threshold.floor), ("ceiling", gate.threshold.ceiling))
    limits_text = ", ".join(
        f"{name} of the mean {figures.limit(limit)}" for name, limit in limits if limit is not None
    )
    value = figures.value(flagged.value) if figures.share else f"{round(flagged.value, 3):g}"
    return "; ".join(filter(None, (f"{value}; {limits_text}", flagged.reason)))
