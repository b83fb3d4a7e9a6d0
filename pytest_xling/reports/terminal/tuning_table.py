"""Show proposed limits: a line for each language, and how often they would be wrong."""

from __future__ import annotations

import difflib
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from pytest_xling.reports.rendering import listing, wrapped
from pytest_xling.reports.sheet import once
from pytest_xling.stats.groups import group_by
from pytest_xling.text.numbers import NONE, Figures, percent, share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from pytest_xling.analysis.tuning import BenchmarkTuned, Change, Proposal, Tuning

_MOST_REASONS = 12
_NOTE_INDENT = len("proposed  ")
_MARKS: Final[dict[Change, str]] = {"looser": "!", "tighter": "<", "same": "=", "new": "+"}
"""What a proposal does to the limit there is now."""


def tuned_text(
    tuned: Sequence[BenchmarkTuned], how: Tuning, *, bad: bool, width: int, color: bool
) -> str:
    """Return a table for each benchmark, and what its numbers mean.

    *bad* tells whether runs known to be bad were judged, too.
    """
    parts = [_benchmark(benchmark, bad=bad, width=width, color=color) for benchmark in tuned]
    notes = [
        wrapped(note, width=width, hanging=_NOTE_INDENT) for note in _notes(tuned, how, bad=bad)
    ]
    return "\n".join([*parts, "".join(notes)])


def _benchmark(tuned: BenchmarkTuned, *, bad: bool, width: int, color: bool) -> str:
    # Metric by metric, in the order in which metrics come first.
    by_limit = group_by(tuned.proposals, lambda proposal: (proposal.limit.name, proposal.limit.key))
    proposals = [proposal for group in by_limit.values() for proposal in group]
    listed = [proposal for proposal in proposals if proposal.proposed is not None]
    lines = [f"{tuned.benchmark}  {tuned.questions:,} questions"]
    if listed:
        words: dict[str, Callable[[Proposal], str]] = {
            "metric": once(listed, _name),
            "lang": lambda proposal: proposal.limit.spec.language,
            "now": lambda proposal: _limit(proposal, proposal.limit.now),
            "proposed": lambda proposal: _limit(proposal, proposal.proposed),
            "": lambda proposal: _MARKS[proposal.change] if proposal.change else "",
            "blocked\nheld out": lambda proposal: share(proposal.blocked_held_out),
            "missed\nheld out": lambda proposal: share(proposal.missed_held_out),
            "missed": lambda proposal: share(proposal.missed),
        }
        if bad:
            words["bad\nmissed"] = lambda proposal: share(proposal.missed_bad)
        table = listing(
            {head: [word(proposal) for proposal in listed] for head, word in words.items()},
            width=width,
            color=color,
            right=[head for head in words if head not in {"metric", "lang"}],
            shortened="metric",
        )
        together = f"any gate: {share(tuned.blocked)} of runs like these would be blocked"
        if tuned.blocked_held_out is not None:
            together += f", {share(tuned.blocked_held_out)} held out"
        marks = "   ".join(f"{mark} {word}" for word, mark in _MARKS.items())
        lines += ["", table.rstrip("\n"), "", marks, wrapped(together, width=width).rstrip("\n")]
    unchanged = [proposal for proposal in tuned.proposals if proposal.proposed is None]
    alike = group_by(unchanged, lambda p: (f"{p.limit.name} {p.limit.key}", p.reason))
    for (name, reason), group in list(alike.items())[:_MOST_REASONS]:
        languages = ", ".join(proposal.limit.spec.language for proposal in group)
        why = f"left as it is: {name} {languages}: {reason}"
        lines.append(wrapped(why, width=width).rstrip("\n"))
    if len(alike) > _MOST_REASONS:
        lines.append(f"… and {len(alike) - _MOST_REASONS} more (--json has all)")
    return "\n".join([*lines, ""])


