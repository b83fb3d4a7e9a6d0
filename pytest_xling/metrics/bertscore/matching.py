"""Greedy matching of tokens by cosine, for all pairs of a set of texts at once.

For each token of one text the most similar token of another is found, and the mean of these
similarities is taken with the weights of the tokens (Zhang et al. 2020, BERTScore, section 3).
That share of one text found in another is the precision of the one and the recall of the other.

Texts of like length are padded to one array, and a block of similarities between several texts is
one product of matrices. Blocks are bounded, so memory is, whatever the length of the texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from numpy.typing import NDArray

CPU_CELLS = 1 << 20
"""Similarities computed at once: 4 MB, which a processor's cache holds."""
GPU_CELLS = 1 << 26
PADDING = 0.75
"""Texts are padded to the length of others at most a third longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The tokens of one text."""

    states: NDArray[np.float32]
    """Shape (tokens, dimensions)."""
    weights: NDArray[np.float32]
    """Shape (tokens,); their sum is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Texts of like length, padded with zeros to the longest."""

    places: list[int]
    """Where the texts stand in what the caller gave."""
    states: torch.Tensor
    """Shape (texts, tokens, dimensions); of length 1, padding of length 0."""
    weights: torch.Tensor
    """Shape (texts, tokens)."""

    def part(self, start: int, stop: int) -> _Run:
        """Return the texts from *start* to *stop*."""
        return _Run(
            places=self.places[start:stop],
            states=self.states[start:stop],
            weights=self.weights[start:stop],
        )


def shares_within(
    texts: Sequence[Tokens],
    *,
    device: str = "cpu",
    cells: int | None = None,
    halves: bool | None = None,
) -> NDArray[np.float64]:
    """Return the share of text a found in text b at [a, b], for all pairs; shape (texts, texts).

    A token that resembles none (a negative cosine) counts as not found, so that shares are between
    0 and 1. bert-score does so wherever it has padded the texts of a batch.

    Args:
        texts: any number.
        device: where to compute.
        cells: similarities to compute at once; None is what suits the device.
        halves: whether two texts of like length are compared once instead of twice, which is half
            the arithmetic but more calls: right for a processor, wrong for a GPU. None is what
            suits the device.
    """
    import torch  # noqa: PLC0415  seconds to import

    halves = _on_cpu(device) if halves is None else halves
    runs = _runs(texts, device=device)
    matched = torch.zeros((len(texts), len(texts)), device=device)
    with torch.inference_mode():
        for left, right in _pairs_of_runs(runs, halves=halves):
            _fill(matched, left, right, cells=cells or _cells(device))
        # Rounding, and texts that were not compared with themselves.
        matched.fill_diagonal_(1.0)
        shares: NDArray[np.float64] = matched.clamp_(0.0, 1.0).cpu().double().numpy()
    return shares


def shares_between(
    lefts: Sequence[Tokens],
    rights: Sequence[Tokens],
    *,
    device: str = "cpu",
    cells: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of the left texts found in the right ones, and the other way round.

    Returns:
        Shapes (lefts, rights) and (rights, lefts); see :func:`shares_within`.
    """
    import torch  # noqa: PLC0415  seconds to import

    size = len(lefts) + len(rights)
    matched = torch.zeros((size, size), device=device)
    with torch.inference_mode():
        right_runs = _runs(rights, device=device, offset=len(lefts))
        for left in _runs(lefts, device=device):
            for right in right_runs:
                _fill(matched, left, right, cells=cells or _cells(device))
        shares: NDArray[np.float64] = matched.clamp_(0.0, 1.0).cpu().double().numpy()
    return shares[: len(lefts), len(lefts) :], shares[len(lefts) :, : len(lefts)]


def _on_cpu(device: str) -> bool:
    return device.startswith("cpu")


def _cells(device: str) -> int:
    return CPU_CELLS if _on_cpu(device) else GPU_CELLS


def _runs(texts: Sequence[Tokens], *, device: str, offset: int = 0) -> list[_Run]:
    """Sort *texts* by length and pad those of like length."""
    import torch  # noqa: PLC0415  seconds to import

    order = sorted(range(len(texts)), key=lambda place: len(texts[place].weights), reverse=True)
    runs: list[list[int]] = []
    for place in order:
        length = len(texts[place].weights)
        if runs and length >= PADDING * len(texts[runs[-1][0]].weights):
            runs[-1].append(place)
        else:
            runs.append([place])
    padded: list[_Run] = []
    for run in runs:
        longest, dimensions = texts[run[0]].states.shape
        states = np.zeros((len(run), longest, dimensions), dtype=np.float32)
        weights = np.zeros((len(run), longest), dtype=np.float32)
        for row, place in enumerate(run):
            tokens = texts[place]
            states[row, : len(tokens.weights)] = tokens.states
            weights[row, : len(tokens.weights)] = tokens.weights
        on_device = torch.from_numpy(states).to(device)
        padded.append(
            _Run(
                places=[place + offset for place in run],
                states=torch.nn.functional.normalize(on_device, dim=-1),
                weights=torch.from_numpy(weights).to(device),
            )
        )
    return padded


def _pairs_of_runs(runs: list[_Run], *, halves: bool) -> Iterator[tuple[_Run, _Run]]:
    """Yield what to compare so that each text meets each other one."""
    for index, run in enumerate(runs):
        if halves:
            for start in range(len(run.places) - 1):
                yield run.part(start, start + 1), run.part(start + 1, len(run.places))
        else:
            yield run, run
        for other in runs[index + 1 :]:
            yield run, other


def _fill(matched: torch.Tensor, left: _Run, right: _Run, *, cells: int) -> None:
    """Write the shares of *left* found in *right*, and the other way round, into *matched*."""
    import torch  # noqa: PLC0415  seconds to import

    texts, tokens, dimensions = left.states.shape
    others, other_tokens, _ = right.states.shape
    columns = right.states.reshape(others * other_tokens, dimensions).T
    texts_at_once = max(1, cells // (tokens * others * other_tokens))
    rows_at_once = min(tokens, max(1, cells // (others * other_tokens)))
    # One buffer for all blocks: a block allocated anew each time leaves holes that small arrays
    # settle in, and the memory of the process grows by all blocks together.
    most = min(texts, texts_at_once) * rows_at_once
    buffer = torch.empty((most, others * other_tokens), device=matched.device)
    for start in range(0, texts, texts_at_once):
        part = left.part(start, start + texts_at_once)
        size = len(part.places)
        # How alike the most similar token of each text is, for each token: of the left texts, and
        # of the right ones, so far.
        of_left = torch.empty((size, tokens, others), device=matched.device)
        of_right = torch.zeros((size, others, other_tokens), device=matched.device)
        for row in range(0, tokens, rows_at_once):
            rows = part.states[:, row : row + rows_at_once]
            block = buffer[: rows.shape[0] * rows.shape[1]]
            torch.mm(rows.reshape(-1, dimensions), columns, out=block)
            alike = block.view(size, -1, others, other_tokens)
            of_left[:, row : row + rows_at_once] = alike.amax(3)
            torch.maximum(of_right, alike.amax(1), out=of_right)
        forth = torch.einsum("atb,at->ab", of_left.clamp_(min=0.0), part.weights)
        back = torch.einsum("abt,bt->ba", of_right, right.weights)
        here = torch.tensor(part.places, device=matched.device)
        there = torch.tensor(right.places, device=matched.device)
        matched[here[:, None], there] = forth
        matched[there[:, None], here] = back
