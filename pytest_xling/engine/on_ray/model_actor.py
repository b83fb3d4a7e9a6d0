"""Copies of a model in processes on Ray, asked as one; each gathers batches as it would locally."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeGuard

from pytest_xling import registry
from pytest_xling.engine.answering import provider_digest
from pytest_xling.engine.on_ray.batch_actor import check_package, portable, received
from pytest_xling.errors import ConfigError, TransientFault
from pytest_xling.interfaces.provider import Movable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.records import Request, Response


def can_move(provider: Provider) -> TypeGuard[Movable]:
    """Tell whether other processes can have copies of *provider*."""
    return isinstance(provider, Movable) and registry.is_importable("provider", provider.name)


def made_with(provider: Movable) -> dict[str, Any]:
    """Return what a copy of *provider* is made with: Ray chooses its GPU."""
    given = dict(provider.made_with)
    return given | {"device": str(given["device"]).partition(":")[0]}


class ModelActor:
    """A copy of a model; nothing it does raises.

    Requests come side by side: Ray gives an actor with coroutines a loop.

    Args:
        digest: of the package's code where the requests come from.
        name: of the provider.
        given: what the provider is made with.
        known: a digest of what the provider knows of the model there.
    """

    def __init__(self, digest: str, name: str, given: Mapping[str, Any], known: str) -> None:
        self._digest = digest
        self._name = name
        self._given = given
        self._known = known
        self._making = asyncio.Lock()
        self._provider: Provider | None = None

    async def generate(self, request: bytes) -> bytes:
        """Return the answer to a pickled request, or the fault it met, pickled."""
        try:
            async with self._making:
                if self._provider is None:
                    self._provider = await asyncio.to_thread(self._made)
                provider = self._provider
            answered = await provider.generate(pickle.loads(request))  # noqa: S301  our driver's
            return pickle.dumps(answered)
        except Exception as error:  # noqa: BLE001  Ray would take it for its own
            return pickle.dumps(portable(error))

    def _made(self) -> Provider:
        check_package(self._digest)
        provider: Provider = registry.load("provider", self._name)(**self._given)
        if provider_digest(provider) != self._known:
            msg = (
                f"--xling-executor: {self._name}:{self._given['spec']} on Ray is not the model that"
                " is there by this name here, or runs with other libraries; put the same files and"
                " the same versions on all machines"
            )
            raise ConfigError(msg)
        return provider


class Copies:
    """The copies of a model, for a process that asks: a request goes to the one with the fewest.

    Args:
        actors: handles of :class:`ModelActor`.
    """

    def __init__(self, actors: Sequence[Any]) -> None:
        self._actors = actors
        self._asked: Counter[int] = Counter()

    async def ask(self, request: Request) -> Response:
        """Ask once; a request that is cancelled is so there, too.

        Raises:
            TransientFault: the process died; Ray starts it anew.
            XlingError: what the provider met.
        """
        import ray  # noqa: PLC0415  an extra; without it nobody gets here
        import ray.exceptions  # noqa: PLC0415  likewise

        number = min(range(len(self._actors)), key=self._asked.__getitem__)
        self._asked[number] += 1
        asked = self._actors[number].generate.remote(pickle.dumps(request))
        try:
            answered = await asked
        except asyncio.CancelledError:
            ray.cancel(asked)
            raise
        except ray.exceptions.RayError as error:
            msg = f"Ray lost the process of a model: {str(error).strip().splitlines()[0]}"
            raise TransientFault(msg) from error
        finally:
            self._asked[number] -= 1
        response: Response = received(answered)
        return response
