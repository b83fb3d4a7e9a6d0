"""Token by token: how each row of a batch draws, and when its answer ends."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import torch
from transformers import LogitsProcessor, StoppingCriteria

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.providers.hf.parameters import Sampling

_LIKELY = 2048
"""Tokens looked at first where the unlikely ones are cut off."""


def draw(
    scores: torch.Tensor, samplings: Sequence[Sampling], keys: Sequence[tuple[int, int]]
) -> torch.Tensor:
    """Return one token per row, drawn by a race: each token's exponential time over its chance.

    A row's token depends on its own scores, sampling and key alone. Since every token runs with a
    time of its own, scores that differ by rounding give another token only where two arrive almost
    together; the usual way, a number along the summed-up chances, would be thrown off by the
    rounding of every token before (Gumbel-max coupling; Maddison et al., 2014, section 2).

    Args:
        scores: logits, shape (rows, vocabulary).
        samplings: one per row.
        keys: one per row and step: two numbers of 32 random bits.
    """
    heat = torch.tensor([s.temperature for s in samplings], device=scores.device)[:, None]
    # From the maximum down: a temperature near 0 must not overflow.
    cooled = (scores.float() - scores.float().max(dim=-1, keepdim=True).values) / heat
    # Sorting a vocabulary is slow, so only where something is cut off.
    if cut := [i for i, s in enumerate(samplings) if s.top_p < 1.0 or s.top_k > 0]:
        cooled[cut] = _cut(cooled[cut], [samplings[i] for i in cut])
    rows, size = cooled.shape
    # A row's times fit a CPU's cache; a GPU is better off with all at once.
    at_once = 1 if scores.device.type == "cpu" else rows
    won = []
    for start in range(0, rows, at_once):
        times = _times(keys[start : start + at_once], size=size, device=scores.device)
        won.append((cooled[start : start + at_once] - times.log_()).argmax(dim=-1))
    return torch.cat(won)


def _cut(cooled: torch.Tensor, samplings: Sequence[Sampling]) -> torch.Tensor:
    """Return *cooled* with all but the likeliest tokens ruled out: top_k first, of these top_p.

    Tokens as likely as the last that is left in stay in, too.
    """
    size = cooled.shape[-1]
    lowest = cooled.new_empty(len(samplings))
    # Of a large vocabulary a few thousand tokens nearly always hold all that is left in, and are
    # found much faster than all are sorted.
    rows = list(range(len(samplings)))
    first = min(size, max(_LIKELY, *(s.top_k for s in samplings)))
    for looked_at in (first, size):
        top = cooled[rows].topk(looked_at).values
        again = []
        for row, likeliest in zip(rows, top, strict=True):
            top_k, top_p = samplings[row].top_k, samplings[row].top_p
            within = likeliest[: top_k or size]
            whole = within if top_k else cooled[row]
            reached = torch.cumsum((within - torch.logsumexp(whole, dim=-1)).exp(), dim=-1)
            left_in = 1 + int((reached[:-1] < top_p).sum()) if top_p < 1.0 else len(within)
            lowest[row] = within[left_in - 1]
            if left_in == looked_at < size and not top_k:
                again.append(row)
        rows = again
        if not rows:
            break
    return cooled.masked_fill(cooled < lowest[:, None], float("-inf"))


def _times(keys: Sequence[tuple[int, int]], *, size: int, device: torch.device) -> torch.Tensor:
    """Return exponential random times, shape (keys, size): the same for a key on every device.

    The numbers are hashed from key and place (the finaliser of MurmurHash3, public domain), so that
    they need neither be drawn in order nor moved to the device.
    """
    first, second = (
        torch.tensor([_signed(word) for word in words], dtype=torch.int32, device=device)[:, None]
        for words in zip(*keys, strict=True)
    )
    bits = torch.arange(size, dtype=torch.int32, device=device)[None, :] + first
    bits ^= (bits >> 16) & 0xFFFF
    bits *= _signed(0x85EBCA6B)
    bits ^= (bits >> 13) & 0x7FFFF
    bits *= _signed(0xC2B2AE35)
    bits ^= (bits >> 16) & 0xFFFF
    bits ^= second
    # Small times decide races, and floats are finest near 0.
    share = (bits & 0x7FFFFFFF).to(torch.float32).add_(0.5).mul_(2.0**-31)
    return share.neg_().log1p_().neg_()


def _signed(word: int) -> int:
    """Return the 32 bits of *word* as a signed number."""
    return word - (1 << 32) if word >= 1 << 31 else word


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
                likeliest = zip(top.indices.tolist(), top.values.tolist(), strict=True)
                row.first = [(token, value) for token, value in likeliest if value > float("-inf")]


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
