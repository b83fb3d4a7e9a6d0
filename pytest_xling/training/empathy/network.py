"""The classifier of empathy as torch's module: what it has learnt is read without any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import nn

from pytest_xling.annotators.empathy.head.weights import TENSORS
from pytest_xling.text.empathy import MECHANISMS
from pytest_xling.training.trainer import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_xling.text.empathy import Mechanism
    from pytest_xling.training.empathy.examples import Example

_ATTENDING = 32
"""Dimensions in which tokens of the response are compared with those of the post."""
_DROPOUT = 0.2
BATCH: Final = 32
_SORTED = 16
"""Batches are made of so many times their size, by length, so that little is padding."""
_WARM_UP = 0.1
_LEAST = -1e9
_TINY = 1e-7


class _Network(nn.Module):
    """What :meth:`~pytest_xling.annotators.empathy.head.weights.Weights.probabilities` computes."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        shape = _ATTENDING, dimensions
        self.query = nn.Parameter(torch.randn(shape) / dimensions**0.5)
        self.key = nn.Parameter(torch.randn(shape) / dimensions**0.5)
        self.value = nn.Parameter(torch.randn(shape) / dimensions**0.5)
        # From zero: what the post adds has to be learnt, and harms nothing before.
        self.output = nn.Parameter(torch.zeros(dimensions, _ATTENDING))
        self.norm = nn.LayerNorm(dimensions)
        self.pooling = nn.Parameter(torch.randn(len(MECHANISMS), dimensions) / dimensions)
        self.linear = nn.Parameter(torch.zeros(len(MECHANISMS), 3 * dimensions))
        self.bias = nn.Parameter(torch.zeros(len(MECHANISMS)))
        self.dropout = nn.Dropout(_DROPOUT)

    def forward(
        self, response: torch.Tensor, there: torch.Tensor, seeker: torch.Tensor, said: torch.Tensor
    ) -> torch.Tensor:
        """Return the scores of each mechanism: shape (responses, mechanisms).

        Args:
            response: states of tokens, shape (responses, tokens, dimensions).
            there: which of these are no padding, shape (responses, tokens).
            seeker: those of the posts.
            said: which of these are no padding.
        """
        alike = (response @ self.query.T) @ (seeker @ self.key.T).transpose(1, 2)
        alike = (alike / _ATTENDING**0.5).masked_fill(~said[:, None], _LEAST)
        heard = torch.softmax(alike, -1) @ (seeker @ self.value.T)
        states = self.norm(response + heard @ self.output.T)
        weights = (self.pooling @ states.transpose(1, 2)).masked_fill(~there[:, None], _LEAST)
        attended = torch.softmax(weights, -1) @ states
        mean = (states * there[..., None]).sum(1) / there.sum(1, keepdim=True)
        most = states.masked_fill(~there[..., None], _LEAST).amax(1)
        whole = torch.cat([mean, most], -1)[:, None].expand(-1, len(MECHANISMS), -1)
        read = self.dropout(torch.cat([attended, whole], -1))
        scores: torch.Tensor = (read * self.linear).sum(-1) + self.bias
        return scores

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Return what it has learnt, by name in ``TENSORS``."""
        named = {
            "attention.query": self.query,
            "attention.key": self.key,
            "attention.value": self.value,
            "attention.output": self.output,
            "norm.weight": self.norm.weight,
            "norm.bias": self.norm.bias,
            "pooling": self.pooling,
            "linear.weight": self.linear,
            "linear.bias": self.bias,
        }
        return {name: named[name].detach().cpu().numpy().astype(np.float32) for name in TENSORS}


def fitted(
    examples: Sequence[Example],
    states: Mapping[str, NDArray[Any]],
    *,
    rate: float,
    epochs: int,
    seed: int,
    kept: Path,
    progress: Callable[[int, int], None],
) -> dict[str, NDArray[np.float32]]:
    """Return what a network learns from *examples*; the same in any order of them.

    Present and absent weigh the same for each mechanism, however rare one of them is.

    Args:
        examples: to learn from; both classes of every mechanism among them.
        states: of the tokens of each text.
        rate: the highest learning rate.
        epochs: how often all examples are seen.
        seed: of the first weights, of the order, and of dropout.
        kept: the file of what is done so far.
        progress: told before each step how many are done, and how many there are.
    """
    examples = sorted(examples, key=_order)
    targets, weight = map(torch.from_numpy, _balanced(examples))
    batches = [
        batch for epoch in range(epochs) for batch in _batches(examples, states, seed, epoch)
    ]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _Network(next(iter(states.values())).shape[1])

        def loss(step: int) -> torch.Tensor:
            batch = batches[step]
            scores = network(*_padded([examples[place] for place in batch], states))
            losses = nn.functional.binary_cross_entropy_with_logits(
                scores, targets[batch], reduction="none"
            )
            return (losses * weight[batch]).mean()

        fit(
            [(dict(network.named_parameters()), rate)],
            loss,
            steps=len(batches),
            warm_up=_WARM_UP,
            kept=kept,
            progress=progress,
        )
    return network.tensors()


def balanced_loss(
    examples: Sequence[Example], likely: Sequence[Mapping[Mechanism, float]]
) -> float:
    """Return the mean negative log-likelihood of known labels, all classes weighing the same.

    Args:
        examples: whose labels are known.
        likely: how likely each of them has each mechanism.
    """
    labels, weights = _balanced(examples)
    shares = np.array([[each[mechanism] for mechanism in MECHANISMS] for each in likely])
    right = np.where(labels == 1, shares, 1 - shares).clip(_TINY)
    return float(-(np.log(right) * weights).mean())


def _balanced(examples: Sequence[Example]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return labels as 0 and 1, and what each weighs: shape (examples, mechanisms) both.

    Over all examples present and absent weigh the same, and so do mechanisms; what is not known
    weighs nothing.
    """
    labels = np.array(
        [[float(e.labels.get(mechanism, False)) for mechanism in MECHANISMS] for e in examples],
        np.float32,
    )
    known = np.array([[mechanism in e.labels for mechanism in MECHANISMS] for e in examples])
    weights = np.zeros_like(labels)
    for present in (False, True):
        own = known & ((labels == 1) == present)
        weights += own * (len(examples) / 2 / own.sum(0).clip(1))
    return labels, weights.astype(np.float32)


