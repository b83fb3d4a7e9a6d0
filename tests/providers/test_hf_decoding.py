"""Drawing tokens for the rows of a batch, against torch's and transformers' own arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import TopKLogitsWarper, TopPLogitsWarper  # noqa: E402  only where torch is

from pytest_xling.providers._hf_decoding import Drawing, Row, draw  # noqa: E402
from pytest_xling.providers._hf_wish import Sampling  # noqa: E402

if TYPE_CHECKING:
    from torch import Tensor

_STEPS = 2000


def _scores(seed: int, rows: int = 1, tokens: int = 12) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scores: Tensor = torch.randn(rows, tokens, generator=generator) * 2
    return scores


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=1.0),
        Sampling(temperature=0.3),
        Sampling(temperature=2.0, top_p=0.8),
        Sampling(temperature=1.0, top_p=0.5, top_k=3),
        Sampling(temperature=1.0, top_k=2),
    ],
)
def test_tokens_are_drawn_as_often_as_their_chances_say(sampling: Sampling) -> None:
    """Going evenly through all numbers gives each token its share, cut as transformers cuts."""
    scores = _scores(1)
    warped = scores / sampling.temperature
    if sampling.top_k:
        warped = TopKLogitsWarper(sampling.top_k)(None, warped)
    if sampling.top_p < 1:
        warped = TopPLogitsWarper(sampling.top_p)(None, warped)
    expected = torch.softmax(warped, dim=-1)[0]
    even = [(i + 0.5) / _STEPS for i in range(_STEPS)]
    drawn = draw(scores.repeat(_STEPS, 1), [sampling] * _STEPS, even)
    shares = torch.bincount(drawn, minlength=12) / _STEPS
    assert expected.tolist() == pytest.approx(shares.tolist(), abs=2 / _STEPS)


@settings(max_examples=40)
@given(st.integers(0, 1000), st.lists(st.floats(0, 0.999), min_size=1, max_size=6))
def test_a_row_draws_the_same_alone(seed: int, numbers: list[float]) -> None:
    """Whatever the other rows' temperatures and cuts."""
    kinds = [
        Sampling(temperature=0.5),
        Sampling(temperature=1.5, top_p=0.7),
        Sampling(temperature=1.0, top_k=4),
    ]
    samplings = [kinds[i % 3] for i in range(len(numbers))]
    scores = _scores(seed, rows=len(numbers))
    together = draw(scores, samplings, numbers).tolist()
    alone = [
        int(draw(scores[i : i + 1], [samplings[i]], [numbers[i]])) for i in range(len(numbers))
    ]
    assert alone == together


@pytest.mark.parametrize("number", [0.0, 0.5, 1 - 1e-12])
@pytest.mark.parametrize("temperature", [1e-6, 1.0, 1e6])
def test_extremes_draw_a_token_that_is_allowed(number: float, temperature: float) -> None:
    """Banned tokens never come; a temperature near 0 gives the likeliest."""
    scores = _scores(3)
    scores[0, :5] = float("-inf")
    for sampling in (
        Sampling(temperature=temperature),
        Sampling(temperature=temperature, top_p=0.0),
        Sampling(temperature=temperature, top_p=0.99),
    ):
        (token,) = draw(scores, [sampling], [number]).tolist()
        assert token >= 5
        if temperature < 1e-3 or not sampling.top_p:
            assert int(scores.argmax()) == token


def test_forced_tokens_are_neither_drawn_nor_noted() -> None:
    """What a translation begins with is set: the row's first number is for the token after."""
    row = Row(sampling=Sampling(temperature=1.0), seed=5, limit=9, top_logprobs=2)
    drawing = Drawing([row], forced=1)
    scores = _scores(2)
    assert drawing(torch.zeros(1, 1), scores) is scores
    assert [] == row.first
    only = drawing(torch.zeros(1, 2), scores)
    number = Row(sampling=None, seed=5, limit=1).random.random()
    expected = draw(scores, [Sampling(temperature=1.0)], [number])
    assert expected.tolist() == torch.isfinite(only[0]).nonzero().flatten().tolist()
    assert torch.log_softmax(scores, -1).topk(2).indices[0].tolist() == [t for t, _ in row.first]
