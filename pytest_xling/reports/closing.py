"""The gates that did not pass, each with its reason, and the last word."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pytest_xling.gates.judge import blocks
from pytest_xling.reports.matrix import OUTCOMES
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Outcome, Verdict

__all__ = ["is_closed", "last_word", "reasons"]

GATE_WIDTH = 26
REASON_CHARS = 400
_WORDS: dict[Outcome, str] = {
    "fail": "failed",
    "error": "without all their answers",
    "inconclusive": "inconclusive",
}
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
            v.threshold.max_rate is None,
            v.case,
        ),
    )
    if not told:
        return None, 0
    alike: dict[tuple[Outcome, str, str, str, str], list[str]] = {}
    for verdict in told:
        limits = verdict.threshold
        line = (verdict.outcome, limits.benchmark, limits.metric, verdict.reason, limits.origin)
        alike.setdefault(line, []).append(limits.language)
    several = len({verdict.threshold.benchmark for verdict in verdicts}) > 1
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(max_width=GATE_WIDTH)
    table.add_column(overflow="fold")
    for (outcome, benchmark, metric, why, origin), languages in list(alike.items())[:most]:
        look = OUTCOMES[outcome]
        gate = f"{benchmark}/{metric}" if several else metric
        reason = Text(printable(why, limit=REASON_CHARS))
        if origin:
            reason.append(f" ({printable(origin)})", style="dim")
        named = Text(f"{gate} {' '.join(languages)}", style=look.style)
        table.add_row(Text(look.symbol, style=look.style), named, reason)
    return table, sum(len(languages) for languages in list(alike.values())[most:])


def last_word(verdicts: Sequence[Verdict]) -> Text:
    """Say whether the gate is open, and the numbers behind that."""
    if not verdicts:
        return Text("no gate was judged", style="yellow")
    counts = Counter(verdict.outcome for verdict in verdicts)
    total = len(verdicts)
    gates = "gate" if total == 1 else "gates"
    parts = [f"{counts[outcome]} {word}" for outcome, word in _WORDS.items() if counts[outcome]]
    if not is_closed(verdicts):
        said = f"gate open: {counts['pass']} of {total} {gates} passed"
        return Text(", ".join((said, *parts)), style="bold green")
    warned = sum(v.outcome == "inconclusive" and not blocks(v) for v in verdicts)
    if warned:
        some = "" if warned == counts["inconclusive"] else f"{warned} "
        parts[-1] += f" ({some}only reported)"
    first, *others = parts
    number, word = first.split(" ", 1)
    said = f"gate closed: {number} of {total} {gates} {word}"
    return Text(", ".join((said, *others)), style="bold red")
