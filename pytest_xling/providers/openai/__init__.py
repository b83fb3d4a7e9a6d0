"""Any server that speaks OpenAI's chat completions: OpenAI, Azure, vLLM, Ollama and others."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.errors import ConfigError
from pytest_xling.http.provider import HostedProvider
from pytest_xling.providers.openai.endpoint import OpenaiEndpoint

if TYPE_CHECKING:
    from pytest_xling.providers.openai.client import OpenaiClient

__all__ = ["OpenaiProvider"]


class OpenaiProvider(HostedProvider):
    """Asks through the official client, one attempt each.

    The address and the key come from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, or from
    ``AZURE_OPENAI_ENDPOINT``, ``AZURE_OPENAI_API_KEY`` and ``OPENAI_API_VERSION``. A server other
    than OpenAI's needs no key here.
    """

    name: ClassVar[str] = "openai"
    module: ClassVar[str] = "openai"
    example: ClassVar[str] = "gpt-4o"
    endpoint: OpenaiEndpoint

    @staticmethod
    def find_endpoint() -> OpenaiEndpoint:
        """Read the variables.

        Raises:
            ConfigError: the address cannot be read.
        """
        return OpenaiEndpoint.from_environment()

    def connect(self) -> OpenaiClient:
        """Import the client, which takes 0.4 s, and return what asks through it."""
        from pytest_xling.providers.openai.client import (  # noqa: PLC0415  see above
            OpenaiClient,
        )

        return OpenaiClient(self.endpoint, self.model, timeout_s=self.timeout_s)

    def check(self) -> None:
        """Raise ConfigError for what would make every request fail; asks nothing of a server."""
        if not self.model:
            msg = "no model is named: write --model=NAME, such as --model=gpt-4o"
            raise ConfigError(msg)
        if find_spec("openai") is None:
            msg = "the package openai is not installed: pip install 'openai>=3.50'"
            raise ConfigError(msg)
        self.endpoint.check()
