"""Who is asked in a run: the model under test, a judge, a translator."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.engine.answering import Answering
from pytest_xling.engine.asking import RoleAsk
from pytest_xling.engine.memo import Memo
from pytest_xling.errors import EvaluationError
from pytest_xling.keys import content_key
from pytest_xling.records import Message, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.annotators import Role
    from pytest_xling.engine.ledger import Ledger
    from pytest_xling.engine.limits import AdaptiveLimit, CostCap
    from pytest_xling.keys import JsonValue
    from pytest_xling.providers import Provider
    from pytest_xling.records import Response

__all__ = ["Parties", "Party"]


@dataclass(frozen=True, kw_only=True)
class Party:
    """A model and the limits it is asked within."""

    provider: Provider
    model: str
    """Its name as the provider knows it."""
    limit: AdaptiveLimit
    """How many requests may be in flight."""
    cap: CostCap | None
    """What may be spent; None where nothing costs."""


class Parties:
    """The steps that ask, each opened when first needed.

    Args:
        tested: the model under test.
        roles: who judges and translates; may be the model under test itself.
        ledger: to the store.
    """

    def __init__(self, tested: Party, roles: Mapping[Role, Party], ledger: Ledger) -> None:
        self.tested = Answering(tested.provider, limit=tested.limit, cap=tested.cap)
        self._parties: dict[str, Party] = {"tested": tested}
        self._parties |= {str(role): party for role, party in roles.items()}
        self._ledger = ledger
        # A model in two parts is asked by one step, or each would answer to half of the limits.
        self._steps = {id(tested): self.tested}
        for party in roles.values():
            if id(party) not in self._steps:
                self._steps[id(party)] = Answering(party.provider, limit=party.limit, cap=party.cap)
        self._memos: dict[int, asyncio.Task[Memo[Request, Response]]] = {}

    async def memo(self, role: Role | None = None) -> Memo[Request, Response]:
        """Return the memo of the step that asks the model under test, or that of a role.

        Raises:
            EvaluationError: nobody has that role.
        """
        party = self._parties.get(role or "tested")
        if party is None:
            msg = f"no {role} is named: give one with --xling-{role}=MODEL"
            raise EvaluationError(msg)
        key = id(party)
        if key not in self._memos:
            opening = Memo.open(self._steps[key], self._ledger)
            self._memos[key] = asyncio.create_task(opening)
        return await self._memos[key]

    async def ask(self, role: Role) -> RoleAsk:
        """Return what puts questions to the model of *role*."""
        memo = await self.memo(role)
        party = self._parties[role]
        structured = getattr(party.provider, "structured", False)
        return RoleAsk(memo, model=party.model, style=party.provider.style, structured=structured)

    def identity(self, role: Role) -> dict[str, JsonValue]:
        """Return what stands for the model of *role* in a signature.

        Beside its name a digest of all its provider knows of it: address, weights, versions.
        """
        party = self._parties[role]
        bare = Request(model=party.model, messages=(Message(role="user", content=""),), params={})
        digest = content_key(party.provider.identify(bare)).hex()[:12]
        return {role: f"{party.provider.name}:{party.model}@{digest}"}

    def shut(self, reason: str) -> None:
        """Let nothing more be asked of anybody."""
        for step in self._steps.values():
            step.gate.shut(reason)

    def abandon(self, reason: str) -> None:
        """Let nothing more be asked of anybody, and drop what is under way."""
        for step in self._steps.values():
            step.gate.abandon(reason)

    async def close(self, *, grace_s: float) -> None:
        """Let nothing more be asked, and wait up to *grace_s* for what is under way."""
        await asyncio.gather(*(step.gate.close(grace_s=grace_s) for step in self._steps.values()))

    @property
    def providers(self) -> list[Provider]:
        """All providers, each once."""
        return list({id(p.provider): p.provider for p in self._parties.values()}.values())

    @property
    def waiting(self) -> str:
        """Which models answer nothing just now, and for how long; "" where all do."""
        limits = {id(p.limit): p.limit for p in self._parties.values()}.values()
        return "; ".join(filter(None, (limit.breaker.waiting for limit in limits)))

    @property
    def spent_usd(self) -> float:
        """What was spent so far, all together."""
        caps = {id(p.cap): p.cap for p in self._parties.values() if p.cap is not None}
        return sum(cap.own_usd for cap in caps.values())
