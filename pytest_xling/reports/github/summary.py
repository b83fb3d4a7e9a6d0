"""A run as GitHub shows it below the job: Markdown, the verdict first."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_xling.gates.reasons import demand_of
from pytest_xling.records import ALL_LANGUAGES
from pytest_xling.reports.freshness import freshness
from pytest_xling.reports.judges import judges_behind, measured_day
from pytest_xling.reports.terminal.closing import (
    State,
    fault_lines,
    faults_met,
    gate_headline,
    next_commands,
    passed_without_labels,
    reasons_of,
    state_of,
    undecided,
    undecided_line,
)
from pytest_xling.reports.terminal.findings import find_worst
from pytest_xling.reports.terminal.matrix import (
    is_drop,
    is_of_metric,
    language_name,
    named,
    with_intervals,
)
from pytest_xling.reports.terminal.spending import counted_by_us, spent
from pytest_xling.store.answers import tokens_of
from pytest_xling.store.cases import case_counts
from pytest_xling.store.runs import get_run, stop_in, total_progress, unjudged_in
from pytest_xling.store.scores import metric_steps
from pytest_xling.store.verdicts import read_verdicts
from pytest_xling.text.display import printable
from pytest_xling.text.numbers import Figures, amount, duration, measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.gates.evidence import Behind
    from pytest_xling.records import Estimate, Outcome, RunRecord, Verdict
    from pytest_xling.reports.terminal.closing import Reason
    from pytest_xling.reports.terminal.findings import Ranked, Standing

_MARKUP = re.compile(r"([\\`*_\[\]<>&|~$])")
# GitHub looks for these in the finished page, where what was escaped is plain again.
_LINKS = re.compile(r"([@#]|www(?=\.)|:(?=//)|\bGH-)", re.IGNORECASE)
_APART = "\u2060"
"""A word joiner: it is not seen and parts no line."""
_BACKTICKS = re.compile("`+")


def code(text: str, *, limit: int = 200) -> str:
    """Return *text* as one code span of one line, cut to *limit* characters; a dash for none."""
    content = printable(text, limit=limit)
    if not content:
        return "–"
    fence = "`" * (max(map(len, _BACKTICKS.findall(content)), default=0) + 1)
    # A space beside a backtick belongs to the fence, and one on each side is taken away.
    room = " " if "`" in (content[0], content[-1]) else ""
    return f"{fence}{room}{content}{room}{fence}"


def prose(text: str, *, limit: int = 400) -> str:
    """Return *text* as words of a line: no markup, no links, no mentions."""
    return _unlinked(_MARKUP.sub(r"\\\1", printable(text, limit=limit)))


def html_text(text: str, *, limit: int = 200) -> str:
    """Return *text* for the inside of an HTML element, where Markdown does not hold."""
    return _unlinked(html.escape(printable(text, limit=limit)))


def _unlinked(text: str) -> str:
    return _LINKS.sub(rf"\1{_APART}", text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return a table of cells that are Markdown already and hold no bare pipe.

    Args:
        head: of the columns.
        rows: of cells, one for each column.
        left: how many columns are flush left; the others are flush right.
    """
    ruler = [":--" if column < left else "--:" for column in range(len(head))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ruler, *rows))


def details(summary: str, content: str) -> str:
    """Return *content*, Markdown, folded away under *summary*, HTML."""
    return f"<details><summary>{summary}</summary>\n\n{content.rstrip()}\n\n</details>\n"


_WORDS: Final[Mapping[Standing, str]] = {
    "failed": "❌ gate failed",
    "undecided": "❔ gate undecided",
    "tolerated": "✅ within the budget",
    "ungated": "no gate",
}
_QUESTION: Final = 600
_ANSWER: Final = 1200
_REASON: Final = 600


