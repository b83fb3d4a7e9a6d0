"""Shards: parts of a run that several machines ask, and which questions are in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.keys import content_key

if TYPE_CHECKING:
    from pytest_xling.planning.plan import Case
    from pytest_xling.records import RunRecord

SHARDS = "shards"
"""In the settings of a merged run: the names of its shards."""
LIMITS = "limits"
"""In the settings of a run: a digest of the thresholds file it was begun with."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of a run."""

    number: int
    """Counted from 1."""
    count: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """Parse a shard, such as ``2/8``, as settings have it."""
        number, _, count = text.partition("/")
        return cls(int(number), int(count))

    def has(self, case: Case) -> bool:
        """Tell whether a case is in this shard, with all others of its question.

        By a hash of the question's id, so that it does not depend on what else is selected or added
        to the data.
        """
        return int.from_bytes(content_key(case.group)[:8]) % self.count == self.number - 1

    def named(self, run_name: str) -> str:
        """Return the name of this shard of the run called *run_name*."""
        return f"{run_name}{self._suffix}"

    def whole(self, name: str) -> str:
        """Return the name of the run whose shard is called *name*."""
        return name.removesuffix(self._suffix)

    @property
    def _suffix(self) -> str:
        return f".{self.number}of{self.count}"

    def __str__(self) -> str:
        """Return such as ``shard 2 of 8``."""
        return f"shard {self.number} of {self.count}"


def shard_of(run: RunRecord) -> Shard | None:
    """Return the shard that a run is; None where it is whole."""
    text = run.settings.get("shard")
    return Shard.read(text) if isinstance(text, str) else None
