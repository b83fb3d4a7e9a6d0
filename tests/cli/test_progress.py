"""How far a command is: a bar on a terminal, lines or nothing elsewhere."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from pytest_xling.cli.progress import shown_progress

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


def on_terminal(patch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a terminal 80 columns wide; in a test, not in a fixture of it."""
    made = Terminal()
    for name, value in {"COLUMNS": "80", "TERM": "xterm"}.items():
        patch.setenv(name, value)
    patch.delenv("CI", raising=False)
    patch.setattr(sys, "stderr", made)
    return made


def count_to(whole: int, *, logged: bool) -> None:
    """Tell of a step, up to its end."""
    with shown_progress(logged=logged) as progress:
        for done in range(0, whole + 1, 100):
            progress("bertscore", done, whole)


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what is scored, how many of how many, and how many in a second; CI has none."""
    terminal = on_terminal(monkeypatch)
    count_to(1_000, logged=False)
    shown = terminal.getvalue()
    for text in ("bertscore", "1000/1000", "/s"):
        assert text in shown
    in_ci = on_terminal(monkeypatch)
    monkeypatch.setenv("CI", "true")
    count_to(1_000, logged=False)
    assert not in_ci.getvalue().strip()


def test_a_file_has_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """A step of hours says ten times how far it is; who says what came of it says no more there."""
    count_to(1_000, logged=True)
    lines = [line for line in capsys.readouterr().err.splitlines() if line]
    assert 10 == len(lines)
    assert "bertscore: 1000 done" == lines[-1]
    count_to(1_000, logged=False)
    assert not capsys.readouterr().err.strip()
