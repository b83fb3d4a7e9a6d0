"""Claude models: Anthropic's Messages API, or a server that speaks as it does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from pytest_xling.http.endpoint import NO_KEY, Endpoint
from pytest_xling.http.provider import HostedProvider

if TYPE_CHECKING:
    from pytest_xling.providers.anthropic.client import AnthropicClient

__all__ = ["AnthropicProvider"]

_DEFAULT_URL = "https://api.anthropic.com"


class AnthropicProvider(HostedProvider):
    """Asks through Anthropic's official client: ``--model=anthropic:NAME``.

    The key comes from ``ANTHROPIC_API_KEY`` or ``ANTHROPIC_AUTH_TOKEN``; the address of another
    server than Anthropic's, which needs no key here, from ``ANTHROPIC_BASE_URL``.

    There are no seeds and no log-probabilities: such params are left out. Of temperatures see
    ``docs/guide.md``.
    """

    name: ClassVar[str] = "anthropic"
    module: ClassVar[str] = "anthropic"
    example: ClassVar[str] = "claude-sonnet-5"

    @staticmethod
    def find_endpoint() -> Endpoint:
        """Read ``ANTHROPIC_BASE_URL`` and the key.

        Raises:
            ConfigError: the address cannot be read.
        """
        url = os.environ.get("ANTHROPIC_BASE_URL", "").strip() or _DEFAULT_URL
        key = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN") or ""
        other = urlsplit(_DEFAULT_URL).netloc not in url
        return Endpoint(
            base_url=url,
            key=key or (NO_KEY if other else ""),
            key_variable="ANTHROPIC_API_KEY",
            url_variable="ANTHROPIC_BASE_URL",
            example=_DEFAULT_URL,
            instead=", or ANTHROPIC_BASE_URL to use another server (a local one needs no key)",
        )

    def connect(self) -> AnthropicClient:
        """Import Anthropic's client and return what asks through it."""
        from pytest_xling.providers.anthropic.client import (  # noqa: PLC0415  an extra
            AnthropicClient,
        )

        return AnthropicClient(self.endpoint, self.model, timeout_s=self.timeout_s)
