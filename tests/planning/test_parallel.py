"""The line that says which questions belong together over languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.planning.parallel import pairing
from pytest_xling.planning.plan import plan

if TYPE_CHECKING:
    from tests.planning.bread import Bread


def test_what_is_said(bread: Bread) -> None:
    """All of them, some, or none; and nothing of a single language."""
    for ids, says in (
        ({"en": ["a", "b"], "es": ["b", "a"]}, "bread: 2 questions in 2 languages, paired by id"),
        (
            {"en": ["a", "b"], "es": ["a", "c"]},
            "bread: 3 questions in 2 languages, 1 of them in all, paired by id",
        ),
        (
            {"en": ["a"], "es": ["b"]},
            (
                "bread: not paired over languages: 0 of 2 ids are in several languages; gaps and "
                "consistency cannot be judged"
            ),
        ),
    ):
        benchmark = bread.write(ids)
        assert says == pairing(benchmark, plan(benchmark, bread.settings(langs="all")))
        assert not pairing(benchmark, plan(benchmark, bread.settings(langs="en")))
