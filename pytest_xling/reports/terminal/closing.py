"""The gates that did not pass, each with its reason, and the last word."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from rich.table import Table
from rich.text import Text

from pytest_xling.config.settings import Settings
from pytest_xling.gates.corrected import NOT_COUNTED
from pytest_xling.gates.judge import advises, blocks, is_decided, reason_of
from pytest_xling.reports.rendering import counted
from pytest_xling.reports.terminal.matrix import OUTCOMES, is_of_metric, named
from pytest_xling.store.faults import run_faults
from pytest_xling.text.display import printable
from pytest_xling.text.numbers import amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from pytest_xling.config.store_location import StoreLocation
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Outcome, RunRecord, Verdict
    from pytest_xling.store.faults import RunFault

State: TypeAlias = Literal["open", "closed", "undecided", "none"]

GATE_WIDTH = 26
REASON_CHARS = 400
FAULTS = 5
FAULT_CHARS = 600
_ORDER: tuple[Outcome, ...] = ("error", "fail", "inconclusive")


def is_closed(verdicts: Sequence[Verdict]) -> bool:
    """Tell whether one of the gates keeps the release back."""
    return any(map(blocks, verdicts))


def state_of(verdicts: Sequence[Verdict], *, complete: bool, unjudged: int = 0) -> State:
    """Tell what was decided.

    Args:
        verdicts: of all gates.
        complete: whether the run has all its answers.
        unjudged: how many gates there should be besides.
    """
    if not verdicts:
        return "none"
    if not complete or any(verdict.outcome == "error" for verdict in verdicts):
        return "undecided"
    if is_closed(verdicts):
        return "closed"
    return "open" if is_decided(verdicts) and not unjudged else "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why gates of one metric did not pass, the same in several languages."""

    outcome: Outcome
    benchmark: str
    gate: str
    """What they are about: ``wrong_language``, ``sim_sent gap``."""
    languages: tuple[str, ...]
    reason: str
    origin: str


def undecided(verdicts: Sequence[Verdict], *, stopped: bool) -> list[Verdict]:
    """Return the gates that are inconclusive for no other reason than that asking was stopped.

    Args:
        verdicts: of all gates.
        stopped: whether a gate that failed ended the run early: then nothing else can pass.
    """
    return [verdict for verdict in verdicts if stopped and verdict.outcome == "inconclusive"]


def undecided_line(verdicts: Sequence[Verdict]) -> str:
    """Name gates that were not decided, as asking was stopped; "" without any."""
    languages: dict[str, list[str]] = {}
    for verdict in verdicts:
        languages.setdefault(named(verdict), []).append(verdict.threshold.language)
    listed = "; ".join(f"{gate} {' '.join(each)}" for gate, each in languages.items())
    return f"not decided, as asking was stopped: {listed}" if listed else ""


def passed_without_labels(verdicts: Sequence[Verdict]) -> list[str]:
    """Say which gates passed without labels that people made, and why; others say it themselves."""
    gates: dict[str, list[str]] = {}
    for verdict in verdicts:
        _, told, rest = verdict.reason.partition(f"; {NOT_COUNTED}")
        if told and verdict.outcome == "pass":
            why = f"{NOT_COUNTED}{rest.partition(';')[0]}"
            gates.setdefault(why, []).append(f"{named(verdict)} {verdict.threshold.language}")
    return [f"{', '.join(each)}: {why}" for why, each in gates.items()]