def _batches(
    examples: Sequence[Example], states: Mapping[str, NDArray[Any]], seed: int, epoch: int
) -> list[list[int]]:
    """Return the places of the examples of each step of an epoch, in an order drawn anew."""
    random = np.random.default_rng((seed, epoch))
    places = random.permutation(len(examples)).tolist()
    batches = []
    for start in range(0, len(places), BATCH * _SORTED):
        some = sorted(
            places[start : start + BATCH * _SORTED],
            key=lambda place: len(states[examples[place].pair.response]),
        )
        batches += [some[first : first + BATCH] for first in range(0, len(some), BATCH)]
    return [batches[number] for number in random.permutation(len(batches))]


def _padded(
    examples: Sequence[Example], states: Mapping[str, NDArray[Any]]
) -> Iterator[torch.Tensor]:
    """Yield the states of responses and which are no padding, then those of the posts."""
    for texts in (
        [example.pair.response for example in examples],
        [example.pair.about for example in examples],
    ):
        rows = [torch.from_numpy(np.asarray(states[text], np.float32)) for text in texts]
        yield nn.utils.rnn.pad_sequence(rows, batch_first=True)
        sizes = torch.tensor([len(row) for row in rows])
        yield torch.arange(int(sizes.max()))[None] < sizes[:, None]


def _order(example: Example) -> tuple[str, str, str, list[tuple[Mechanism, bool]]]:
    pair = example.pair
    return pair.about, pair.response, pair.language, sorted(example.labels.items())
