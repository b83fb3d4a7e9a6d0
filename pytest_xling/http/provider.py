"""What providers of hosted services share."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from pytest_xling.errors import ConfigError
from pytest_xling.http.endpoint import Endpoint

if TYPE_CHECKING:
    from pytest_xling.http.client import HostedClient
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle, Request, Response

NO_KEY = "none"
"""What a server of one's own gets that wants no key: official clients insist on one."""


class HostedProvider:
    """Asks a service, one attempt each; its client is imported by the first request.

    Args:
        spec: the model's name.
        timeout_s: how long one answer may take.
        device: unused; the service has one.
    """

    name: ClassVar[str]
    style: ClassVar[PromptStyle] = "chat"
    paid: ClassVar[bool] = True
    max_connections: ClassVar[int] = 64
    structured: ClassVar[bool] = True
    module: ClassVar[str]
    """Of the official client."""
    package: ClassVar[str] = ""
    """That has it; empty: the extra that installs it is called as the provider is."""
    client: ClassVar[str]
    """Where the class of what asks through it is: ``package.module:Class``."""
    example: ClassVar[str]
    """The name of a model."""
    url: ClassVar[str]
    """The service's own address; a server at any other may do without a key."""
    url_variable: ClassVar[str]
    """Where the address of another is, as for the official client."""
    key_variable: ClassVar[str]
    key_variables: ClassVar[tuple[str, ...]] = ()
    """All that may hold the key where there are several; the first that does counts."""

    def __init__(self, spec: str, *, timeout_s: float = 120.0, device: str = "auto") -> None:
        del device
        self.model = spec.strip()
        self.timeout_s = timeout_s
        self.endpoint = self.find_endpoint()
        self._client: HostedClient | None = None

    @classmethod
    def find_endpoint(cls) -> Endpoint:
        """Return the service and the key to it, from the variables that its client reads.

        Raises:
            ConfigError: the address cannot be read.
        """
        variable = next(filter(os.environ.get, cls.key_variables), cls.key_variable)
        endpoint = Endpoint(
            base_url=os.environ.get(cls.url_variable, "").strip() or cls.url,
            key=os.environ.get(variable, ""),
            key_variable=variable,
            url_variable=cls.url_variable,
            example=cls.url,
            instead=f", or {cls.url_variable} to use another server (a local one needs no key)",
        )
        if endpoint.key or endpoint.host == urlsplit(cls.url).hostname:
            return endpoint
        return replace(endpoint, key=NO_KEY)

    def check(self) -> None:
        """Raise ConfigError for what would make every request fail; asks nothing of a server."""
        if not self.model:
            msg = f"{self.name}: names no model; write --model={self.name}:{self.example}"
            raise ConfigError(msg)
        if not _is_installed(self.module):
            msg = (
                f"--model={self.name}:{self.model} needs a package that is not installed: "
                f"pip install '{self.package or f'pytest-xling[{self.name}]'}'"
            )
            raise ConfigError(msg)
        self.endpoint.check()

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer: server, model, messages and parameters."""
        return {
            "endpoint": self.endpoint.url,
            "model": self.model,
            "messages": [message.key for message in request.messages],
            "params": {k: v for k, v in request.params.items() if v is not None},
        }

    def prepare(self) -> None:
        """Import the client now; else the first request does, which takes it a second."""
        if self._client is None:
            module, _, name = self.client.partition(":")
            asks: type[HostedClient] = getattr(import_module(module), name)
            self._client = asks(self.endpoint, self.model, timeout_s=self.timeout_s)

    async def generate(self, request: Request) -> Response:
        """Ask once.

        Raises:
            RateLimited, TransientFault, PermanentFault: nothing was answered.
        """
        self.prepare()
        assert self._client is not None  # noqa: S101  prepare sets it
        return await self._client.ask(request)

    async def aclose(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of what the module is in
        return False
