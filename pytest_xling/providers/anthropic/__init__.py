"""Claude models: Anthropic's Messages API, or a server that speaks as it does."""

from __future__ import annotations

from typing import ClassVar

from pytest_xling.http.provider import HostedProvider

__all__ = ["AnthropicProvider"]


class AnthropicProvider(HostedProvider):
    """Asks through Anthropic's official client: ``--model=anthropic:NAME``.

    The key comes from ``ANTHROPIC_API_KEY`` or ``ANTHROPIC_AUTH_TOKEN``; the address of another
    server than Anthropic's, which needs no key here, from ``ANTHROPIC_BASE_URL``.

    There are no seeds and no log-probabilities: such params are left out. Of temperatures see
    ``docs/guide.md``.
    """

    name: ClassVar[str] = "anthropic"
    module: ClassVar[str] = "anthropic"
    client: ClassVar[str] = "pytest_xling.providers.anthropic.client:AnthropicClient"
    example: ClassVar[str] = "claude-sonnet-5"
    url: ClassVar[str] = "https://api.anthropic.com"
    url_variable: ClassVar[str] = "ANTHROPIC_BASE_URL"
    key_variable: ClassVar[str] = "ANTHROPIC_API_KEY"
    key_variables: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
