"""Train the stance reader: tune the upper layers of the embedded encoder on drawn examples.

A share of the claims is left out, to set the temperature by which probabilities become as often
right as they say (Guo et al. 2017, section 4.2) and to measure on.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import torch

from pytest_xling.annotators.stance.reader.network import (
    LAYERS,
    Network,
    ids,
    scored,
    together,
)
from pytest_xling.annotators.stance.reader.weights import HEAD, TOKENS, Weights, packed
from pytest_xling.annotators.stance.windows import windows
from pytest_xling.errors import DataError
from pytest_xling.files.digest import files_sha256
from pytest_xling.keys import content_key
from pytest_xling.models.devices import can_multiply_bfloat16
from pytest_xling.text.stance import STANCES
from pytest_xling.training.labelled import drawn
from pytest_xling.training.stance.examples import EVIDENCE, FRAMES, examples
from pytest_xling.training.stance.pairs import digest
from pytest_xling.training.trainer import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_xling.text.stance import Stance
    from pytest_xling.training.stance.pairs import LabelledPair
    from pytest_xling.training.trainer import Progress

STEPS: Final = 2400
_BATCH = 16
_SORTED = 16
"""Batches are made of so many times their size, by length, so that little is padding."""
_RATE = 1e-4
_HEAD_RATE = 1e-3
_WARM_UP = 0.08
_SMOOTHING = 0.05
_FOLDS = 6
_MOST_LEFT_OUT = 40
"""One claim of so many is left out, and no more than so many claims."""
_TEMPERATURES = np.exp(np.linspace(np.log(0.25), np.log(6), 200))
_Row: TypeAlias = tuple[list[int], int]
"""Ids of a claim and a response, and how many are the claim's."""
_Batch: TypeAlias = tuple[list[_Row], list[int]]
"""Rows, and the number of each one's stance."""
_VERSION = "4"
"""Raised whenever the same pairs would make other weights by a change of code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Weights, and what they say of the claims that were left out."""

    weights: Weights
    left_out: tuple[LabelledPair, ...]
    stances: tuple[Stance, ...]
    """Of these, the likeliest."""


