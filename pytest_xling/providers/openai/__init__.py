"""Any server that speaks OpenAI's chat completions: OpenAI, Azure, vLLM, Ollama and others."""

from __future__ import annotations

import os
from typing import ClassVar

from pytest_xling.errors import ConfigError
from pytest_xling.http.endpoint import Endpoint
from pytest_xling.http.provider import HostedProvider

__all__ = ["OpenaiProvider"]

AZURE = "AZURE_OPENAI_ENDPOINT"


class OpenaiProvider(HostedProvider):
    """Asks as the official client does, one attempt each.

    The address and the key come from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, or from
    ``AZURE_OPENAI_ENDPOINT``, ``AZURE_OPENAI_API_KEY`` and ``OPENAI_API_VERSION``. A server other
    than OpenAI's needs no key here.
    """

    name: ClassVar[str] = "openai"
    module: ClassVar[str] = "openai"
    package: ClassVar[str] = "openai>=3.50"
    client: ClassVar[str] = "pytest_xling.providers.openai.client:OpenaiClient"
    example: ClassVar[str] = "gpt-4o"
    url: ClassVar[str] = "https://api.openai.com/v1"
    url_variable: ClassVar[str] = "OPENAI_BASE_URL"
    key_variable: ClassVar[str] = "OPENAI_API_KEY"

    @classmethod
    def find_endpoint(cls) -> Endpoint:
        """Read ``OPENAI_BASE_URL`` and the key; without the former Azure's variables.

        Raises:
            ConfigError: the address cannot be read.
        """
        azure = os.environ.get(AZURE, "").strip()
        if not azure or os.environ.get(cls.url_variable, "").strip():
            return super().find_endpoint()
        return Endpoint(
            base_url=azure,
            key=os.environ.get("AZURE_OPENAI_API_KEY", ""),
            key_variable="AZURE_OPENAI_API_KEY",
            url_variable=AZURE,
            example="https://NAME.openai.azure.com",
            api_version=os.environ.get("OPENAI_API_VERSION", ""),
        )

    def check(self) -> None:
        """Raise ConfigError for what would make every request fail; asks nothing of a server."""
        super().check()
        if self.endpoint.url_variable == AZURE and not self.endpoint.api_version:
            msg = f"{AZURE} needs OPENAI_API_VERSION too, such as 2024-10-21"
            raise ConfigError(msg)
