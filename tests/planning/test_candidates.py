"""One sample of each candidate answer."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.planning.expand import candidates
from pytest_xling.records import Sample

SAMPLE = Sample(
    id="q1",
    benchmark="b",
    language="en",
    prompt={"question": "Why?"},
    reference="Because.",
    wrong=("No.", "Perhaps.", "Never."),
    metadata={"set": "s"},
)


def test_each_answer_is_asked_about_once() -> None:
    """With its question, and whether it is right."""
    made = candidates(SAMPLE, seed=0)
    assert ["q1-a1", "q1-a2", "q1-a3", "q1-a4"] == [one.id for one in made]
    gold = {one.prompt["answer"]: one.reference for one in made}
    assert {"Because.": "right", "No.": "wrong", "Perhaps.": "wrong", "Never.": "wrong"} == gold
    assert {("Why?", "q1", ())} == {(m.prompt["question"], m.parallel_id, m.wrong) for m in made}
    assert all(m.metadata == {"set": "s", "gold": m.reference} for m in made)


def test_the_mix_is_seeded_and_parallel() -> None:
    """Answers of the same place in another language get the same ids; other seeds mix anew."""
    other = replace(SAMPLE, language="es", reference="R", wrong=("1", "2", "3"))
    places = dict(zip(("R", "1", "2", "3"), ("Because.", *SAMPLE.wrong), strict=True))
    in_english = {one.id: one.prompt["answer"] for one in candidates(SAMPLE, seed=3)}
    in_spanish = {one.id: places[one.prompt["answer"]] for one in candidates(other, seed=3)}
    assert in_english == in_spanish
    orders = {
        tuple(one.prompt["answer"] for one in candidates(SAMPLE, seed=seed)) for seed in range(20)
    }
    assert len(orders) > 5


def test_a_missing_answer_keeps_the_others_in_place() -> None:
    """Where one language lacks an answer (an empty one), the others stay parallel."""
    gap = replace(SAMPLE, wrong=("No.", "", "Never."))
    whole = {one.id: one.prompt["answer"] for one in candidates(SAMPLE, seed=1)}
    left = {one.id: one.prompt["answer"] for one in candidates(gap, seed=1)}
    assert {i: text for i, text in whole.items() if text != "Perhaps."} == left


@given(st.integers(0, 9), st.integers(0, 5))
def test_nothing_is_lost(wrong: int, seed: int) -> None:
    """However many answers there are, also without a right one."""
    texts = tuple(f"w{n}" for n in range(wrong))
    made = candidates(replace(SAMPLE, reference=None, wrong=texts), seed=seed)
    assert sorted(texts) == sorted(one.prompt["answer"] for one in made)
