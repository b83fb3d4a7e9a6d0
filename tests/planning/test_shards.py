"""Which questions are in which shard."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.planning.plan import Case
from pytest_xling.planning.shards import Shard
from pytest_xling.records import Condition, Sample

if TYPE_CHECKING:
    from tests.planning.bread import Bread

QUESTIONS = 2000


def _case(sample_id: str, *, language: str = "en", about: str | None = None) -> Case:
    sample = Sample(
        id=sample_id, benchmark="b", language=language, prompt={}, parallel_id=about, metadata={}
    )
    return Case(id=sample_id, sample=sample, condition=Condition(), position=0)


@given(st.text(min_size=1), st.integers(1, 64))
def test_each_question_is_in_one_shard(question: str, count: int) -> None:
    """All shards together have it once, in any language and at any level of presupposition."""
    cases = [_case(f"{question}-l{n}", language=f"l{n}", about=question) for n in range(3)]
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


def test_repeats_and_temperatures_stay_together(bread: Bread) -> None:
    """All that is planned of a question is in its shard, with its languages."""
    ids = {"en": ["a", "b", "c", "d"], "hi": ["a", "b"]}
    cases = bread.plan(ids, langs="en,hi", samples="2", temperatures="0,1")
    for number in (1, 2):
        shard = Shard(number, 2)
        inside = {case.question for case in cases if shard.has(case)}
        assert [case for case in cases if case.question in inside] == list(filter(shard.has, cases))


@pytest.mark.parametrize("name", ["night", "a.1of2"])
def test_names(name: str) -> None:
    """A part's name says which it is, and of what."""
    shard = Shard.read("2/8")
    assert f"{name}.2of8" == shard.named(name)
    assert name == shard.whole(shard.named(name))
    assert "shard 2 of 8" == str(shard)