def folded(ranked: Ranked) -> str:
    """Return a finding as Markdown. All texts stand in code: nothing in them is markup."""
    finding = ranked.finding
    language = f"{language_name(finding.language)} ({finding.language})".strip()
    summary = (
        f"{_WORDS[ranked.standing]}: <code>{html_text(finding.metric)}</code>, "
        f"{html_text(language)}, <code>{html_text(finding.case)}</code>"
    )
    size = f" ({len(finding.answer):,} characters)" if len(finding.answer) > _ANSWER else ""
    answer = code(finding.answer, limit=_ANSWER) if finding.answer.strip() else "*no answer*"
    # Each text is a paragraph of its own: GitHub turns those in Arabic or Hebrew round.
    parts = [
        ("Question", code(finding.question, limit=_QUESTION)),
        (f"Answer{size}", answer),
        ("Detected", code(finding.reason, limit=_REASON)),
    ]
    return details(summary, "\n\n".join(f"**{name}**\n\n{text}" for name, text in parts))


SIGNS: Final[Mapping[Outcome, str]] = {
    "pass": "✅",
    "fail": "❌",
    "inconclusive": "❔",
    "error": "⚠️",
}
LEGEND: Final = " · ".join(f"{sign} {outcome}" for outcome, sign in SIGNS.items())
_BESIDE: Final = 6
"""Columns of one table; of more, one would see only some without scrolling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One metric: its head and its cells by language, as Markdown."""

    head: str
    cells: Mapping[str, str]


