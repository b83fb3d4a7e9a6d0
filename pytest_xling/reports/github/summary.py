"""A run as GitHub shows it below the job: Markdown, the verdict first."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_xling.reports.closing import (
    State,
    faults_met,
    last_word,
    reasons_of,
    state_of,
    told_faults,
    undecided,
    undecided_line,
    ways_on,
)
from pytest_xling.reports.estimates import with_intervals
from pytest_xling.reports.findings import find_worst
from pytest_xling.reports.github.findings import folded
from pytest_xling.reports.github.markdown import code, details, prose
from pytest_xling.reports.github.tables import LEGEND, SIGNS, gated, tables, ungated
from pytest_xling.reports.matrix import is_drop
from pytest_xling.reports.spending import counted_by_us, spent
from pytest_xling.store.queries import case_counts, metric_steps
from pytest_xling.store.runs import get_run, read_verdicts, total_progress
from pytest_xling.store.spent import tokens_of
from pytest_xling.store.stops import stop_in
from pytest_xling.text.display import duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.records import Estimate, RunRecord, Verdict
    from pytest_xling.reports.closing import Reason

__all__ = ["MOST_BYTES", "step_summary"]

MOST_BYTES: Final = 900_000
"""GitHub takes 1 MiB from a step, and of what is longer nothing."""
FINDINGS: Final = 10
REASONS: Final = 10
MOST_REASONS: Final = 300
_LIGHTS: Final[Mapping[State, str]] = {
    "open": "🟢",
    "closed": "🔴",
    "undecided": "🟡",
    "none": "🟡",
}


def step_summary(
    connection: Connection,
    run_id: str,
    *,
    complete: bool | None = None,
    report: str = "",
    most_bytes: int = MOST_BYTES,
) -> str:
    """Return what a run came to, as Markdown.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        complete: whether it has all its answers; by default what the store says of its end.
        report: the file of the HTML report, where there is one.
        most_bytes: how long it may be in UTF-8. What is too long is left out, findings first.

    Raises:
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    if complete is None:
        complete = run.status in {"complete", "stopped"}
    verdicts = read_verdicts(connection, run.run_id)
    light = _LIGHTS[state_of(verdicts, complete=complete)]
    counts = case_counts(connection, run.run_id)
    stopped = stop_in(run) is not None
    left = undecided(verdicts, stopped=stopped)
    word = last_word(verdicts, complete=complete, stopped=stopped)
    head = [f"### {light} {word.plain}\n"]
    head.append(_about(connection, run, counts))
    if faults := told_faults(connection, run.run_id):
        head.append("#### Without a score\n\n" + "".join(f"- {prose(line)}\n" for line in faults))
    close = _more(run, verdicts, report=report)
    ranked = find_worst(connection, run.run_id, verdicts, limit=FINDINGS)
    # In the order in which they are given up, the last first.
    middle = [
        *_matrices(connection, run.run_id, verdicts, counts),
        _drops(verdicts, counts),
        _reasons([one for one in verdicts if one not in left]),
        f"{prose(undecided_line(left))}\n" if left else "",
        *(["#### Worst findings\n"] if ranked else []),
        *(folded(one) for one in ranked),
    ]
    return _fitted([*head, *filter(None, middle)], close, keep=len(head), most_bytes=most_bytes)


def _fitted(parts: list[str], close: str, *, keep: int, most_bytes: int) -> str:
    """Put *parts* together; the last of them are left out if all are too long."""
    sizes = [len(f"{part}\n".encode()) for part in parts]
    note = "*What is missing here was too long for GitHub.*\n"
    room = most_bytes - len(f"{close}\n{note}\n".encode())
    cut = len(parts)
    while cut > keep and sum(sizes[:cut]) > room:
        cut -= 1
    left = [*parts[:cut], *([note] if cut < len(parts) else []), close]
    return "\n".join(left)


