"""Drawing tokens for the rows of a batch, against torch's and transformers' own arithmetic."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import TopKLogitsWarper, TopPLogitsWarper  # noqa: E402  only where torch is

from pytest_xling.providers.hf.decoding import Drawing, Row, _cut, _times, draw  # noqa: E402
from pytest_xling.providers.hf.parameters import Sampling  # noqa: E402

if TYPE_CHECKING:
    from torch import Tensor

_DRAWS = 5000


def _scores(seed: int, rows: int = 1, tokens: int = 12) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scores: Tensor = torch.randn(rows, tokens, generator=generator) * 2
    return scores


_KINDS = [
    Sampling(temperature=1.0),
    Sampling(temperature=0.3),
    Sampling(temperature=2.0, top_p=0.8),
    Sampling(temperature=1.0, top_p=0.5, top_k=3),
    Sampling(temperature=1.0, top_k=2),
]


def _keys(seed: int, count: int) -> list[tuple[int, int]]:
    bits = random.Random(seed)  # noqa: S311  to be repeated
    return [(bits.getrandbits(32), bits.getrandbits(32)) for _ in range(count)]


def _warped(scores: Tensor, sampling: Sampling) -> Tensor:
    """Return *scores* as transformers cools and cuts them."""
    warped: Tensor = scores / sampling.temperature
    if sampling.top_k:
        warped = TopKLogitsWarper(sampling.top_k)(None, warped)
    if sampling.top_p < 1:
        warped = TopPLogitsWarper(sampling.top_p)(None, warped)
    return warped


@pytest.mark.parametrize("sampling", _KINDS)
@pytest.mark.slow
def test_tokens_are_drawn_as_often_as_their_chances_say(sampling: Sampling) -> None:
    """A chi-squared test of many draws against the chances that transformers would draw by."""
    scores = _scores(1)
    chances = torch.softmax(_warped(scores, sampling), dim=-1)[0]
    drawn = draw(scores.repeat(_DRAWS, 1), [sampling] * _DRAWS, _keys(0, _DRAWS))
    counts = torch.bincount(drawn, minlength=12)
    possible = chances > 0
    assert _DRAWS == int(counts[possible].sum())
    expected = (chances[possible].double() / chances[possible].double().sum() * _DRAWS).tolist()
    assert scipy.stats.chisquare(counts[possible].tolist(), expected).pvalue > 0.001


@pytest.mark.parametrize("sampling", _KINDS)
def test_large_vocabularies_are_cut_as_small_ones(sampling: Sampling) -> None:
    """Where few tokens are looked at first, and where they are not enough."""
    for spread in (0.01, 3.0):
        scores = _scores(4, rows=3, tokens=5000) * spread
        left_in = torch.isfinite(_warped(scores, sampling))
        drawn = draw(scores, [sampling] * 3, _keys(1, 3))
        assert all(bool(left_in[row, token]) for row, token in enumerate(drawn.tolist()))
        cut = _cut(scores / sampling.temperature, [sampling] * 3)
        assert left_in.sum(-1).tolist() == pytest.approx(
            torch.isfinite(cut).sum(-1).tolist(), abs=1
        )


def test_rounding_seldom_changes_what_is_drawn() -> None:
    """Half the summed difference of the chances must differ; at most about twice that does."""
    scores = _scores(6, rows=1, tokens=20_000)
    rounded = scores + _scores(7, rows=1, tokens=20_000) * 0.02
    apart = (scores.softmax(-1) - rounded.softmax(-1)).abs().sum() / 2
    plain, keys = [Sampling(temperature=1.0)] * 500, _keys(3, 500)
    before, after = (draw(s.repeat(500, 1), plain, keys) for s in (scores, rounded))
    assert float((before != after).float().mean()) < 2.5 * float(apart)


def test_the_times_of_a_race_are_exponential_and_know_nothing_of_each_other() -> None:
    """Kolmogorov and Smirnov's test on each row, and the correlations of tokens and rows."""
    times = _times(_keys(5, 40), size=3000, device=torch.device("cpu"))
    values = [scipy.stats.kstest(row.tolist(), "expon").pvalue for row in times]
    assert min(values) > 0.001
    for table in (times, times.T[:40]):
        apart = torch.corrcoef(table) - torch.eye(40)
        assert float(apart.abs().max()) < 5 / math.sqrt(table.shape[1])


@settings(max_examples=40)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_a_row_draws_the_same_alone(seed: int, rows: int) -> None:
    """Whatever the other rows' temperatures and cuts."""
    samplings = [_KINDS[(seed + i) % len(_KINDS)] for i in range(rows)]
    scores, keys = _scores(seed, rows=rows), _keys(seed, rows)
    together = draw(scores, samplings, keys).tolist()
    alone = [int(draw(scores[i : i + 1], [samplings[i]], [keys[i]])) for i in range(rows)]
    assert alone == together


@pytest.mark.parametrize("temperature", [1e-6, 1.0, 1e6])
def test_extremes_draw_a_token_that_is_allowed(temperature: float) -> None:
    """Banned tokens never come; a temperature near 0 gives the likeliest."""
    scores = _scores(3)
    scores[0, :5] = float("-inf")
    for sampling in (
        Sampling(temperature=temperature),
        Sampling(temperature=temperature, top_p=0.0),
        Sampling(temperature=temperature, top_p=0.99),
    ):
        drawn = draw(scores.repeat(50, 1), [sampling] * 50, _keys(2, 50)).tolist()
        assert min(drawn) >= 5
        if temperature < 1e-3 or not sampling.top_p:
            assert {int(scores.argmax())} == set(drawn)


def test_forced_tokens_are_neither_drawn_nor_noted() -> None:
    """What a translation begins with is set: the row's first number is for the token after."""
    row = Row(sampling=Sampling(temperature=1.0), seed=5, limit=9, top_logprobs=2)
    drawing = Drawing([row], forced=1)
    scores = _scores(2)
    assert drawing(torch.zeros(1, 1), scores) is scores
    assert [] == row.first
    only = drawing(torch.zeros(1, 2), scores)
    bits = random.Random(5)  # noqa: S311  as the row's
    key = bits.getrandbits(32), bits.getrandbits(32)
    expected = draw(scores, [Sampling(temperature=1.0)], [key])
    assert expected.tolist() == torch.isfinite(only[0]).nonzero().flatten().tolist()
    assert torch.log_softmax(scores, -1).topk(2).indices[0].tolist() == [t for t, _ in row.first]
