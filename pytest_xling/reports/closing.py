"""The gates that did not pass, each with its reason, and the last word."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pytest_xling.gates.judge import blocks
from pytest_xling.reports.matrix import OUTCOMES, is_overall, named
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Outcome, Verdict

__all__ = ["faults_met", "is_closed", "last_word", "reasons"]

GATE_WIDTH = 26
REASON_CHARS = 400
_ORDER: tuple[Outcome, ...] = ("error", "fail", "inconclusive")


def is_closed(verdicts: Sequence[Verdict]) -> bool:
    """Tell whether one of the gates keeps the release back."""
    return any(map(blocks, verdicts))


def reasons(verdicts: Sequence[Verdict], *, most: int) -> tuple[Table | None, int]:
    """Return a line for each gate that did not pass, and how many gates were left out.

    Gates of one metric that give the same reason in several languages share a line.

    Args:
        verdicts: of all gates.
        most: lines at most; gates that keep the release back first, failed ones before others,
            rates before means.
    """
    told = sorted(
        (verdict for verdict in verdicts if verdict.outcome != "pass"),
        key=lambda v: (
            not blocks(v),
            _ORDER.index(v.outcome),
            v.threshold.benchmark,
            v.threshold.max_rate is None or not is_overall(v),
            v.case,
        ),
    )
    if not told:
        return None, 0
    alike: dict[tuple[Outcome, str, str, str, str], list[str]] = {}
    for verdict in told:
        limits = verdict.threshold
        line = (verdict.outcome, limits.benchmark, named(verdict), verdict.reason, limits.origin)
        alike.setdefault(line, []).append(limits.language)
    several = len({verdict.threshold.benchmark for verdict in verdicts}) > 1
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(max_width=GATE_WIDTH, overflow="fold")
    table.add_column(overflow="fold")
    for (outcome, benchmark, metric, why, origin), languages in list(alike.items())[:most]:
        look = OUTCOMES[outcome]
        gate = f"{benchmark}/{metric}" if several else metric
        reason = Text(printable(why, limit=REASON_CHARS))
        if origin:
            reason.append(f" ({printable(origin)})", style="dim")
        which = Text(f"{gate} {' '.join(languages)}", style=look.style)
        table.add_row(Text(look.symbol, style=look.style), which, reason)
    return table, sum(len(languages) for languages in list(alike.values())[most:])


def last_word(verdicts: Sequence[Verdict], *, complete: bool = True) -> Text:
    """Say whether the gate is open, and the numbers behind that.

    Args:
        verdicts: of all gates.
        complete: whether the run has all its answers; else, and where a gate lacks some, nothing
            is decided.
    """
    if not verdicts:
        return Text("no gate was judged", style="yellow")
    counts = Counter(verdict.outcome for verdict in verdicts)
    lacking = counts["error"]
    if lacking:
        lack = "lacks" if lacking == 1 else "lack"
        said = f"gate undecided: {_of(lacking, verdicts)} {lack} answers"
        return Text(", ".join((said, *_others(verdicts))), style="bold yellow")
    passed = f"{_of(counts['pass'], verdicts)} passed"
    if not complete:
        said = f"gate undecided: answers are missing; {passed}"
        return Text(", ".join((said, *_others(verdicts))), style="bold yellow")
    if not is_closed(verdicts):
        return Text(", ".join((f"gate open: {passed}", *_others(verdicts))), style="bold green")
    first, *others = _others(verdicts)
    number, word = first.split(" ", 1)
    said = f"gate closed: {_of(int(number), verdicts)} {word}"
    return Text(", ".join((said, *others)), style="bold red")


def faults_met(count: int) -> str:
    """Say how many cases met a fault."""
    return f"{count:,} case{'' if count == 1 else 's'} met a fault"


def _of(count: int, verdicts: Sequence[Verdict]) -> str:
    return f"{count} of {len(verdicts)} gate{'' if len(verdicts) == 1 else 's'}"


def _others(verdicts: Sequence[Verdict]) -> list[str]:
    """Say how many gates failed, and how many are inconclusive and so only reported."""
    failed = sum(verdict.outcome == "fail" for verdict in verdicts)
    unclear = [verdict for verdict in verdicts if verdict.outcome == "inconclusive"]
    warned = sum(not blocks(verdict) for verdict in unclear)
    said = [f"{failed} failed"] if failed else []
    if unclear:
        some = "" if warned == len(unclear) else f"{warned} "
        only = f" ({some}only reported)" if warned and is_closed(verdicts) else ""
        said.append(f"{len(unclear)} inconclusive{only}")
    return said
