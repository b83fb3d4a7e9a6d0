"""Where requests go and with which key, from the variables the official client reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from pytest_xling.errors import ConfigError
from pytest_xling.http.endpoint import NO_KEY, Endpoint

_DEFAULT_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, kw_only=True)
class OpenaiEndpoint(Endpoint):
    """A server of chat completions and the key to it.

    Raises:
        ConfigError: the address cannot be read.
    """

    example: str = "http://127.0.0.1:8000/v1"
    api_version: str = ""
    """For Azure only."""

    @classmethod
    def from_environment(cls) -> OpenaiEndpoint:
        """Read ``OPENAI_BASE_URL``, ``OPENAI_API_KEY`` and Azure's variables.

        ``OPENAI_BASE_URL`` wins over ``AZURE_OPENAI_ENDPOINT``.

        Raises:
            ConfigError: the address cannot be read.
        """
        base_url = os.environ.get("OPENAI_BASE_URL", "").strip()
        azure = os.environ.get("AZURE_OPENAI_ENDPOINT", "").strip()
        if azure and not base_url:
            return cls(
                base_url=azure,
                key=os.environ.get("AZURE_OPENAI_API_KEY", ""),
                key_variable="AZURE_OPENAI_API_KEY",
                url_variable="AZURE_OPENAI_ENDPOINT",
                api_version=os.environ.get("OPENAI_API_VERSION", ""),
            )
        endpoint = cls(
            base_url=base_url or _DEFAULT_URL,
            key=os.environ.get("OPENAI_API_KEY", ""),
            key_variable="OPENAI_API_KEY",
            url_variable="OPENAI_BASE_URL",
            instead=", or OPENAI_BASE_URL to use another server (a local one needs no key)",
        )
        if endpoint.key or endpoint.host == urlsplit(_DEFAULT_URL).hostname:
            return endpoint
        return cls(
            base_url=base_url,
            key=NO_KEY,
            key_variable=endpoint.key_variable,
            url_variable=endpoint.url_variable,
        )

    @property
    def azure(self) -> bool:
        """Whether this is an Azure resource."""
        return self.url_variable == "AZURE_OPENAI_ENDPOINT"

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI's own API."""
        return self.host.endswith("api.openai.com")

    def check(self) -> None:
        """Raise ConfigError for an address, a key or a version that cannot work."""
        super().check()
        if self.azure and not self.api_version:
            msg = "AZURE_OPENAI_ENDPOINT needs OPENAI_API_VERSION too, such as 2024-10-21"
            raise ConfigError(msg)
