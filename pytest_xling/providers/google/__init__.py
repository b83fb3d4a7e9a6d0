"""Gemini models: Google's generateContent, or a server that speaks as it does."""

from __future__ import annotations

from typing import ClassVar

from pytest_xling.http.provider import HostedProvider

__all__ = ["GoogleProvider"]


class GoogleProvider(HostedProvider):
    """Asks through Google's official client: ``--model=google:NAME``.

    The key comes from ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY``, of which the latter wins; the
    address of another server than Google's, which needs no key here, from
    ``GOOGLE_GEMINI_BASE_URL``.
    """

    name: ClassVar[str] = "google"
    module: ClassVar[str] = "google.genai"
    client: ClassVar[str] = "pytest_xling.providers.google.client:GoogleClient"
    example: ClassVar[str] = "gemini-2.5-flash"
    url: ClassVar[str] = "https://generativelanguage.googleapis.com"
    url_variable: ClassVar[str] = "GOOGLE_GEMINI_BASE_URL"
    key_variable: ClassVar[str] = "GEMINI_API_KEY"
    key_variables: ClassVar[tuple[str, ...]] = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
