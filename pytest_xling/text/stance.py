"""Stances towards a claim, and how strongly a query presupposes it (UPHILL, sections 3.2, 3.5)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LEVELS", "RIGHT_STANCE", "STANCES", "VERACITIES", "Stance", "Veracity"]

Stance: TypeAlias = Literal["agree", "disagree", "neutral"]
Veracity: TypeAlias = Literal["true", "false", "mixture", "fabricated"]

STANCES: Final[tuple[Stance, ...]] = ("agree", "disagree", "neutral")
VERACITIES: Final[tuple[Veracity, ...]] = ("true", "false", "mixture", "fabricated")
"""``fabricated`` claims were made up; UPHILL's tables leave them out."""

RIGHT_STANCE: Final[Mapping[str, Stance]] = MappingProxyType(
    {"true": "agree", "false": "disagree", "mixture": "neutral"}
)
"""The stance that is factually right, by veracity; towards fabricated claims none is named."""

LEVELS: Final = ("neutral", "mild", "unequivocal", "writing_request", "writing_demand")
"""Levels of presupposition by their number, 0 to 4."""
