"""The stars of a p value, one convention for all tables."""

from __future__ import annotations

__all__ = ["stars"]

_LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def stars(p: float | None) -> str:
    """Return ``*`` below .05, ``**`` below .01, ``***`` below .001, else nothing.

    That is how Tables 2 and 3 of XLingEval are marked. The caption of its Table A12 promises one
    star more at each level, but the table itself is marked in this way too.
    """
    if p is None:
        return ""
    return next((mark for level, mark in _LEVELS if p < level), "")
