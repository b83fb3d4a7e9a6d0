"""Draw a token for each row of a batch, by a key of the row's own.

Imported only once torch is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.providers.hf.parameters import Sampling

__all__ = ["draw"]

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
        found = cooled[rows].topk(looked_at).values
        again = []
        for row, likeliest in zip(rows, found, strict=True):
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
