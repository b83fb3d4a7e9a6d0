"""Token by token: how each row of a batch draws, and when it has said enough.

transformers' ``generate`` runs the model; what is here is handed to it. It may draw only from one
generator for a whole batch, so that an answer would depend on who else is in it. So we draw: for
each row with its own seed, and ``generate`` is shown the drawn token as the only possible one.

Imported only once torch is.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import torch
from transformers import LogitsProcessor, StoppingCriteria

from pytest_xling.providers.hf.drawing import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.providers.hf.parameters import Sampling

__all__ = ["Drawing", "End", "Ending", "Row"]

End: TypeAlias = Literal["", "cancelled", "late", "length", "not_a_number", "stop"]
"""Why a row has ended; empty while it goes on."""

_TAIL = 8
"""Tokens looked at for the end of a stop string, beyond one per UTF-8 byte of it."""


@dataclass(slots=True, kw_only=True)
class Row:
    """One request in a batch, and what has come of it."""

    sampling: Sampling | None
    seed: int
    limit: int
    stop: tuple[str, ...] = ()
    top_logprobs: int = 0
    cancelled: Callable[[], bool] = lambda: False
    tokens: list[int] = field(default_factory=list)
    """The answer, without the token that ends it."""
    end: End = ""
    seconds: float = 0.0
    """From the start of the batch to this row's end."""
    first: list[tuple[int, float]] = field(default_factory=list)
    """The likeliest first tokens and their log-probabilities."""
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        # Python's generator gives the same numbers on every machine and device.
        self.random = random.Random(self.seed)  # noqa: S311  nothing is kept secret with it


class Drawing(LogitsProcessor):
    """Draws each row's next token with the row's own generator.

    Args:
        rows: of the batch; where beams are searched the model has several for each, side by side,
            and nothing is drawn.
        forced: tokens at the start of an answer that are set, not chosen.
    """

    def __init__(self, rows: Sequence[Row], *, forced: int) -> None:
        self._rows = rows
        self._step = -forced

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return *scores*, shape (rows, vocabulary), with one token left where one is drawn."""
        del input_ids
        step = self._step
        self._step += 1
        if step < 0:
            return scores
        broken = torch.isnan(scores).view(len(self._rows), -1).any(dim=-1)
        if bool(broken.any()):
            for row, is_broken in zip(self._rows, broken.tolist(), strict=True):
                if is_broken and not row.end:
                    row.end = "not_a_number"
            scores = torch.nan_to_num(scores)
        if step == 0:
            self._note_first(scores)
        live = [i for i, row in enumerate(self._rows) if row.sampling and not row.end]
        if not live:
            return scores
        rows = [self._rows[i] for i in live]
        drawn = draw(
            scores[live],
            [row.sampling for row in rows if row.sampling],
            [(row.random.getrandbits(32), row.random.getrandbits(32)) for row in rows],
        )
        only = scores.clone()
        only[live] = float("-inf")
        only[live, drawn] = 0.0
        return only

    def _note_first(self, scores: torch.Tensor) -> None:
        for index, row in enumerate(self._rows):
            if row.top_logprobs and not row.end:
                beams = scores.shape[0] // len(self._rows)
                of_row = torch.log_softmax(scores[index * beams].float(), dim=-1)
                top = torch.topk(of_row, min(row.top_logprobs, of_row.shape[-1]))
                found = zip(top.indices.tolist(), top.values.tolist(), strict=True)
                row.first = [(token, value) for token, value in found if value > float("-inf")]


class Ending(StoppingCriteria):
    """Ends each row by its own limit, stop strings and time, and notes its tokens.

    Args:
        rows: of the batch; where beams are searched only their time is watched.
        forced: tokens at the start of an answer that are set, not chosen.
        ends: the tokens that end an answer.
        decode: turns tokens into text.
        deadline: on the clock of ``time.perf_counter``.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        *,
        forced: int,
        ends: frozenset[int],
        decode: Callable[[list[int]], str],
        deadline: float,
    ) -> None:
        self._rows = rows
        self._step = -forced
        self._ends = ends
        self._decode = decode
        self._deadline = deadline
        self._start = time.perf_counter()

    def __call__(self, input_ids: torch.Tensor, scores: object, **unused: object) -> torch.Tensor:
        """Return for each row of *input_ids*, shape (rows, length), whether it has ended."""
        del scores, unused
        step = self._step
        self._step += 1
        beams = input_ids.shape[0] // len(self._rows)
        if step >= 0:
            now = time.perf_counter()
            last = input_ids[:, -1].tolist()
            for index, row in enumerate(self._rows):
                if not row.end and beams == 1:
                    self._take(row, last[index])
                if not row.end and row.cancelled():
                    row.end = "cancelled"
                if not row.end and now > self._deadline:
                    row.end = "late"
                if not row.end or not row.seconds:
                    row.seconds = now - self._start
        ended = [bool(row.end) for row in self._rows for _ in range(beams)]
        return torch.tensor(ended, dtype=torch.bool, device=input_ids.device)

    def _take(self, row: Row, token: int) -> None:
        if token in self._ends:
            row.end = "stop"
            return
        row.tokens.append(token)
        if row.stop:
            longest = max(len(text.encode("utf-8", "replace")) for text in row.stop)
            tail = self._decode(row.tokens[-(longest + _TAIL) :])
            if any(text in tail for text in row.stop):
                row.end = "stop"
                return
        if len(row.tokens) >= row.limit:
            row.end = "length"
