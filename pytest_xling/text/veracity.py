"""Read the veracity of a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.errors import DataError, did_you_mean
from pytest_xling.files.strict_json import require_text
from pytest_xling.text.stance import VERACITIES

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.text.stance import Veracity

__all__ = ["require_veracity"]


def require_veracity(value: JsonValue, *, where: str, key: str) -> Veracity:
    """Return the veracity that *value* names, in any case; JSON's ``true`` and ``false`` do.

    Raises:
        DataError: it is none; lists those there are.
    """
    text = str(value).lower() if isinstance(value, bool) else value
    named = require_text(text, where=where, key=key).strip().casefold()
    for veracity in VERACITIES:
        if named == veracity:
            return veracity
    msg = (
        f"{where}: key {key!r}: unknown veracity {value!r}.{did_you_mean(named, VERACITIES)} "
        f"Known: {', '.join(VERACITIES)}"
    )
    raise DataError(msg)
