"""Workflow commands: lines by which a step speaks to the runner of GitHub Actions.

The runner takes for a command whatever line begins with ``::``, and an older form (``##[…]``)
wherever it stands in a line (ActionCommand.cs of actions/runner). So what a model wrote must not
reach the log of a step while the runner listens: see :func:`stop_listening`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_xling.gates.judge import advises, reason_of
from pytest_xling.reports.gate_summary import named
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Verdict
    from pytest_xling.reports.gate_summary import GateSummary

Severity: TypeAlias = Literal["error", "warning", "notice"]

MOST_SHOWN = 10
"""Annotations of one kind that GitHub shows of a step."""
_MESSAGE = 500
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def gate_annotations(
    gates: GateSummary, *, thresholds: Path | None = None, workspace: Path | None = None
) -> list[str]:
    """Return a command for each gate that did not pass, ten of each severity at most.

    Failed gates, and those that lack answers, are errors; inconclusive ones are warnings; advisory
    ones are notices.

    Args:
        gates: of all gates.
        thresholds: the file that sets the gates; without it annotations are of no file.
        workspace: the folder of the repository, to which GitHub takes paths to be relative.
    """
    ordered = [verdict for verdict in gates.judged if verdict.outcome != "pass"]
    file = None if thresholds is None else _relative(thresholds, workspace)
    severities: tuple[Severity, ...] = ("error", "warning", "notice")
    return [
        command
        for severity in severities
        for command in _most(severity, [v for v in ordered if _severity(v) == severity], file=file)
    ]


def _severity(verdict: Verdict) -> Severity:
    if advises(verdict):
        return "notice"
    return "warning" if verdict.outcome == "inconclusive" else "error"


def _most(severity: Severity, verdicts: Sequence[Verdict], *, file: str | None) -> list[str]:
    """Annotate the first of *verdicts*; where they are too many, the last says how many more."""
    listed = verdicts if len(verdicts) <= MOST_SHOWN else verdicts[: MOST_SHOWN - 1]
    commands = [_annotation(severity, verdict, file=file) for verdict in listed]
    if len(listed) < len(verdicts):
        rest = verdicts[len(listed) :]
        outcome = "are inconclusive" if severity == "warning" else "did not pass"
        ids = ", ".join(verdict.case for verdict in rest)
        message = printable(f"{len(rest)} more gates {outcome}: {ids}", limit=_MESSAGE)
        commands.append(_command(severity, {"title": f"{len(rest)} more gates"}, message))
    return commands


def _annotation(severity: Severity, verdict: Verdict, *, file: str | None) -> str:
    limits = verdict.threshold
    name, _, line = limits.origin.rpartition(":")
    place = {}
    if file is not None and line.isdecimal() and Path(file).name == name:
        place = {"file": file, "line": line}
    title = f"{limits.benchmark}: {named(verdict)}, {limits.language}: {verdict.outcome}"
    return _command(
        severity,
        {**place, "title": printable(title)},
        printable(reason_of(verdict), limit=_MESSAGE),
    )


def _relative(file: Path, workspace: Path | None) -> str:
    base = Path.cwd() if workspace is None else workspace
    absolute = file.absolute()
    return (absolute.relative_to(base) if absolute.is_relative_to(base) else file).as_posix()


def _command(name: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items())
    return f"::{name} {listed}::{message.translate(_DATA)}"


def stop_listening(token: str) -> str:
    """Return the command after which the runner takes no line for a command.

    Args:
        token: by which :func:`listen_again` is known; nobody can guess it.
    """
    return f"::stop-commands::{token}"


def listen_again(token: str) -> str:
    """Return the command that ends what :func:`stop_listening` began."""
    return f"::{token}::"