def _notes(tuned: Sequence[BenchmarkTuned], how: Tuning, *, bad: bool) -> list[str]:
    """Say how limits were found and what the columns count."""
    proposals = [
        proposal for each in tuned for proposal in each.proposals if proposal.proposed is not None
    ]
    if not proposals:
        return ["Nothing to propose."]
    methods = {proposal.method for proposal in proposals}
    runs = proposals[0].runs
    sure = f"{percent(1 - how.false_alarm)} of runs, confidence {percent(how.confidence)}"
    method_texts = {
        "order": f"order statistics of {runs} runs ({sure})",
        "normal": f"normal tolerance limits of {runs} runs ({sure})",
        "resampled": (
            f"questions of {runs} run{'' if runs == 1 else 's'} drawn again, blocked in "
            f"{percent(how.false_alarm)} of draws at most"
            + (" by all gates together" if how.family else ", each gate by itself")
        ),
    }
    methods_text = "; ".join(text for method, text in method_texts.items() if method in methods)
    held = f"{percent(how.split)} of the questions"
    worse = f"{percent(how.flagged)} of good answers turned bad, numbers {how.shift:g} SD worse"
    lines = [
        f"proposed  {methods_text}",
        f"blocked   limits tuned on {held}, a good run judged on the rest, {how.splits} times",
        f"missed    a bad run that passed, likewise and as a whole: {worse}",
    ]
    if any(proposal.limit.spec.threshold.min_judge_f1 is not None for proposal in proposals):
        lines.append(
            "Where what finds stances is not as good as a gate asks (min_judge_f1), the gate is"
            " inconclusive, whatever its limit."
        )
    if bad:
        lines.append("bad missed  runs named with --bad, drawn again, that pass what is proposed")
    return lines


def tuned_json(tuned: Sequence[BenchmarkTuned], how: Tuning) -> dict[str, Any]:
    """Return all that is known as plain values."""
    return {
        "tuning": asdict(how),
        "benchmarks": [
            {
                "benchmark": benchmark.benchmark,
                "questions": benchmark.questions,
                "blocked": benchmark.blocked,
                "blocked_held_out": benchmark.blocked_held_out,
                "proposals": [_plain(proposal) for proposal in benchmark.proposals],
            }
            for benchmark in tuned
        ],
    }


def loosened_text(tuned: Sequence[BenchmarkTuned], *, width: int) -> str:
    """Name the limits that would be loosened, and those tightened; "" without any.

    A loosened limit lets through what is held back now: it is to be seen beside every diff.
    """
    lines = []
    for change, verb in (("looser", "loosens"), ("tighter", "tightens")):
        moved = [
            proposal
            for benchmark in tuned
            for proposal in benchmark.proposals
            if proposal.change == change
        ]
        if moved:
            moves = "; ".join(
                f"{name} {', '.join(map(_move, group))}"
                for name, group in group_by(moved, _name).items()
            )
            lines.append(wrapped(f"{verb}: {moves}", width=width))
    return "".join(lines)


def _move(proposal: Proposal) -> str:
    """Word how a limit moves: ``hi 5.0% to 6.5%``."""
    now, proposed = _limit(proposal, proposal.limit.now), _limit(proposal, proposal.proposed)
    return f"{proposal.limit.spec.language} {now} to {proposed}"


def _plain(proposal: Proposal) -> dict[str, Any]:
    threshold = proposal.limit.spec.threshold
    values = asdict(proposal)
    del values["limit"]
    return {
        "gate": proposal.limit.spec.id,
        "metric": threshold.metric,
        "language": threshold.language,
        "level": threshold.level,
        "limit": proposal.limit.key,
        "now": proposal.limit.now,
        "change": proposal.change,
        **values,
    }


def diff(before: str, after: str, *, name: str) -> str:
    """Return a unified diff; empty where nothing changes."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        fromfile=name,
        tofile=f"{name} (proposed)",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _name(proposal: Proposal) -> str:
    """Name a limit: its metric, and its kind where the name does not say it already."""
    limit = proposal.limit
    return limit.name if limit.key in {"max_rate", "max_gap"} else f"{limit.name} {limit.key}"


def _limit(proposal: Proposal, value: float | None) -> str:
    if value is None:
        return NONE
    limit = proposal.limit
    return Figures(share=limit.share, difference=limit.key == "max_gap", digits=1).limit(value)
