"""Where requests go and with which key, from the variables the official client reads."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pytest_xling.errors import ConfigError

__all__ = ["Endpoint"]

_DEFAULT_URL = "https://api.openai.com/v1"
# What a local server gets that wants no key; the client insists on one.
_NO_KEY = "none"
_SECRET = re.compile(r"\bsk-[\w*.-]{6,}|(?<=Bearer )[\w*.~+/=-]{6,}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A server and the key to it. Neither ``repr`` nor :attr:`url` shows the key."""

    base_url: str = field(repr=False)
    """May hold a user and a password; see :attr:`url`."""
    key: str = field(repr=False)
    key_variable: str
    """Where the key was looked for."""
    url_variable: str
    api_version: str = ""
    """For Azure only."""

    @classmethod
    def from_environment(cls) -> Endpoint:
        """Read ``OPENAI_BASE_URL``, ``OPENAI_API_KEY`` and Azure's variables.

        ``OPENAI_BASE_URL`` wins over ``AZURE_OPENAI_ENDPOINT``.
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
        key = os.environ.get("OPENAI_API_KEY", "")
        elsewhere = base_url and urlsplit(base_url).hostname != urlsplit(_DEFAULT_URL).hostname
        return cls(
            base_url=base_url or _DEFAULT_URL,
            key=key or (_NO_KEY if elsewhere else ""),
            key_variable="OPENAI_API_KEY",
            url_variable="OPENAI_BASE_URL",
        )

    @property
    def azure(self) -> bool:
        """Whether this is an Azure resource."""
        return self.url_variable == "AZURE_OPENAI_ENDPOINT"

    @property
    def is_openai(self) -> bool:
        """Whether this is OpenAI's own API."""
        return (urlsplit(self.base_url).hostname or "").endswith("api.openai.com")

    @property
    def url(self) -> str:
        """The base URL without user, password, query and closing slash."""
        parts = urlsplit(self.base_url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path}".rstrip("/")

    def check(self) -> None:
        """Raise ConfigError for an address or a key that cannot work."""
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        except ValueError:  # such as a port that is not a number
            usable = None
        if not usable:
            msg = (
                f"{self.url_variable} is not a usable address; it should look like "
                "http://127.0.0.1:8000/v1"
            )
            raise ConfigError(msg)
        if not self.key:
            msg = f"there is no API key for {self.url}: set {self.key_variable}"
            if not self.azure:
                msg += ", or OPENAI_BASE_URL to use another server (a local one needs no key)"
            raise ConfigError(msg)
        if not (self.key.isascii() and self.key.isprintable() and self.key == self.key.strip()):
            msg = (
                f"{self.key_variable} holds characters that no key has, such as a line break or a "
                "space at its end: set it again"
            )
            raise ConfigError(msg)
        if self.azure and not self.api_version:
            msg = "AZURE_OPENAI_ENDPOINT needs OPENAI_API_VERSION too, such as 2024-10-21"
            raise ConfigError(msg)

    def redact(self, text: str) -> str:
        """Return *text* without this endpoint's secrets and without anything like a key."""
        secrets = [self.key if self.key != _NO_KEY else "", urlsplit(self.base_url).password or ""]
        for secret in filter(None, secrets):
            text = text.replace(secret, "***")
        return _SECRET.sub("***", text)
