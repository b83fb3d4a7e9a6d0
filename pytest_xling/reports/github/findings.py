"""One finding: what was asked, answered and detected, folded away below one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.reports.github.markdown import code, details, html_text
from pytest_xling.reports.terminal.matrix import language_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.reports.terminal.findings import Ranked, Standing

__all__ = ["folded"]

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
