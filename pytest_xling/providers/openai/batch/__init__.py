"""OpenAI's Batch API, or another server's that speaks it: half the price, within a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_xling.providers.openai import OpenaiProvider

if TYPE_CHECKING:
    from pytest_xling.providers.openai.batch.service import OpenaiBatches

__all__ = ["BatchProvider"]


class BatchProvider(OpenaiProvider):
    """Has requests answered in batches, which the engine makes and waits for.

    It identifies its requests as ``openai`` does: the same model answers, so what one has asked the
    other need not. Where a single request is to be answered by itself, that is what ``openai``
    does, too.

    Args:
        spec: the model's name.
        timeout_s: how long one answer may take that is asked for by itself.
        device: unused; the server has one.
    """

    name: ClassVar[str] = "batch"
    # A batch counts as asked at once: so many requests may be on their way together.
    max_connections: ClassVar[int] = 50_000
    answers_as: ClassVar[str] = OpenaiProvider.name
    price_share: ClassVar[float] = 0.5

    def __init__(self, spec: str, *, timeout_s: float = 120.0, device: str = "auto") -> None:
        super().__init__(spec, timeout_s=timeout_s, device=device)
        self._batches: OpenaiBatches | None = None

    def service(self) -> OpenaiBatches:
        """Return the service, importing the client now."""
        if self._batches is None:
            from pytest_xling.providers.openai.batch.service import (  # noqa: PLC0415  0.4 s
                OpenaiBatches,
            )

            self._batches = OpenaiBatches(self.endpoint, self.model)
        return self._batches

    async def aclose(self) -> None:
        """Close all connections."""
        batches, self._batches = self._batches, None
        if batches is not None:
            await batches.aclose()
        await super().aclose()