def _about(connection: Connection, run: RunRecord, counts: Mapping[tuple[str, str], int]) -> str:
    """Say what was asked of whom, and what that took."""
    languages = len({language for _, language in counts})
    progress, tokens = total_progress(connection, run.run_id), tokens_of(connection, run.run_id)
    told = [
        f"Model {code(run.model)}, run {code(run.run_id)}",
        f"{_many(sum(counts.values()), 'answer')} in {_many(languages, 'language')}",
        f"{tokens.prompt:,} tokens read, {tokens.completion:,} written",
    ]
    if cost := spent(run, progress.cost_usd):
        told.append(prose(cost))
    if counted := counted_by_us(connection, run.run_id):
        told.append(counted)
    if run.seconds is not None:
        told.append(duration(run.seconds))
    if progress.errors:
        told.append(f"⚠️ {faults_met(progress.errors)}")
    return " · ".join(told) + "\n"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _reasons(verdicts: Sequence[Verdict]) -> str:
    """List the gates that did not pass; of many the first, the others folded away."""
    told = reasons_of(verdicts)
    if not told:
        return ""
    several = len({verdict.threshold.benchmark for verdict in verdicts}) > 1
    lines = [_reason(one, several=several) for one in told[:MOST_REASONS]]
    left_out = sum(len(one.languages) for one in told[MOST_REASONS:])
    if left_out:
        lines.append(f"- … and {_many(left_out, 'more gate')}")
    text = "#### Gates that did not pass\n\n" + "\n".join(lines[:REASONS]) + "\n"
    if rest := lines[REASONS:]:
        gates = sum(len(one.languages) for one in told[REASONS:])
        text += "\n" + details(f"{_many(gates, 'more gate')} did not pass", "\n".join(rest))
    return text


def _reason(one: Reason, *, several: bool) -> str:
    gate = f"{one.benchmark}/{one.gate}" if several else one.gate
    where = f" ({code(one.origin)})" if one.origin else ""
    return (
        f"- {SIGNS[one.outcome]} **{one.outcome}** {code(gate)} {prose(', '.join(one.languages))}: "
        f"{prose(one.reason)}{where}"
    )


def _matrices(
    connection: Connection,
    run_id: str,
    verdicts: Sequence[Verdict],
    counts: Mapping[tuple[str, str], int],
) -> list[str]:
    """Return for each benchmark a title and its gated metrics; without any gate, all metrics."""
    made = []
    free: defaultdict[str, dict[str, dict[str, Estimate]]] = defaultdict(dict)
    if not verdicts:
        estimates = with_intervals(connection, run_id, metric_steps(connection, run_id))
        for (benchmark, metric, language), one in sorted(estimates.items()):
            free[benchmark].setdefault(metric, {})[language] = one
    for benchmark in dict.fromkeys([*(b for b, _ in counts), *_benchmarks(verdicts)]):
        mine = [v for v in verdicts if v.threshold.benchmark == benchmark and not is_drop(v)]
        columns = gated(mine) if verdicts else ungated(free[benchmark])
        if columns:
            legend = f"\n{LEGEND} · below a number: its interval\n" if verdicts else ""
            rows = _rows(benchmark, mine, counts)
            made.append(f"#### {prose(benchmark)}\n\n{tables(columns, rows)}{legend}")
    return made


def _benchmarks(verdicts: Sequence[Verdict]) -> list[str]:
    return [verdict.threshold.benchmark for verdict in verdicts]


def _rows(
    benchmark: str, verdicts: Sequence[Verdict], counts: Mapping[tuple[str, str], int]
) -> dict[str, int]:
    """Return the answers of each language; one may have a gate and no answer."""
    rows = {language: n for (bench, language), n in counts.items() if bench == benchmark}
    return rows | {v.threshold.language: 0 for v in verdicts if v.threshold.language not in rows}


def _drops(verdicts: Sequence[Verdict], counts: Mapping[tuple[str, str], int]) -> str:
    """Return how much worse the model is than its baseline, where gates ask that."""
    drops = [verdict for verdict in verdicts if is_drop(verdict)]
    if not drops:
        return ""
    baselines = sorted({verdict.estimate.baseline for verdict in drops})
    text = f"#### Change against the baseline {', '.join(map(code, baselines))}\n\n"
    text += "By how much the model is worse, question by question; below 0 it is better.\n\n"
    for benchmark in dict.fromkeys(_benchmarks(drops)):
        mine = [verdict for verdict in drops if verdict.threshold.benchmark == benchmark]
        rows = {
            language: n
            for language, n in _rows(benchmark, mine, counts).items()
            if any(verdict.threshold.language == language for verdict in mine)
        }
        text += f"{tables(gated(mine), rows)}\n"
    return f"{text.rstrip()}\n"


def _more(run: RunRecord, verdicts: Sequence[Verdict], *, report: str) -> str:
    ways = [f"xling show {run.run_id}", f"xling report {run.run_id} -o report.html"]
    ways += ways_on(run, verdicts, verbose=True)
    written = f"Report: {code(report)}. " if report else ""
    return f"{written}More: {', '.join(map(code, ways))}\n"
