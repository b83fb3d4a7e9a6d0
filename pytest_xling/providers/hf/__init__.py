"""Models run here with transformers: any that generates text, and translation models."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.providers.hf.files import ModelFiles, check_packages
from pytest_xling.providers.hf.translation import why_not
from pytest_xling.providers.hf.worker import MAX_ROWS, Worker
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pytest_xling.keys import JsonValue
    from pytest_xling.providers.hf.model import HfModel
    from pytest_xling.records import PromptStyle, Request, Response

__all__ = ["HfProvider"]


class HfProvider:
    """Runs a model of the Hugging Face kind, in batches, on the GPU where there is one.

    Requests that wait together go through the model together, those of like length side by side.
    What a request draws depends on its own seed and text, never on its company. What is computed
    depends on it by rounding: a sum over a padded batch is not the same to the last bit, and where
    two tokens are equally likely up to that, the answer may change. With Gemma 3 270M on a CPU, 24
    of 24 greedy answers were the same alone and in a batch in float32, 8 of 10 in bfloat16.
    ``--xling-max-connections=1`` rules it out.

    Of the model's generation_config.json, what bans or penalises tokens always holds; how tokens
    are drawn only where a request names no temperature.

    Args:
        spec: a directory, or a name on the hub: ``NAME`` or ``NAME@REVISION``.
        timeout_s: how long a batch may take.
        device: ``auto``, ``cpu``, ``mps``, ``cuda`` or ``cuda:N``.
    """

    name: ClassVar[str] = "hf"
    paid: ClassVar[bool] = False
    max_connections = MAX_ROWS

    def __init__(self, spec: str, *, timeout_s: float = 120.0, device: str = "auto") -> None:
        self._spec = spec
        self._device = device
        self.init_arguments = {"spec": spec, "timeout_s": timeout_s, "device": device}
        self._worker = Worker(self._load, timeout_s=timeout_s)
        self._ask: Callable[[Request], Awaitable[Response]] = self._worker.ask

    def move(self, ask: Callable[[Request], Awaitable[Response]], *, copies: int) -> None:
        """Load no model here: from now on *ask* answers, by so many *copies*."""
        self._ask, self.max_connections = ask, copies * MAX_ROWS

    @cached_property
    def _files(self) -> ModelFiles:
        check_packages()
        return ModelFiles.find(self._spec)

    @property
    def style(self) -> PromptStyle:
        """``translation``, ``chat`` where the tokenizer has a template, else ``completion``."""
        return self._files.style

    def check(self) -> None:
        """Raise ConfigError for what would make every request fail; loads no weights."""
        check_packages()
        self._files.check()
        self._files.check_weights()
        # Reading a large model takes a minute: here, not between requests.
        _ = self._identity

    def why_not(self, source: str, target: str) -> str:
        """Say why it cannot translate from *source* to *target*; "" if it may, or chats."""
        return why_not(self._files, source, target) if self._files.translates else ""

    @cached_property
    def _identity(self) -> dict[str, JsonValue]:
        files = self._files
        return {
            "model": files.name,
            **files.identity,
            "dtype": files.dtype,
            "style": files.style,
            **{name: version(name).partition("+")[0] for name in ("torch", "transformers")},
        }

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer: model, programs, messages and parameters.

        The device is not among it: answers differ by rounding at most. It stands in the response's
        ``model_version``.
        """
        return {
            **self._identity,
            "prompt": [
                [message.role, clean(message.content), *message.key[2:]]
                for message in request.messages
            ],
            "params": request.flat_params,
        }

    async def generate(self, request: Request) -> Response:
        """Answer together with the others that wait.

        Raises:
            PermanentFault: too long, too slow, out of memory, a language the model lacks.
        """
        return await self._ask(request)

    def _load(self) -> HfModel:
        check_packages()
        self._files.fetch()
        from pytest_xling.providers.hf.model import (  # noqa: PLC0415  torch: seconds to import
            HfModel,
        )

        return HfModel(self._files, device=self._device)

    async def aclose(self) -> None:
        """Stop what is running and free the model."""
        await self._worker.aclose()
