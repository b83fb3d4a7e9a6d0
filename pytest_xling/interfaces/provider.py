"""Providers: where answers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Condition, PromptStyle, Request, Response


class Provider(Protocol):
    """Answers requests, one attempt each.

    The engine does the rest: memo, retries, rate limits, the cost cap. A provider is made by
    ``Provider(spec, timeout_s=…, device=…)`` where *spec* is what follows ``name:`` in ``--model``
    (for ``openai``, the model's name). One that has only answers stored already says
    ``answers_prompts = False``: it can be asked its questions, but not to judge or translate. One
    that takes the param ``response_format``, OpenAI's JSON schema of a reply, and
    ``optional_logprobs``, log-probabilities it may do without, says ``structured = True``: judges
    are then asked with them.
    """

    name: ClassVar[str]

    @property
    def style(self) -> PromptStyle:
        """How it wants to be asked; a class attribute where it is always the same."""
        ...

    paid: ClassVar[bool]
    """Whether requests may cost money (``--xling-max-cost`` then needs ``--xling-price``)."""

    @property
    def max_connections(self) -> int:
        """Requests it can usefully have in flight at once; a class attribute where that is fixed.

        ``--xling-max-connections`` may lower it.
        """
        ...

    def __init__(self, spec: str, *, timeout_s: float = 120.0, device: str = "auto") -> None: ...

    def check(self) -> None:
        """Raise ConfigError for what would make every request fail; asks nothing of a server."""
        ...

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer to *request*, for its content key."""
        ...

    async def generate(self, request: Request) -> Response:
        """Ask once.

        Raises:
            RateLimited, TransientFault, PermanentFault: nothing was answered.
        """
        ...

    async def aclose(self) -> None:
        """Give back connections and memory."""
        ...


@runtime_checkable
class Stored(Protocol):
    """A provider that has answers stored already, and knows to what."""

    @property
    def answered(self) -> Mapping[str, frozenset[str]]:
        """The ids of the samples it has answers to, by language code."""
        ...

    def unread(self, asked: Iterable[tuple[str, str, Condition]]) -> Sequence[Condition]:
        """Return the conditions of its answers, one each, that nothing of *asked* reads.

        The temperature is None where an answer is read at any.

        Args:
            asked: ids of samples, language codes and conditions; answers to other samples do not
                count.
        """
        ...


@runtime_checkable
class Translating(Protocol):
    """A provider that knows, before it is asked, which languages it goes between."""

    def why_not(self, source: str, target: str) -> str:
        """Say why it cannot translate from *source* to *target*, codes of ours; "" if it may.

        Loads no weights.

        Raises:
            ConfigError: there is no such model.
        """
        ...


@runtime_checkable
class Movable(Provider, Protocol):
    """A provider that runs its model in this process, until it is moved to copies elsewhere."""

    @property
    def init_arguments(self) -> Mapping[str, Any]:
        """The arguments of its constructor, with which copies are made."""
        ...

    def move(self, ask: Callable[[Request], Awaitable[Response]], *, copies: int) -> None:
        """Load no model in this process: from now on *ask* answers, by so many *copies*."""
        ...
