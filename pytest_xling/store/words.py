"""Texts as columns keep them: the same on every kind of store, in the same order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlalchemy import Text
from sqlalchemy.types import TypeDecorator

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Dialect
    from sqlalchemy.types import TypeEngine

_WRITTEN = {"\0": "\x10@", "\x10": "\x10P"}
_READ = {written: character for character, written in _WRITTEN.items()}


class Words(TypeDecorator[str]):
    """Any text, ordered by its code points.

    PostgreSQL's text has no NUL, which questions and messages of servers may have. So it is written
    as DLE and @, and DLE itself, which nobody uses, as DLE and P.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """Return the type of the column."""
        return Text() if dialect.name == "sqlite" else Text(collation="C")

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Return what writes a text; None where it is written as it is."""
        return None if dialect.name == "sqlite" else _written

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:  # noqa: ARG002
        """Return what reads a text; None where it is read as it is."""
        return None if dialect.name == "sqlite" else _read


def _written(text: str | None) -> str | None:
    if text is None or ("\0" not in text and "\x10" not in text):
        return text
    return re.sub("[\0\x10]", lambda found: _WRITTEN[found[0]], text)


def _read(text: str | None) -> str | None:
    if text is None or "\x10" not in text:
        return text
    return re.sub("\x10[@P]", lambda found: _READ[found[0]], text)
