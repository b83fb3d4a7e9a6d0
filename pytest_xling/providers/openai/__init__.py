"""Any server that speaks OpenAI's chat completions: OpenAI, Azure, vLLM, Ollama and others."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.errors import ConfigError
from pytest_xling.providers.openai.endpoint import OpenaiEndpoint

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.providers.openai.client import OpenaiClient
    from pytest_xling.records import PromptStyle, Request, Response

__all__ = ["OpenaiProvider"]


class OpenaiProvider:
    """Asks through the official client, one attempt each.

    The address and the key come from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, or from
    ``AZURE_OPENAI_ENDPOINT``, ``AZURE_OPENAI_API_KEY`` and ``OPENAI_API_VERSION``. A server other
    than OpenAI's needs no key here.

    Args:
        spec: the model's name.
        timeout_s: how long one answer may take.
        device: unused; the server has one.
    """

    name: ClassVar[str] = "openai"
    style: ClassVar[PromptStyle] = "chat"
    paid: ClassVar[bool] = True
    max_connections: ClassVar[int] = 64
    structured: ClassVar[bool] = True

    def __init__(self, spec: str, *, timeout_s: float = 120.0, device: str = "auto") -> None:
        del device
        self._model = spec
        self._timeout_s = timeout_s
        self._endpoint = OpenaiEndpoint.from_environment()
        self._client: OpenaiClient | None = None

    def check(self) -> None:
        """Raise ConfigError for what would make every request fail; asks nothing of a server."""
        if not self._model.strip():
            msg = "no model is named: write --model=NAME, such as --model=gpt-4o"
            raise ConfigError(msg)
        if find_spec("openai") is None:
            msg = "the package openai is not installed: pip install 'openai>=3.50'"
            raise ConfigError(msg)
        self._endpoint.check()

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer: server, model, messages and parameters."""
        return {
            "endpoint": self._endpoint.url,
            "model": self._model,
            "messages": [message.key for message in request.messages],
            "params": {k: v for k, v in request.params.items() if v is not None},
        }

    def prepare(self) -> None:
        """Import the client now; else the first request does, which takes it 0.4 s."""
        if self._client is None:
            from pytest_xling.providers.openai.client import (  # noqa: PLC0415  see above
                OpenaiClient,
            )

            self._client = OpenaiClient(self._endpoint, self._model, timeout_s=self._timeout_s)

    async def generate(self, request: Request) -> Response:
        """Ask once.

        Raises:
            RateLimited, TransientFault, PermanentFault: nothing was answered.
        """
        self.prepare()
        assert self._client is not None  # noqa: S101  prepare sets it
        return await self._client.ask(request)

    async def aclose(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