def gated(verdicts: Sequence[Verdict]) -> list[Column]:
    """Return a column for each thing gates are about, rates of all answers first."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(named(verdict), []).append(verdict)
    ordered = sorted(groups.items(), key=lambda group: (not _is_rate(group[1][0]), group[0]))
    columns = []
    for name, of_gate in ordered:
        figures = Figures.of(*(verdict.estimate for verdict in of_gate))
        cells = {
            verdict.threshold.language: f"{SIGNS[verdict.outcome]} "
            + _number(figures, verdict.estimate)
            for verdict in of_gate
        }
        columns.append(Column(head=f"{code(name)}<br>{prose(demand_of(of_gate))}", cells=cells))
    return columns


def ungated(estimates: Mapping[str, Mapping[str, Estimate]]) -> list[Column]:
    """Return a column for each metric, from its estimates by language."""
    columns = []
    for metric, by_language in estimates.items():
        figures = Figures.of(*by_language.values())
        cells = {language: _number(figures, made) for language, made in by_language.items()}
        columns.append(Column(head=code(metric), cells=cells))
    return columns


def _is_rate(verdict: Verdict) -> bool:
    return verdict.threshold.max_rate is not None and is_of_metric(verdict)


def _number(figures: Figures, made: Estimate) -> str:
    """Word a number with its interval below it."""
    interval = figures.interval(made.low, made.high) if made.value is not None else ""
    return figures.value(made.value) + (f"<br><sub>{interval}</sub>" if interval else "")


def tables(columns: Sequence[Column], counts: Mapping[str, int]) -> str:
    """Return tables of languages by *columns*, some columns each.

    Args:
        columns: one per metric.
        counts: answers by language: the rows.
    """
    made = []
    for start in range(0, len(columns), _BESIDE):
        beside = columns[start : start + _BESIDE]
        rows = [
            [
                _language(language),
                f"{count:,}",
                *(column.cells.get(language, "") for column in beside),
            ]
            for language, count in counts.items()
        ]
        head = ["language", "answers", *(column.head for column in beside)]
        made.append(table(head, rows))
    return "\n".join(made)


def _language(language: str) -> str:
    return f"{prose(language_name(language))} {code(language)}".strip()


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
    unjudged = len(unjudged_in(run))
    light = _LIGHTS[state_of(verdicts, complete=complete, unjudged=unjudged)]
    counts = case_counts(connection, run.run_id)
    stopped = stop_in(run) is not None
    left = undecided(verdicts, stopped=stopped)
    word = gate_headline(verdicts, complete=complete, stopped=stopped, unjudged=unjudged)
    head = [f"### {light} {word.plain}\n"]
    head.append(_about(connection, run, counts))
    if faults := fault_lines(connection, run.run_id):
        head.append("#### Without a score\n\n" + "".join(f"- {prose(line)}\n" for line in faults))
    close = _more(run, verdicts, report=report)
    ranked = find_worst(connection, run.run_id, verdicts, limit=FINDINGS)
    # In the order in which they are given up, the last first.
    middle = [
        *_matrices(connection, run.run_id, verdicts, counts),
        _drops(verdicts, counts),
        _reasons([verdict for verdict in verdicts if verdict not in left]),
        f"{prose(undecided_line(left))}\n" if left else "",
        *(f"{prose(line)}\n" for line in passed_without_labels(verdicts)),
        _judges(judges_behind(connection, run, verdicts)),
        *(["#### Worst findings\n"] if ranked else []),
        *(folded(finding) for finding in ranked),
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
    facts = [
        f"Model {code(run.model)}, run {code(run.run_id)}",
        f"{amount(sum(counts.values()), 'answer')} in {amount(languages, 'language')}",
        f"{tokens.prompt:,} tokens read, {tokens.completion:,} written",
    ]
    if cost := spent(run, progress.cost_usd):
        facts.append(prose(cost))
    new = freshness(connection, run)
    facts.append(str(new))
    if new.other_models:
        facts.append(f"⚠️ {prose(new.other_models)}")
    if counted := counted_by_us(connection, run.run_id):
        facts.append(counted)
    if run.seconds is not None:
        facts.append(duration(run.seconds))
    if progress.errors:
        facts.append(f"⚠️ {faults_met(progress.errors)}")
    return " · ".join(facts) + "\n"


def _reasons(verdicts: Sequence[Verdict]) -> str:
    """List the gates that did not pass; of many the first, the others folded away."""
    unmet = reasons_of(verdicts)
    if not unmet:
        return ""
    several = len({verdict.threshold.benchmark for verdict in verdicts}) > 1
    lines = [_reason(each, several=several) for each in unmet[:MOST_REASONS]]
    left_out = sum(len(each.languages) for each in unmet[MOST_REASONS:])
    if left_out:
        lines.append(f"- … and {amount(left_out, 'more gate')}")
    text = "#### Gates that did not pass\n\n" + "\n".join(lines[:REASONS]) + "\n"
    if rest := lines[REASONS:]:
        gates = sum(len(each.languages) for each in unmet[REASONS:])
        text += "\n" + details(f"{amount(gates, 'more gate')} did not pass", "\n".join(rest))
    return text


def _reason(unmet: Reason, *, several: bool) -> str:
    gate = f"{unmet.benchmark}/{unmet.gate}" if several else unmet.gate
    where = f" ({code(unmet.origin)})" if unmet.origin else ""
    languages = prose(", ".join(unmet.languages))
    return (
        f"- {SIGNS[unmet.outcome]} **{unmet.outcome}** {code(gate)} {languages}: "
        f"{prose(unmet.reason)}{where}"
    )


def _judges(behind: Sequence[Behind]) -> str:
    """Say how good the annotators are whose labels the gates rest on."""
    if not behind:
        return ""
    rows = []
    for each in behind:
        annotator = code(": ".join(filter(None, (each.annotator, each.aspect))))
        quality = ("", "not measured", "", "", "")
        if each.measured is not None:
            quality_of = each.measured.quality
            quality = (
                f"{quality_of.n:,}",
                measured(quality_of.macro_f1),
                measured(quality_of.kappa, interval=False),
                code(each.measured.source),
                measured_day(each),
            )
        rows.append([annotator, _language(each.language), *quality])
    head = ["annotator", "language", "n", "F1 (95%)", "κ", "labels", "measured"]
    return f"#### What the gates rest on\n\n{table(head, rows, left=2)}"


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
        for (benchmark, metric, language), estimate in sorted(estimates.items()):
            free[benchmark].setdefault(metric, {})[language] = estimate
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
    total = sum(rows.values())
    return rows | {
        code: total if code == ALL_LANGUAGES else 0
        for code in dict.fromkeys(v.threshold.language for v in verdicts)
        if code not in rows
    }


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
    ways += next_commands(run, verdicts, verbose=True)
    written = f"Report: {code(report)}. " if report else ""
    return f"{written}More: {', '.join(map(code, ways))}\n"
