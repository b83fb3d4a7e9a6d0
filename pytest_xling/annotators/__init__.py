"""Annotators: what metrics need to know of a text, found once and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.keys import JsonValue

__all__ = ["Annotator"]


class Annotator(Protocol):
    """Annotates texts in batches; a frozen dataclass whose fields are its parameters."""

    name: ClassVar[str]
    version: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]]
    """Distributions whose version may change a value; they stand in the signature."""

    def annotate(self, texts: Sequence[str], languages: Sequence[str]) -> list[JsonValue]:
        """Return one value per text, in order.

        ``languages[i]`` is the language ``texts[i]`` should be in.
        """
        ...
