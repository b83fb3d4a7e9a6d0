"""What judges said when they were asked about their anchors again, as the store keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from pytest_xling.keys import canonical_json
from pytest_xling.store.insertion import insert
from pytest_xling.store.schema import anchor_checks as table

if TYPE_CHECKING:
    from sqlalchemy import Connection

LEVEL = 0.05
"""With a smaller p a judge is as right of its anchors as it was by no chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorCheck:
    """How a judge did on its anchors, answers with a known label, when it was asked again."""

    run_id: str
    """The run before whose gates it was asked."""
    signature: str
    """Of the judge."""
    language: str
    aspect: str = ""
    created_at: str
    """UTC, ISO 8601."""
    n: int
    """How many anchors there are."""
    right_then: int
    """Of how many it gave the known label when it was measured."""
    right_now: int
    p: float
    """How likely it is that as many change for no reason; two-sided (McNemar)."""
    versions_then: tuple[str, ...] = ()
    """Which versions of its model its servers named; none where they named none."""
    versions_now: tuple[str, ...] = ()

    @property
    def changed(self) -> str:
        """Say how the judge has changed; "" where it has not, as far as can be told."""
        then, now = set(self.versions_then), set(self.versions_now)
        if then and now and not now <= then:
            named = f"{', '.join(sorted(then))} then and {', '.join(sorted(now))} now"
            return f"its server names {named}"
        if self.p < LEVEL:
            return (
                f"of {self.n} labelled answers judged again it is right about {self.right_now}, and"
                f" was about {self.right_then} (p {self.p:.2g})"
            )
        return ""


def add_check(connection: Connection, check: AnchorCheck) -> None:
    """Keep a check; the first of a run stays."""
    keys = {name: getattr(check, name) for name in ("run_id", "signature", "language", "aspect")}
    row = {"created_at": check.created_at, "result": canonical_json(asdict(check))}
    connection.execute(insert(connection, table).values(**keys, **row).on_conflict_do_nothing())


def checks(
    connection: Connection, *, signature: str, language: str | None = None
) -> list[AnchorCheck]:
    """Return all checks of the judge of *signature*, in a language or in all, the latest last."""
    query = select(table.c.result).where(table.c.signature == signature)
    if language is not None:
        query = query.where(table.c.language == language)
    results = connection.execute(query.order_by(table.c.created_at)).scalars()
    return [_read(result) for result in results]


def _read(result: str) -> AnchorCheck:
    saved = json.loads(result)
    versions = {name: tuple(saved[name]) for name in ("versions_then", "versions_now")}
    return AnchorCheck(**{**saved, **versions})