def not_passed(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the gates that did not pass.

    Those that keep the release back come first, failed ones before others, rates before means.
    """
    return sorted(
        (verdict for verdict in verdicts if verdict.outcome != "pass"),
        key=lambda v: (
            not blocks(v),
            _ORDER.index(v.outcome),
            v.threshold.benchmark,
            v.threshold.max_rate is None or not is_of_metric(v),
            v.case,
        ),
    )


def reasons_of(verdicts: Sequence[Verdict]) -> list[Reason]:
    """Return why gates did not pass, in order; gates that give the same reason share one."""
    alike: dict[tuple[Outcome, str, str, str, str], list[str]] = {}
    for verdict in not_passed(verdicts):
        limits = verdict.threshold
        line = (
            verdict.outcome,
            limits.benchmark,
            named(verdict),
            reason_of(verdict),
            limits.origin,
        )
        alike.setdefault(line, []).append(limits.language)
    return [
        Reason(
            outcome=outcome,
            benchmark=benchmark,
            gate=gate,
            languages=tuple(languages),
            reason=reason,
            origin=origin,
        )
        for (outcome, benchmark, gate, reason, origin), languages in alike.items()
    ]


def reasons(verdicts: Sequence[Verdict], *, most: int) -> tuple[Table | None, int]:
    """Return a line for each gate that did not pass, and how many gates were left out.

    Gates of one metric that give the same reason in several languages share a line.

    Args:
        verdicts: of all gates.
        most: lines at most.
    """
    unmet = reasons_of(verdicts)
    if not unmet:
        return None, 0
    several = len({verdict.threshold.benchmark for verdict in verdicts}) > 1
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(max_width=GATE_WIDTH, overflow="fold")
    table.add_column(overflow="fold")
    for unmet_reason in unmet[:most]:
        look = OUTCOMES[unmet_reason.outcome]
        gate = f"{unmet_reason.benchmark}/{unmet_reason.gate}" if several else unmet_reason.gate
        reason = counted(printable(unmet_reason.reason, limit=REASON_CHARS))
        if unmet_reason.origin:
            reason.append(f" ({printable(unmet_reason.origin)})", style="dim")
        which = Text(f"{gate} {' '.join(unmet_reason.languages)}", style=look.style)
        table.add_row(Text(look.symbol, style=look.style), which, reason)
    return table, sum(len(unmet_reason.languages) for unmet_reason in unmet[most:])


def gate_headline(
    verdicts: Sequence[Verdict], *, complete: bool = True, stopped: bool = False, unjudged: int = 0
) -> Text:
    """Say whether the gate is open, and the numbers behind that.

    Args:
        verdicts: of all gates.
        complete: whether the run has all its answers; else, and where a gate lacks some, nothing
            is decided.
        stopped: whether a gate that failed ended the run early.
        unjudged: how many gates there should be besides.
    """
    if not verdicts:
        return Text("no gate was judged", style="yellow")
    counts = Counter(verdict.outcome for verdict in verdicts)
    lacking = counts["error"]
    if lacking:
        lack = "lacks" if lacking == 1 else "lack"
        # A drop that cannot be judged may lack nothing but a baseline made in the same way.
        drops = any(v.outcome == "error" and v.estimate.baseline for v in verdicts)
        why = "cannot be judged" if drops else f"{lack} answers"
        headline = f"gate undecided: {_of(lacking, verdicts)} {why}"
        return Text(", ".join((headline, *_others(verdicts))), style="bold yellow")
    passed = f"{_of(counts['pass'], verdicts)} passed"
    if not complete:
        headline = f"gate undecided: answers are missing; {passed}"
        return Text(", ".join((headline, *_others(verdicts))), style="bold yellow")
    if not is_closed(verdicts):
        word, style = "gate open", "bold green"
        if unjudged:
            were = "was" if unjudged == 1 else "were"
            left_out = f"{unjudged} of {unjudged + len(verdicts)} gates {were} not judged"
            word, style = f"gate undecided: {left_out}", "bold yellow"
        elif not is_decided(verdicts):
            word, style = "nothing was decided", "bold yellow"
            advice = any(v.outcome == "pass" and v.threshold.tier == "advisory" for v in verdicts)
            alone = "rules and advice" if advice else "budgets of 0"
            passed += f", by {alone} alone" if counts["pass"] else ""
        return Text(", ".join((f"{word}: {passed}", *_others(verdicts))), style=style)
    first, *others = _others(verdicts, stopped=stopped)
    number, word = first.split(" ", 1)
    headline = f"gate closed: {_of(int(number), verdicts)} {word}"
    return Text(", ".join((headline, *others)), style="bold red")


def next_commands(
    run: RunRecord,
    verdicts: Sequence[Verdict],
    *,
    verbose: bool,
    store: StoreLocation | None = None,
) -> list[str]:
    """Return commands that say more of a run, to be pasted.

    Args:
        run: the run.
        verdicts: of its gates.
        verbose: whether all has been shown.
        store: where the run is kept, named where commands would not find it by themselves; a
            server's URL may hold a password, and is not.
    """
    settings = run.settings
    ways = [] if verbose else [f"xling show {run.run_id} --verbose"]
    baseline = _argument(settings["baseline"]) if settings.get("baseline") else ""
    if verdicts and settings.get("thresholds"):
        judged = f"xling gate {run.run_id} --thresholds {_argument(settings['thresholds'])}"
        ways.append(f"{judged} --baseline {baseline}" if baseline else judged)
    if baseline:
        ways.append(f"xling compare {run.run_id} {baseline}")
    usual = Path(os.environ.get(Settings.store.env) or Settings.store.default)
    if isinstance(store, Path) and store.resolve() != usual.resolve():
        ways = [f"{way} --xling-store {_argument(str(store))}" for way in ways]
    return ways


def _argument(value: JsonValue) -> str:
    """Quote a value for a shell; a path below the working directory is told from there."""
    path = Path(str(value))
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return shlex.quote(str(path))


def failed_cases(count: int) -> str:
    """Say how many cases failed, whatever the gates say."""
    return f"{amount(count, 'case')} failed"


def faults_met(count: int) -> str:
    """Say how many cases met a fault."""
    return f"{amount(count, 'case')} met a fault"


def fault_lines(connection: Connection, run_id: str) -> list[str]:
    """Say why cases of a run have no score: each fault once, with how many cases it cost."""
    faults = run_faults(connection, run_id)
    lines = [_fault_line(fault) for fault in faults[:FAULTS]]
    if others := faults[FAULTS:]:
        cases = sum(fault.cases for fault in others)
        lines.append(f"… and {amount(cases, 'case')} for {amount(len(others), 'other fault')}")
    return lines


def _fault_line(fault: RunFault) -> str:
    met = fault.cases - fault.given_up
    given_up = f", {fault.given_up:,} of them given up for it" if fault.given_up and met else ""
    return f"{amount(fault.cases, 'case')}{given_up}: {printable(fault.text, limit=FAULT_CHARS)}"


def _of(count: int, verdicts: Sequence[Verdict]) -> str:
    return f"{count} of {len(verdicts)} gate{'' if len(verdicts) == 1 else 's'}"


def _others(verdicts: Sequence[Verdict], *, stopped: bool = False) -> list[str]:
    """Say how many gates failed, and how many are only reported: inconclusive, or advisory."""
    if left := undecided(verdicts, stopped=stopped):
        rest = _others([verdict for verdict in verdicts if verdict not in left])
        return [*rest, f"{len(left)} not decided, as asking was stopped"]
    if advice := sum(map(advises, verdicts)):
        rest = _others([verdict for verdict in verdicts if not advises(verdict)])
        return [*rest, f"{advice} advisory gate{'' if advice == 1 else 's'} did not pass"]
    failed = sum(verdict.outcome == "fail" for verdict in verdicts)
    unclear = [verdict for verdict in verdicts if verdict.outcome == "inconclusive"]
    warned = sum(not blocks(verdict) for verdict in unclear)
    parts = [f"{failed} failed"] if failed else []
    if unclear:
        some = "" if warned == len(unclear) else f"{warned} "
        only = f" ({some}only reported)" if warned and is_closed(verdicts) else ""
        parts.append(f"{len(unclear)} inconclusive{only}")
    return parts
