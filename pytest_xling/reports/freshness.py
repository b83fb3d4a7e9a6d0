"""Which answers of a run were asked for, which were in the store before, and how old those are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pytest_xling.store.answers import origins
from pytest_xling.text.display import printable
from pytest_xling.text.numbers import age_text

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pytest_xling.records import RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How new the answers of a run are."""

    asked: int
    """Answers asked for in this run."""
    stored: int
    """Answers that were in the store when it began."""
    oldest_s: float
    """How old the oldest of these was then, in seconds; 0 without any."""
    other_models: str = ""
    """Says so where replies named another model then than now; else empty."""

    def __str__(self) -> str:
        """Word it: ``asked 0; 375 from the store, the oldest 3 weeks old``."""
        asked = f"asked {self.asked:,}"
        if not self.stored:
            return asked
        return f"{asked}; {self.stored:,} from the store, the oldest {age_text(self.oldest_s)} old"


def freshness(connection: Connection, run: RunRecord) -> Freshness:
    """Find out how new the answers of *run* are, as seen from its beginning.

    Models are compared by their names in replies: a server's fingerprint changes by itself
    (ADR 34).
    """
    began = datetime.fromisoformat(run.created_at).timestamp()
    found = origins(connection, run.run_id, began=began)
    before = [origin for origin in found if not origin.asked]
    now, then = (
        {origin.version.split()[0] for origin in found if origin.asked is asked and origin.version}
        for asked in (True, False)
    )
    told = ""
    if now and then - now:
        names = [", ".join(map(printable, sorted(models))) for models in (now, then - now)]
        told = (
            f"replies now name {names[0]} as the model, and answers from the store {names[1]}; "
            "--xling-max-age=0 asks for all anew"
        )
    return Freshness(
        asked=sum(origin.answers for origin in found if origin.asked),
        stored=sum(origin.answers for origin in before),
        oldest_s=max((began - origin.oldest for origin in before), default=0.0),
        other_models=told,
    )
