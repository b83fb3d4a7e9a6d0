"""Which questions are in which shard."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.planning.plan import Case
from pytest_xling.planning.shards import Shard
from pytest_xling.records import Condition, Sample

QUESTIONS = 2000


def _case(sample_id: str, *, number: int = 0, about: str | None = None) -> Case:
    sample = Sample(
        id=sample_id, benchmark="b", language=f"l{number}", prompt={}, parallel_id=about
    )
    condition = Condition(temperature=float(number), repeat=number)
    return Case(id=sample_id, sample=sample, condition=condition, position=number)


@given(st.text(min_size=1), st.integers(1, 64))
def test_each_question_is_in_one_shard(question: str, count: int) -> None:
    """All shards together have it once: any language, level, temperature and repeat of it."""
    cases = [_case(f"{question}-l{n}", number=n, about=question) for n in range(3)]
    shards = [Shard(number, count) for number in range(1, count + 1)]
    (has,) = {tuple(shard.has(case) for shard in shards) for case in cases}
    assert 1 == sum(has)


def test_shards_are_of_about_one_size() -> None:
    """Of 2,000 questions each of eight has an eighth, give or take what chance does (3 sd)."""
    cases = [_case(f"q{number:04d}") for number in range(QUESTIONS)]
    sizes = Counter(n for n in range(1, 9) for case in cases if Shard(n, 8).has(case))
    spread = 3 * (QUESTIONS * (1 / 8) * (7 / 8)) ** 0.5
    assert all(abs(sizes[number] - QUESTIONS / 8) < spread for number in range(1, 9))


def test_a_question_stays_where_it_is() -> None:
    """Stores that CI keeps stay of use: of a known id the shard is known."""
    where = [n for q in range(4) for n in (1, 2, 3) if Shard(n, 3).has(_case(f"q{q:04d}"))]
    assert [3, 1, 3, 3] == where


@pytest.mark.parametrize("name", ["night", "a.1of2"])
def test_names(name: str) -> None:
    """A part's name says which it is, and of what."""
    shard = Shard.read("2/8")
    assert f"{name}.2of8" == shard.named(name)
    assert name == shard.whole(shard.named(name))
    assert "shard 2 of 8" == str(shard)
