"""The answers a reader should see first: flagged, worst gates before others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, TypeAlias

from rich.padding import Padding
from rich.text import Text

from pytest_xling.records import Finding
from pytest_xling.reports.rendering import lines_of
from pytest_xling.reports.terminal.matrix import (
    is_drop,
    is_gap,
    is_of_metric,
    kind_of,
    language_name,
)
from pytest_xling.store.cases import read_cases
from pytest_xling.store.scores import metric_steps, worst
from pytest_xling.store.verdicts import read_verdicts
from pytest_xling.text.display import printable
from pytest_xling.text.numbers import Figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from sqlalchemy import Connection

    from pytest_xling.records import Verdict
    from pytest_xling.store.scores import Direction, Place, Worst

_WORDS: dict[Standing, tuple[str, str]] = {
    "failed": ("gate failed", "bold red"),
    "undecided": ("gate undecided", "yellow"),
    "tolerated": ("within the budget", "green"),
    "ungated": ("no gate", "dim"),
}
INDENT = 2
_LABEL_WIDTH = 8
_MOST_CHARS = 4
"""Characters of a column at most: letters with several signs each are cut sooner."""


def finding_parts(
    ranked: Ranked, *, width: int, lines: int, thoughts: bool = False
) -> Iterator[RenderableType]:
    """Yield a finding's title, what was detected, and its question above its answer.

    Args:
        ranked: the finding.
        width: of the terminal.
        lines: how many lines each of the texts may take.
        thoughts: whether to show the model's, below the answer.
    """
    finding = ranked.finding
    word, style = _WORDS[ranked.standing]
    language = f"{finding.language} {language_name(finding.language)}".rstrip()
    yield Text.assemble(
        (finding.metric, style), f"  {language}  {printable(finding.case)}  ", (word, style)
    )
    yield from _indented("", finding.reason, width=width, lines=lines)
    yield from _indented("asked", finding.question, width=width, lines=lines)
    if finding.answer.strip():
        yield from _indented("answer", finding.answer, width=width, lines=lines)
    else:
        yield Padding(Text(f"{'answer':{_LABEL_WIDTH}}(none)", style="dim"), (0, 0, 0, INDENT))
    if thoughts:
        yield from _indented("thought", finding.thoughts, width=width, lines=lines)


def _indented(label: str, text: str, *, width: int, lines: int) -> Iterator[Text]:
    """Yield a text cleaned and cut to *lines* lines, its label before the first."""
    head = f"{label:{_LABEL_WIDTH}}" if label else ""
    room = width - INDENT - len(head)
    content = printable(text, limit=_MOST_CHARS * room * lines)
    for number, line in enumerate(lines_of(content, width=room, most=lines) if content else ()):
        start = " " * INDENT + (head if number == 0 else " " * len(head))
        yield Text.assemble((start, "dim"), line)


Standing: TypeAlias = Literal["failed", "undecided", "tolerated", "ungated"]
"""What the gate says of the metric and language an answer was flagged in."""

_STANDINGS: tuple[Standing, ...] = ("failed", "undecided", "tolerated", "ungated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A finding, and what its gate made of it."""

    benchmark: str
    standing: Standing
    finding: Finding


def findings(
    connection: Connection,
    run_id: str,
    *,
    verdicts: Sequence[Verdict] | None = None,
    limit: int = 5,
) -> list[Finding]:
    """Return the worst findings of a run.

    Args:
        connection: to the store.
        run_id: the run.
        verdicts: what the gates say; by default what they said when the run was made.
        limit: findings at most.
    """
    if verdicts is None:
        verdicts = read_verdicts(connection, run_id)
    return [ranked.finding for ranked in find_worst(connection, run_id, verdicts, limit=limit)]


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
        if not is_gap(v) and not is_drop(v) and not v.estimate.trend
    }
    candidates = _candidates(connection, run_id, gates, each=limit)
    ranked: list[Ranked] = []
    listed: set[tuple[str, str]] = set()
    for standing, flagged in _in_turn(candidates, gates):
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
    rates = {place[:2] for place, gate in gates.items() if _of_flags(gate)}
    flags = [
        step
        for step in metric_steps(connection, run_id)
        if (step.benchmark, step.metric) in rates or (not gates and kind_of(step.metric) == "flag")
    ]
    numbers = {place: end for place, gate in gates.items() if (end := _beyond(gate)) is not None}
    return worst(connection, run_id, flagged=flags, numbers=numbers, each=each)


def _of_flags(verdict: Verdict) -> bool:
    """Tell whether flagged answers are to blame for what a gate says."""
    return verdict.threshold.max_rate is not None or verdict.estimate.per_case


def _beyond(verdict: Verdict) -> Direction | None:
    """Return which end of the values is to blame for a failed gate on a mean."""
    limits, made = verdict.threshold, verdict.estimate
    if verdict.outcome != "fail" or _of_flags(verdict):
        return None
    if limits.floor is not None and made.high is not None and made.high < limits.floor:
        return "lowest"
    return "highest"


def _in_turn(
    candidates: dict[Place, list[Worst]], gates: dict[Place, Verdict]
) -> Iterator[tuple[Standing, Worst]]:
    for standing in _STANDINGS:
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
    if gate is None or _of_flags(gate):
        return flagged.reason
    figures = Figures.of(gate.estimate)
    limits = (("floor", gate.threshold.floor), ("ceiling", gate.threshold.ceiling))
    limits_text = ", ".join(
        f"{name} of the mean {figures.limit(limit)}" for name, limit in limits if limit is not None
    )
    return "; ".join(filter(None, (f"{round(flagged.value, 3):g}; {limits_text}", flagged.reason)))
