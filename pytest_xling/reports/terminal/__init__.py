"""What a run came to, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from pytest_xling.records import ALL_LANGUAGES
from pytest_xling.reports.freshness import freshness
from pytest_xling.reports.judges import judges_behind
from pytest_xling.reports.rendering import MIN_WIDTH, counted, to_text
from pytest_xling.reports.sheet import plain
from pytest_xling.reports.terminal.calibration_table import judge_lines, judge_sheet
from pytest_xling.reports.terminal.closing import (
    fault_lines,
    gate_headline,
    next_commands,
    passed_without_labels,
    reasons,
    undecided,
    undecided_line,
)
from pytest_xling.reports.terminal.comparison import change_parts
from pytest_xling.reports.terminal.findings import find_worst, finding_parts
from pytest_xling.reports.terminal.matrix import (
    OUTCOMES,
    gated_column,
    is_of_metric,
    named,
    plain_column,
    tables,
    with_intervals,
    without_intervals,
)
from pytest_xling.reports.terminal.spending import counted_by_us
from pytest_xling.store.cases import case_counts
from pytest_xling.store.runs import get_run, stop_in, unjudged_in
from pytest_xling.store.scores import metric_steps
from pytest_xling.store.verdicts import read_verdicts
from pytest_xling.text.numbers import amount, level

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from rich.console import RenderableType
    from sqlalchemy import Connection

    from pytest_xling.analysis.comparison import Comparison
    from pytest_xling.config.store_location import StoreLocation
    from pytest_xling.gates.evidence import Behind
    from pytest_xling.records import Estimate, Verdict
    from pytest_xling.store.scores import Place

__all__ = ["judgement", "scored_tables", "summary"]

FINDINGS, FINDINGS_VERBOSE = 5, 25
LINES, LINES_VERBOSE = 3, 12
"""Lines shown of a question, and of its answer."""
REASONS = 12
EVERYTHING = 1_000_000


def summary(
    connection: Connection,
    run_id: str,
    *,
    width: int,
    color: bool,
    verbose: bool,
    complete: bool | None = None,
    comparison: Comparison | None = None,
    store: StoreLocation | None = None,
) -> str:
    """Return what a run came to: its tables, worst findings, and gates.

    Args:
        connection: to the store.
        run_id: the run's name.
        width: of the terminal, in columns.
        color: whether it understands colours.
        verbose: whether to show more findings, and intervals of metrics without a gate.
        complete: whether the run has all its answers; by default what the store says of its end.
        comparison: with the baseline, where there is one.
        store: where the run is kept, for the commands that say more.
    """
    run = get_run(connection, run_id)
    if complete is None:
        complete = run.status in {"complete", "stopped"}
    width = max(width, MIN_WIDTH)
    verdicts = read_verdicts(connection, run_id)
    counts = case_counts(connection, run_id)
    others = _ungated(connection, run_id, verdicts, counts, intervals=verbose)
    parts: list[RenderableType] = [*_matrices(verdicts, others, counts, width=width)]
    if not counts:
        parts.append(Text("No case has been evaluated yet.\n"))
    worst = find_worst(
        connection, run_id, verdicts, limit=FINDINGS_VERBOSE if verbose else FINDINGS
    )
    if worst:
        parts += [Text("Worst findings", style="bold"), Text("")]
        for ranked in worst:
            lines = LINES_VERBOSE if verbose else LINES
            shown = finding_parts(ranked, width=width, lines=lines, thoughts=verbose)
            parts += [*shown, Text("")]
    if comparison is not None:
        parts += change_parts(comparison, verdicts, width=width)
    parts += _faults(fault_lines(connection, run_id))
    if counted := counted_by_us(connection, run_id):
        parts += [Text(counted, style="dim"), Text("")]
    parts += _judges(judges_behind(connection, run, verdicts), width=width, verbose=verbose)
    parts += _closing(
        verdicts,
        most=EVERYTHING if verbose else REASONS,
        complete=complete,
        stopped=stop_in(run) is not None,
        unjudged=len(unjudged_in(run)),
    )
    new = freshness(connection, run)
    if counts:
        parts.append(Text(f"answers: {new}", style="yellow" if not new.asked else "dim"))
    if new.other_models:
        parts.append(Text(new.other_models, style="yellow"))
    ways = next_commands(run, verdicts, verbose=verbose, store=store)
    text = "\n".join(f"      {way}" for way in ways)
    # Commands to copy: a long one is left to the terminal to wrap.
    hint = text.replace("     ", "more:", 1)
    parts.append(Text(hint, style="dim", no_wrap=True, overflow="ignore"))
    return to_text(parts, width=width, color=color)


def judgement(
    verdicts: Sequence[Verdict],
    counts: Mapping[tuple[str, str], int],
    *,
    complete: bool,
    width: int,
    color: bool,
) -> str:
    """Return what gates say, as tables and reasons.

    Args:
        verdicts: of all gates.
        counts: answers by benchmark and language.
        complete: whether the run has all its answers.
        width: of the terminal, in columns.
        color: whether it understands colours.
    """
    parts = [
        *_matrices(verdicts, {}, counts, width=max(width, MIN_WIDTH)),
        *_closing(verdicts, most=EVERYTHING, complete=complete),
    ]
    return to_text(parts, width=width, color=color)


def scored_tables(
    connection: Connection, run_id: str, metrics: Collection[str], *, width: int, color: bool
) -> str:
    """Return what *metrics* say of a run: tables of languages by metrics, with intervals."""
    scored = [step for step in metric_steps(connection, run_id) if step.metric in metrics]
    estimates = _by_metric(with_intervals(connection, run_id, scored))
    counts = case_counts(connection, run_id)
    return to_text(
        [*_matrices([], estimates, counts, width=max(width, MIN_WIDTH))], width=width, color=color
    )


def _matrices(
    verdicts: Sequence[Verdict],
    others: Mapping[tuple[str, str], Mapping[str, Estimate]],
    counts: Mapping[tuple[str, str], int],
    *,
    width: int,
) -> Iterator[RenderableType]:
    """Yield for each benchmark a title and its tables: metrics with a gate, then the rest."""
    for benchmark in dict.fromkeys(bench for bench, _ in counts):
        answers = {language: n for (bench, language), n in counts.items() if bench == benchmark}
        gates: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            if verdict.threshold.benchmark == benchmark:
                gates.setdefault(named(verdict), []).append(verdict)
                # A language may have a gate and not one answer.
                answers.setdefault(verdict.threshold.language, 0)
        together = answers.pop(ALL_LANGUAGES, None) is not None
        total, languages = sum(answers.values()), len(answers)
        if together:
            answers[ALL_LANGUAGES] = total
        yield Text.assemble(
            (benchmark, "bold"),
            f"  {amount(total, 'answer')} in {amount(languages, 'language')}",
        )
        yield Text("")
        if gates:
            columns = [
                gated_column(metric, group, others.get((benchmark, metric), {}))
                for metric, group in sorted(gates.items(), key=_rates_first)
            ]
            for table in tables(columns, answers, width=width):
                yield from (table, Text(""))
            yield _legend(verdicts)
            yield Text("")
        plain = [
            plain_column(metric, estimates)
            for (bench, metric), estimates in others.items()
            if bench == benchmark and metric not in gates
        ]
        if plain:
            if gates:
                yield Text("without a gate", style="dim")
                yield Text("")
            for table in tables(plain, answers, width=width):
                yield from (table, Text(""))


def _rates_first(gate: tuple[str, list[Verdict]]) -> tuple[bool, str]:
    name, verdicts = gate
    return verdicts[0].threshold.max_rate is None or not is_of_metric(verdicts[0]), name


def _legend(verdicts: Sequence[Verdict]) -> Text:
    legend = Text()
    for look in OUTCOMES.values():
        if look.word != "error" or any(v.outcome == "error" for v in verdicts):
            legend.append(f"{look.symbol} {look.word}", style=look.style).append("   ")
    levels = sorted({verdict.threshold.alpha for verdict in verdicts})
    sure = level(levels[0]) if len(levels) == 1 else "each gate's"
    return legend.append(f"lo–hi: {sure} interval", style="dim")


def _ungated(
    connection: Connection,
    run_id: str,
    verdicts: Sequence[Verdict],
    counts: Mapping[tuple[str, str], int],
    *,
    intervals: bool,
) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return the estimates no gate was judged on, by benchmark and metric, then language."""
    gated = {
        (v.threshold.benchmark, v.threshold.metric, v.threshold.language)
        for v in verdicts
        if is_of_metric(v)
    }
    scored = [
        step
        for step in metric_steps(connection, run_id)
        if any(
            (bench, step.metric, language) not in gated
            for bench, language in counts
            if bench == step.benchmark
        )
    ]
    if not scored:
        return {}
    made = (with_intervals if intervals else without_intervals)(connection, run_id, scored)
    return _by_metric({place: estimate for place, estimate in made.items() if place not in gated})


