"""Where requests go and with which key, from the variables the official client reads."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_xling.errors import ConfigError
from pytest_xling.text.secrets import Secrets

if TYPE_CHECKING:
    from urllib.parse import SplitResult

__all__ = ["Endpoint"]

_DEFAULT_URL = "https://api.openai.com/v1"
# What a local server gets that wants no key; the client insists on one.
_NO_KEY = "none"
# Query parameters whose values are no secrets, and may well stand in an answer.
_HARMLESS = frozenset({"api-version", "api_version", "deployment", "model", "version"})


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A server and the key to it. Neither ``repr`` nor :attr:`url` shows a secret.

    Raises:
        ConfigError: the address cannot be read.
    """

    base_url: str = field(repr=False)
    """May hold a user, a password and a query; see :attr:`url`."""
    key: str = field(repr=False)
    key_variable: str
    """Where the key was looked for."""
    url_variable: str
    api_version: str = ""
    """For Azure only."""

    def __post_init__(self) -> None:
        try:
            _ = self._parts.port  # read late, by urlsplit
        except ValueError:  # such as a port that is not a number, or half of an IPv6 address
            raise self._unusable() from None

    @classmethod
    def from_environment(cls) -> Endpoint:
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
        )
        if endpoint.key or endpoint._parts.hostname == urlsplit(_DEFAULT_URL).hostname:
            return endpoint
        return cls(
            base_url=base_url,
            key=_NO_KEY,
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
        return (self._parts.hostname or "").endswith("api.openai.com")

    @cached_property
    def url(self) -> str:
        """The base URL without user, password, query and closing slash."""
        parts = self._parts
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}{parts.path}".rstrip("/")

    @property
    def query(self) -> str:
        """The base URL's query, which every request carries; may hold a key."""
        return self._parts.query

    @property
    def authorization(self) -> str:
        """The header for the base URL's user and password, in place of the key; "" without."""
        parts = self._parts
        if not (parts.username or parts.password):
            return ""
        return f"Basic {self._credentials}"

    @cached_property
    def secrets(self) -> Secrets:
        """All that must not be seen in any text: key, user, password, values of the query."""
        parts = self._parts
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        known = [password, self._credentials]
        # Beside a password a plain word is a name ("admin"), without one the user is the secret.
        if not (password and user.isalpha()):
            known.append(user)
        if self.key != _NO_KEY:
            known.append(self.key)
        values = parse_qsl(parts.query, keep_blank_values=True)
        known += [value or name for name, value in values if name.lower() not in _HARMLESS]
        return Secrets(known)

    def check(self) -> None:
        """Raise ConfigError for an address or a key that cannot work."""
        parts = self._parts
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            raise self._unusable()
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

    @cached_property
    def _parts(self) -> SplitResult:
        return urlsplit(self.base_url)

    @property
    def _credentials(self) -> str:
        parts = self._parts
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        return base64.b64encode(pair.encode(errors="surrogatepass")).decode()

    def _unusable(self) -> ConfigError:
        return ConfigError(
            f"{self.url_variable} is not a usable address; it should look like "
            "http://127.0.0.1:8000/v1"
        )