def train(
    pairs: Sequence[LabelledPair],
    *,
    seed: int,
    folder: Path,
    progress: Progress,
    device: str = "cpu",
    steps: int | None = None,
) -> Trained:
    """Train on *pairs*; the same ones, in any order, with the same seed learn from the same texts.

    Numbers may differ in their last digits between machines, and stances of close calls with them.

    Args:
        pairs: of the split ``train``.
        seed: of the claims that are left out, of the examples, of first weights and of dropout.
        folder: keeps what is learnt every 50 steps; training that was cut off goes on from there.
        progress: told of a step, how much of it is done, and how much there is.
        device: torch's name of it.
        steps: of 16 examples; None for ``STEPS``.

    Raises:
        ConfigError: the encoder cannot be loaded.
        DataError: the claims are too few to leave some out, or a stance is missing.
    """
    _check_enough(pairs)
    steps = STEPS if steps is None else steps
    pairs = sorted(pairs, key=_order)
    groups = sorted({p.group for p in pairs}, key=lambda group: drawn(seed, group))
    out = frozenset(groups[: min(max(1, len(groups) // _FOLDS), _MOST_LEFT_OUT)])
    learnt = [pair for pair in pairs if pair.group not in out]
    left_out = tuple(pair for pair in pairs if pair.group in out)
    about: dict[str, Any] = {
        "pairs": digest(pairs),
        "sentences": files_sha256([EVIDENCE, FRAMES]),
        "seed": seed,
        "steps": steps,
        "tokens": TOKENS,
        "layers": LAYERS,
        "training": _VERSION,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network().to(device)
        before = network.numbers()
        kept = folder / f"{content_key(about).hex()[:16]}-fit.safetensors"
        _fit(network, _batches(learnt, out, network, seed), kept, steps, progress, seed=seed)
    after = network.numbers()
    tensors = packed(
        {name: each if name in HEAD else each - before[name] for name, each in after.items()}
    )
    # Measured as it will be read: rounded to 8 bits.
    weights = Weights(tensors=tensors, about=about)
    network.restore(before)
    network.add(weights.differences())
    network.eval()
    scores = scored(network, [pair.pair for pair in left_out])
    labels = np.array([STANCES.index(pair.label) for pair in left_out])
    losses = [_loss(together(scores, temperature=each), labels) for each in _TEMPERATURES]
    temperature = round(float(_TEMPERATURES[int(np.argmin(losses))]), 4)
    about["temperature"] = temperature
    shares = together(scores, temperature=temperature)
    return Trained(
        weights=Weights(tensors=tensors, about=about),
        left_out=left_out,
        stances=tuple(STANCES[place] for place in shares.argmax(axis=1)),
    )


def _fit(
    network: Network,
    batches: Callable[[int], _Batch],
    kept: Path,
    steps: int,
    progress: Progress,
    *,
    seed: int,
) -> None:
    """Tune *network*, from where *kept* left it; its new layer learns at a rate of its own."""
    tuned = network.tuned()
    network.requires_grad_(requires_grad=False)
    for parameter in tuned.values():
        parameter.requires_grad = True
    device = network.head.weight.device.type
    half = device != "cpu" or can_multiply_bfloat16()
    network.train()

    def loss(step: int) -> torch.Tensor:
        torch.manual_seed(drawn(seed, str(step)) % (1 << 31))  # of dropout, on any device
        rows, labels = batches(step)
        with torch.autocast(device, torch.bfloat16, enabled=half):
            scores = network(rows)
        return torch.nn.functional.cross_entropy(
            scores.float(), torch.tensor(labels, device=device), label_smoothing=_SMOOTHING
        )

    fit(
        [
            ({name: each for name, each in tuned.items() if name not in HEAD}, _RATE),
            ({name: tuned[name] for name in HEAD}, _HEAD_RATE),
        ],
        loss,
        steps=steps,
        warm_up=_WARM_UP,
        kept=kept,
        progress=partial(progress, "training"),
    )


def _batches(
    pairs: Sequence[LabelledPair], out: frozenset[str], network: Network, seed: int
) -> Callable[[int], _Batch]:
    """Return what gives the rows of a step and their labels; any step, in any order."""
    chunks: dict[int, list[list[tuple[_Row, int]]]] = {}

    def batch(step: int) -> _Batch:
        number, place = divmod(step, _SORTED)
        if number not in chunks:
            chunks.clear()
            drawn = examples(pairs, count=_BATCH * _SORTED, seed=f"{seed} {number}", without=out)
            # What is joined of a response takes its stance; of a window nobody knows.
            read = [replace(pair, response=windows(pair)[0]) for pair in (e.pair for e in drawn)]
            rows = ids(read, network.tokens)
            ready = list(zip(rows, (STANCES.index(each.label) for each in drawn), strict=True))
            ready.sort(key=lambda row: len(row[0][0]))
            cut = [ready[start : start + _BATCH] for start in range(0, len(ready), _BATCH)]
            random.Random(f"{seed} {number}").shuffle(cut)  # noqa: S311  no secrets are drawn
            chunks[number] = cut
        some = chunks[number][place]
        return [row for row, _ in some], [label for _, label in some]

    return batch


def _loss(shares: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    likely = shares[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(likely, 1e-12)).mean())


def _check_enough(pairs: Sequence[LabelledPair]) -> None:
    groups = {pair.group for pair in pairs}
    for stance in STANCES:
        of = {pair.group for pair in pairs if pair.label == stance}
        if len(of) < 2:  # noqa: PLR2004  one left out, one to learn from
            msg = (
                f"too few pairs to train on: {len(pairs)} about {len(groups)} claims, and "
                f"{stance!r} is the label of {len(of)} of these; give each label pairs about at "
                "least two claims ('claim_id')"
            )
            raise DataError(msg)


def _order(pair: LabelledPair) -> tuple[str, str, str, str]:
    return pair.claim_id, pair.pair.language, pair.pair.about, pair.pair.response
