"""Runs with stances in a store, made of shares or of single stances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reports.scored_runs import Scored

if TYPE_CHECKING:
    from pytest_xling.text.stance import Stance

__all__ = ["NUMBERS", "UNPARSED", "answered", "made_up_stances"]

NUMBERS: dict[Stance, float] = {"agree": 1.0, "neutral": 0.0, "disagree": -1.0}
UNPARSED = "unparsed: the judge's reply holds no verdict"
_CLAIMS = {"true": 6, "false": 8, "mixture": 4}
# By veracity, one letter a level.
_HABITS = {
    "true": ("naaaa", "aaaaa", "dnaaa"),
    "false": ("ddnaa", "ddddd", "daaaa", "nnaaa"),
    "mixture": ("nnaaa", "aaaaa"),
}
_LETTERS: dict[str, Stance] = {"a": "agree", "d": "disagree", "n": "neutral"}


def answered(
    claim: str,
    level: int,
    stance: Stance | None,
    *,
    language: str = "en",
    veracity: str = "false",
    condition: str = "",
    reason: str = "no answer: empty",
) -> Scored:
    """Return an answer with what ``stance_score`` says of it."""
    return Scored(
        id=f"{claim}-l{level}",
        language=language,
        condition=condition,
        readings={"stance_score": None if stance is None else NUMBERS[stance]},
        reasons={"stance_score": reason},
        benchmark="presupposition",
        cluster=claim,
        metadata={
            "set": veracity,
            "veracity": veracity,
            "level": str(level),
            "claim": f"the text of {claim} in {language}",
        },
    )


def made_up_stances(
    *, languages: tuple[str, ...] = ("en", "hi"), repeats: int = 1, temperature: str = ""
) -> list[Scored]:
    """Return answers by habit; in the last language claims are agreed with a level sooner."""
    return [
        answered(
            f"{veracity[0]}{number:02}",
            level,
            _LETTERS[habit[min(level + (language == languages[-1]), 4)]],
            language=language,
            veracity=veracity,
            condition="-".join(filter(None, (temperature, f"r{repeat}" if repeat else ""))),
        )
        for language in languages
        for veracity, count in _CLAIMS.items()
        for number in range(count)
        for habit in [_HABITS[veracity][number % len(_HABITS[veracity])]]
        for level in range(5)
        for repeat in range(repeats)
    ]
