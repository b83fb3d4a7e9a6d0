"""Greedy matching of tokens, and their weights."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.metrics.bertscore.matching import Tokens, shares_between, shares_within
from pytest_xling.metrics.bertscore.weights import has_tokens, weights_of

pytest.importorskip("torch", reason="needs pytest-xling[torch]")

LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=7)
SEEDS = st.integers(0, 2**32 - 1)

MEMORY = """
import resource, sys
import numpy as np
import torch
from pytest_xling.metrics.bertscore.matching import Tokens, shares_within

def peak():
    # Of this process alone: what getrusage says may be the peak of the one that started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

def texts(tokens):
    random = np.random.default_rng(0)
    return [Tokens(states=random.normal(size=(tokens, 8)).astype(np.float32),
                   weights=np.full(tokens, 1 / tokens, np.float32)) for _ in range(2)]

torch.set_num_threads(1)
long = texts(12_000)
shares_within(texts(30))
before = peak()
shares_within(long, cells=int(sys.argv[1]) or None)
print((peak() - before) // 1024)
"""


def made(lengths: list[int], seed: int) -> list[Tokens]:
    """Return texts of random tokens."""
    random = np.random.default_rng(seed)
    texts = []
    for length in lengths:
        weights = random.uniform(size=length) + 0.01
        states = random.normal(size=(length, 5))
        texts.append(
            Tokens(
                states=states.astype(np.float32),
                weights=(weights / weights.sum()).astype(np.float32),
            )
        )
    return texts


def share(left: Tokens, right: Tokens) -> float:
    """Return the share of one text found in the other, token by token."""
    total = 0.0
    for state, weight in zip(left.states, left.weights, strict=True):
        cosines = [
            float(state @ other / (np.linalg.norm(state) * np.linalg.norm(other)))
            for other in right.states
        ]
        total += float(weight) * max(0.0, *cosines)
    return total


@settings(deadline=None, max_examples=25)
@given(lengths=LENGTHS, seed=SEEDS, cells=st.sampled_from([1, 7, 60, None]), halves=st.booleans())
def test_all_pairs_are_as_token_by_token(
    lengths: list[int],
    seed: int,
    cells: int | None,
    halves: bool,  # noqa: FBT001  hypothesis names its arguments
) -> None:
    """Padding, blocks of any size and either way to go through the pairs give the same."""
    texts = made(lengths, seed)
    expected = [[1.0 if left is right else share(left, right) for right in texts] for left in texts]
    np.testing.assert_allclose(
        shares_within(texts, cells=cells, halves=halves), expected, atol=1e-5
    )


@settings(deadline=None, max_examples=25)
@given(lefts=LENGTHS, rights=LENGTHS, seed=SEEDS, cells=st.sampled_from([1, 30, None]))
def test_two_sides_are_as_token_by_token(
    lefts: list[int], rights: list[int], seed: int, cells: int | None
) -> None:
    """Each text of one side is compared with each of the other, both ways."""
    texts = made(lefts + rights, seed)
    left, right = texts[: len(lefts)], texts[len(lefts) :]
    forth, back = shares_between(left, right, cells=cells)
    np.testing.assert_allclose(forth, [[share(a, b) for b in right] for a in left], atol=1e-5)
    np.testing.assert_allclose(back, [[share(b, a) for a in left] for b in right], atol=1e-5)


def test_what_resembles_nothing_is_not_found() -> None:
    """A text that points the other way shares nothing, rather than less than nothing."""
    up, down = (
        Tokens(states=np.array([[y, 0.0]], np.float32), weights=np.ones(1, np.float32))
        for y in (1.0, -1.0)
    )
    assert [[1.0, 0.0], [0.0, 1.0]] == shares_within([up, down]).tolist()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.slow
def test_memory_is_bounded() -> None:
    """Two texts of 12,000 tokens have 144 million similarities: 576 MB, never held at once."""

    def megabytes(cells: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(cells)], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    assert megabytes(0) < 50
    # The measurement sees what it is for.
    assert megabytes(1 << 30) > 500


def test_special_tokens_weigh_nothing() -> None:
    """Neither at the ends nor where a text spells one out."""
    ids = np.array([101, 7, 102, 8, 102], np.int32)
    (weights,) = weights_of([ids], idf=False, copies=[1])
    assert [0.0, 0.5, 0.0, 0.5, 0.0] == weights.tolist()
    assert has_tokens(ids)
    assert not has_tokens(np.array([101, 102], np.int32))


def test_rare_tokens_weigh_more() -> None:
    """Of 3 texts, one given twice: log(5/5), log(5/3) and log(5/2) for those in 4, 2 and 1."""
    texts = [np.array(ids, np.int32) for ids in ([1, 5, 6, 2], [1, 5, 7, 2], [1, 5, 6, 6, 8, 2])]
    found = weights_of(texts, idf=True, copies=[1, 2, 1])
    six, eight = math.log(5 / 3), math.log(5 / 2)
    both = 2 * six + eight
    np.testing.assert_allclose(found[0], [0, 0, 1, 0], atol=1e-7)
    np.testing.assert_allclose(found[1], [0, 0, 1, 0], atol=1e-7)
    np.testing.assert_allclose(found[2], [0, 0, six / both, six / both, eight / both, 0], rtol=1e-6)


def test_without_rare_tokens_all_weigh_the_same() -> None:
    """Where all texts are the same, no token is rarer than another."""
    text = np.array([1, 5, 6, 2], np.int32)
    (weights,) = weights_of([text], idf=True, copies=[3])
    assert [0.0, 0.5, 0.5, 0.0] == weights.tolist()