def _by_metric(
    estimates: Mapping[Place, Estimate],
) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return estimates by benchmark and metric, then language."""
    by_metric: dict[tuple[str, str], dict[str, Estimate]] = {}
    for (bench, metric, language), estimate in sorted(estimates.items()):
        by_metric.setdefault((bench, metric), {})[language] = estimate
    return by_metric


def _faults(faults: Sequence[str]) -> Iterator[RenderableType]:
    if faults:
        yield Text("Without a score", style="bold")
        yield Text("")
        yield from (Text(line, style="red") for line in faults)
        yield Text("")


def _judges(behind: Sequence[Behind], *, width: int, verbose: bool) -> Iterator[RenderableType]:
    """Yield how good the annotators behind the gates are: a line for each, or all in a table."""
    if not behind:
        return
    yield Text("What the gates rest on", style="bold")
    yield Text("")
    if verbose:
        yield counted(plain(judge_sheet(behind), width=width, color=False))
        return
    yield from (counted(line, style="dim") for line in judge_lines(behind))
    yield Text("")


def _closing(
    verdicts: Sequence[Verdict],
    *,
    most: int,
    complete: bool,
    stopped: bool = False,
    unjudged: int = 0,
) -> Iterator[RenderableType]:
    left = undecided(verdicts, stopped=stopped)
    table, left_out = reasons([verdict for verdict in verdicts if verdict not in left], most=most)
    if table is not None:
        yield table
        if left_out:
            more = "1 more gate" if left_out == 1 else f"{left_out} more gates"
            yield Text(f"… and {more} that did not pass", style="dim")
        yield Text("")
    if left:
        yield Text(undecided_line(left), style="dim")
        yield Text("")
    if lines := passed_without_labels(verdicts):
        yield Text("\n".join(lines))
        yield Text("")
    yield gate_headline(verdicts, complete=complete, stopped=stopped, unjudged=unjudged)
