"""Gemini models: Google's generateContent, or a server that speaks as it does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.http.endpoint import NO_KEY, Endpoint
from pytest_xling.http.provider import HostedProvider

if TYPE_CHECKING:
    from pytest_xling.providers.google.client import GoogleClient

__all__ = ["GoogleProvider"]

_DEFAULT_URL = "https://generativelanguage.googleapis.com"
_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
"""In the order in which the client looks."""


class GoogleProvider(HostedProvider):
    """Asks through Google's official client: ``--model=google:NAME``.

    The key comes from ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY``, of which the latter wins; the
    address of another server than Google's, which needs no key here, from
    ``GOOGLE_GEMINI_BASE_URL``.
    """

    name: ClassVar[str] = "google"
    module: ClassVar[str] = "google.genai"
    example: ClassVar[str] = "gemini-2.5-flash"

    @staticmethod
    def find_endpoint() -> Endpoint:
        """Read ``GOOGLE_GEMINI_BASE_URL`` and the key.

        Raises:
            ConfigError: the address cannot be read.
        """
        url = os.environ.get("GOOGLE_GEMINI_BASE_URL", "").strip()
        variable = next((name for name in _KEYS if os.environ.get(name)), _KEYS[-1])
        return Endpoint(
            base_url=url or _DEFAULT_URL,
            key=os.environ.get(variable, "") or (NO_KEY if url else ""),
            key_variable=variable,
            url_variable="GOOGLE_GEMINI_BASE_URL",
            example=_DEFAULT_URL,
            instead=", or GOOGLE_GEMINI_BASE_URL to use another server (a local one needs no key)",
        )

    def connect(self) -> GoogleClient:
        """Import Google's client and return what asks through it."""
        from pytest_xling.providers.google.client import GoogleClient  # noqa: PLC0415  an extra

        return GoogleClient(self.endpoint, self.model, timeout_s=self.timeout_s)
