"""The location of a store: an SQLite file, or a PostgreSQL URL, whose password is never shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

_SERVERS = ("postgresql", "postgres")
_SECRET = {
    "password",
    "sslpassword",
    "oauth_client_secret",
    "scram_client_key",
    "scram_server_key",
}
_HIDDEN = "***"
_WRITE_IT = "write it as postgresql://USER@HOST:PORT/DATABASE"
# With a slash too few, or as libpq's keyword string, a URL would become a file named by a password.
_SERVER = r"://|^\s*postgres(?:ql)?:|\b(?:dbname|password)\s*="
_ODD = r"[\x00-\x20\x7f]|%(?![0-9A-Fa-f]{2})|%00"


@dataclass(frozen=True, slots=True, repr=False)
class ServerUrl:
    """The URL of a PostgreSQL database, perhaps with a password.

    As text, and so wherever it is shown or stored, it has no password.
    """

    full: str

    @classmethod
    def is_one(cls, text: str) -> bool:
        """Tell whether *text* looks like a server's address, not a path."""
        return re.search(_SERVER, text) is not None

    @classmethod
    def parse(cls, text: str) -> ServerUrl:
        """Check a URL without asking the server.

        Raises:
            ValueError: it is wrong; the message has no part of it that may be secret.
        """
        scheme, mark, rest = text.partition("://")
        if not mark:
            msg = f"a server is named by its URL; {_WRITE_IT}"
            raise ValueError(msg)
        if scheme not in _SERVERS:
            msg = f"{scheme}:// is no store; {_WRITE_IT}, or name an SQLite file by its path alone"
            raise ValueError(msg)
        authority = re.split(r"[/?]", rest, maxsplit=1)[0]
        users = authority.count("@")
        if re.search(_ODD, rest) or rest.count("@") != users or users > 1:
            msg = (
                "the URL of the store has a character that must be written in another way: in a"
                " user's name or a password, / is %2F, ? is %3F, @ is %40, % is %25 and a space %20"
            )
            raise ValueError(msg)
        return cls(text)

    def __str__(self) -> str:
        """Return the URL without its secrets."""
        head, mark, query = self.full.partition("?")
        scheme, _, rest = head.partition("://")
        who, at, where = rest.rpartition("@")
        user, colon, _ = who.partition(":")
        shown = "&".join(
            f"{name}={_HIDDEN if unquote(name).lower() in _SECRET else value}"
            for name, value in _parameters(query)
        )
        return f"{scheme}://{user}{colon and colon + _HIDDEN}{at}{where}{mark}{shown}"

    __repr__ = __str__

    @property
    def conninfo(self) -> str:
        """The URL for libpq: ``=`` in a value is encoded, as in ``options=-csearch_path=team``."""
        head, mark, query = self.full.partition("?")
        pairs = (f"{name}={value.replace('=', '%3D')}" for name, value in _parameters(query))
        return f"{head}{mark}{'&'.join(pairs)}"

    def without_secrets(self, text: str) -> str:
        """Return *text*, which may quote the URL, without its secrets."""
        for secret in (self.full, self.conninfo):
            text = text.replace(secret, str(self))
        return text


def _parameters(query: str) -> list[tuple[str, str]]:
    parts = (pair.partition("=") for pair in query.split("&") if pair)
    return [(name, value) for name, _, value in parts]


StoreLocation: TypeAlias = Path | ServerUrl
