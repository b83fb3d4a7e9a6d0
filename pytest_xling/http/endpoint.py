"""Where requests go and with which key."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_xling.errors import ConfigError
from pytest_xling.text.secrets import Secrets

if TYPE_CHECKING:
    from urllib.parse import SplitResult

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
    """Where the address was looked for: a variable of the environment, or an option."""
    example: str
    """An address as it should look."""
    instead: str = ""
    """What may be done instead of setting a key, as the end of a sentence."""
    keyless: bool = False
    """Whether it may do without a key."""
    api_version: str = ""
    """Of Azure, which needs one."""

    def __post_init__(self) -> None:
        try:
            _ = self._parts.port  # read late, by urlsplit
        except ValueError:  # such as a port that is not a number, or half of an IPv6 address
            raise self._unusable() from None

    @property
    def host(self) -> str:
        """The server's name or number, in small letters."""
        return self._parts.hostname or ""

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
        known = [self.key, password, self._credentials]
        # Beside a password a plain word is a name ("admin"), without one the user is the secret.
        if not (password and user.isalpha()):
            known.append(user)
        values = parse_qsl(parts.query, keep_blank_values=True)
        known += [value or name for name, value in values if name.lower() not in _HARMLESS]
        return Secrets(known)

    def check(self) -> None:
        """Raise ConfigError for an address or a key that cannot work."""
        parts = self._parts
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            raise self._unusable()
        if not self.key and not self.keyless:
            msg = f"there is no API key for {self.url}: set {self.key_variable}{self.instead}"
            raise ConfigError(msg)
        if not (self.key.isascii() and self.key.isprintable() and self.key == self.key.strip()):
            msg = (
                f"{self.key_variable} holds characters that no key has, such as a line break or a "
                "space at its end: set it again"
            )
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
            f"{self.url_variable} is not a usable address; it should look like {self.example}"
        )
