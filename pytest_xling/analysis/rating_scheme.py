"""What people are asked about a model's answer when they rate it beside others.

The scheme is that of CaLMQA (Section 4, Appendix D, Tables 25 to 27); the wording is our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """One thing that is asked about each answer."""

    name: str
    """Also that of the column in which raters' choices are saved."""
    asked: str
    choices: Mapping[str, str]
    """What each means; the best first."""
    key: str = ""
    """Goes through the choices on the page; "" where each choice is a key itself."""


RATING: Final = Aspect(
    name="rating",
    asked="How good is the answer altogether?",
    choices={
        "5": "Excellent: little could be better.",
        "4": "Good, with small flaws.",
        "3": "Average: it helps in part.",
        "2": "Poor: it hardly helps.",
        "1": "Of no use.",
    },
)
ASPECTS: Final = (
    Aspect(
        name="correct_language",
        asked="Is it in the language it should be in?",
        choices={
            "yes": "All of it, names and terms aside.",
            "partly": "Parts are in another one.",
            "no": "It is in another one.",
        },
        key="l",
    ),
    Aspect(
        name="factual",
        asked="Is anything in it false?",
        choices={
            "none": "Nothing you know of.",
            "minor": "Details; what matters is right.",
            "major": "Something that matters.",
        },
        key="f",
    ),
    Aspect(
        name="omissions",
        asked="Does anything lack that belongs in it?",
        choices={
            "none": "Nothing you miss.",
            "minor": "Details; what matters is there.",
            "major": "Something that matters.",
        },
        key="o",
    ),
)
"""What is asked beside the rating."""
