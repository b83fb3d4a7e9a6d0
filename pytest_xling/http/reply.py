"""Read a server's reply as JSON, and quote it in messages."""

from __future__ import annotations

import json
from typing import Any, Final

from pytest_xling.errors import TransientFault
from pytest_xling.records import MOST_TOKENS
from pytest_xling.text.display import clean
from pytest_xling.text.secrets import hide_keys

EVERY_REQUEST: Final = frozenset({401, 402, 403, 404, 405, 407, 410})
"""Statuses that are about the key, the account, the model or the address, not about a question."""
_EXCERPT = 300


def excerpt(text: str) -> str:
    """Return *text* on one line, printable, without keys; 300 characters at most."""
    line = " ".join(hide_keys(clean(text[: 4 * _EXCERPT])).split())
    line = "".join(c if c.isprintable() else "\ufffd" for c in line)
    return line if len(line) <= _EXCERPT else f"{line[:_EXCERPT]}…"


def read_json(body: bytes, *, url: str, ends: str) -> Any:  # noqa: ANN401  whatever came
    """Return the JSON value in *body*, the reply of *url* with a status of success.

    Args:
        body: of the reply.
        url: as messages show it.
        ends: how the address of such an API usually ends, such as "/v1".

    Raises:
        TransientFault: it is HTML, empty or cut short.
    """
    try:
        return json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        pass
    start = body[: 4 * _EXCERPT].decode(errors="replace").strip()
    if start.startswith("<"):
        msg = (
            f"{url} sent a web page instead of JSON; is this the address of an API (it usually "
            f"ends in {ends})? It begins: {excerpt(start)!r}"
        )
    elif not start:
        msg = f"{url} sent an empty reply"
    else:
        msg = f"{url} sent {len(body)} bytes that are not whole JSON: {excerpt(start)!r}"
    raise TransientFault(msg)


def token_count(count: object) -> int:
    """Return the tokens that a reply counts; 0 where that is no number to be believed."""
    if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MOST_TOKENS:
        return count
    return 0
