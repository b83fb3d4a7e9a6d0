"""The mechanisms by which a response expresses empathy (EPITOME: Sharma et al. 2020, section 3)."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Mechanism: TypeAlias = Literal["emotional_reactions", "interpretations", "explorations"]
Presence: TypeAlias = Literal["present", "absent"]

MECHANISMS: Final[tuple[Mechanism, ...]] = (
    "emotional_reactions",
    "interpretations",
    "explorations",
)
"""Feelings that the responder voices, an understanding of what the seeker goes through, and
questions about it."""

PRESENCES: Final[tuple[Presence, ...]] = ("present", "absent")
"""Found in Translation (section 3.2) makes one of EPITOME's weak and strong communication."""
