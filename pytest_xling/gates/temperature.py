"""Which temperature a case was asked at, read from the id of its condition."""

from __future__ import annotations

import re

from pytest_xling.errors import EvaluationError

__all__ = ["temperature_of"]

_CONDITION = re.compile(r"t(?P<temperature>\d+(?:\.\d+)?(?:e-\d+)?)(?:-r\d+)?|r\d+|")


def temperature_of(condition: str) -> float:
    """Return the temperature in an id such as ``t0.7-r2``; 0.0 where it names none.

    An id names none at temperature 0, nor where the temperature was left to the model.

    Raises:
        EvaluationError: that is no id of a condition.
    """
    found = _CONDITION.fullmatch(condition)
    if found is None:
        msg = f"{condition!r} is no condition; expected such as 't0.7-r2', 't1', 'r2' or nothing"
        raise EvaluationError(msg)
    return float(found["temperature"] or 0.0)
