"""The judge's label: what it is asked, what counts as a reply, and what it cannot be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.annotators.correctness_label import LABELS, MEANINGS, CorrectnessLabel
from pytest_xling.keys import canonical_json
from pytest_xling.text.fence import fenced
from tests.annotators.judges import Judge, annotation, says
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.records import Answer

QUESTION = "How much water should I drink a day?"
EXPERT = "About two litres, and more when it is hot."
MODEL = "Around two litres are enough for most people."
REASONING = "Both name about two litres, and the second says nothing of hot days."


def answer(text: str = MODEL, language: str = "en", **fields: Any) -> Answer:
    """Return a model's answer to a question with an expert's."""
    question = fields.pop("question", QUESTION)
    prompt = {} if question is None else {"question": question}
    return annotated_answer(text, language, prompt=prompt, **{"reference": EXPERT} | fields)


def labelled(judge: Ask, given: Answer | None = None, **fields: Any) -> Any:  # noqa: ANN401
    """Return the annotation of an answer."""
    return annotation(CorrectnessLabel(**fields), given or answer(), judge)


def test_the_judge_is_told_of_every_label() -> None:
    """In the order in which we list them, which its schema and its options have, too."""
    assert [*MEANINGS] == [*LABELS]


@pytest.mark.parametrize("label", LABELS)
def test_the_judges_label_and_reasoning(label: str) -> None:
    """One question, one label; the judge reads the question and both answers."""
    judge = Judge(lambda *_: says(label, REASONING))
    assert {"label": label, "reasoning": REASONING, "reason": "", "swapped": None} == labelled(
        judge, answer(language="hi")
    )
    (prompt,) = judge.prompts
    parts = {"QUESTION": QUESTION, "ANSWER 1": EXPERT, "ANSWER 2": MODEL}
    assert all(fence in prompt for fence in fenced(parts).values())
    assert "in Hindi" in prompt
    assert [{"temperature": 0.0, "max_tokens": 2048}] == judge.params


@pytest.mark.parametrize(
    ("plain", "other", "expected"),
    [
        ("contradictory", "contradictory", "contradictory"),
        ("dissimilar", "dissimilar", "dissimilar"),
        ("more_comprehensive", "less_comprehensive", "more_comprehensive"),
        ("less_comprehensive", "more_comprehensive", "less_comprehensive"),
    ],
)
def test_swapped_positions_that_agree(plain: str, other: str, expected: str) -> None:
    """With the answers exchanged, more and less are, too."""
    judge = Judge(lambda prompt, _: says(plain if expert_first(prompt) else other, REASONING))
    assert {"label": expected, "reasoning": REASONING, "reason": "", "swapped": expected} == (
        labelled(judge, swap=True)
    )
    assert [True, False] == [expert_first(prompt) for prompt in judge.prompts]


@pytest.mark.parametrize(
    ("plain", "other", "swapped", "named"),
    [
        ("more_comprehensive", "more_comprehensive", "less_comprehensive", ("more_", "less_")),
        ("contradictory", "dissimilar", "dissimilar", ("contradictory", "dissimilar")),
        ("contradictory", "nonsense", None, ("positions swapped", "none of contradictory")),
        ("nonsense", "contradictory", "contradictory", ("none of contradictory",)),
    ],
)
def test_swapped_positions_that_disagree(
    plain: str, other: str, swapped: str | None, named: tuple[str, ...]
) -> None:
    """A label that hangs on the position is none; both are named, the second is kept."""
    judge = Judge(lambda prompt, _: says(plain if expert_first(prompt) else other))
    value = labelled(judge, swap=True)
    assert (None, swapped) == (value["label"], value["swapped"])
    assert value["reason"].startswith("no label")
    assert all(name in value["reason"] for name in named)


def expert_first(prompt: str) -> bool:
    """Tell whether the expert's answer is the first."""
    return prompt.index(EXPERT) < prompt.index(MODEL)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (answer(reference=None), "the sample has no reference answer"),
        (answer(reference=" \n"), "the sample has no reference answer"),
        (answer(question=None), "the sample has no question"),
        (answer(question=""), "the sample has no question"),
        (answer(" "), "no answer"),
        (answer("x" * 101), "the answer has 101 characters, more than 100"),
        (answer(reference="x" * 101), "the reference has 101 characters, more than 100"),
    ],
)
def test_nothing_to_compare(given: Answer, reason: str) -> None:
    """The judge is not asked where there is nothing to ask, or far too much."""
    judge = Judge(lambda *_: says("dissimilar"))
    value = labelled(judge, given, max_chars=100)
    assert (None, f"no label: {reason}") == (value["label"], value["reason"])
    assert [] == judge.prompts


def test_looks_at_all_the_judge_reads() -> None:
    """Another question, reference, text or language is another label."""
    seen = [
        canonical_json(CorrectnessLabel().looks_at(given))
        for given in (
            answer(),
            answer("Other."),
            answer(reference="Other."),
            answer(question="Other?"),
            answer(language="es"),
        )
    ]
    assert 5 == len(set(seen))
    assert seen[0] == canonical_json(CorrectnessLabel().looks_at(answer()))


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        (" contradictory", "contradictory"),
        ("Different, since it is about coffee", "dissimilar"),
        ("more complete", "more_comprehensive"),
        ("less", "less_comprehensive"),
        ("no less complete", None),
        ("", None),
        ("\nmore", None),
    ],
)
def test_how_a_base_model_continues(reply: str, label: str | None) -> None:
    """Its first word counts; what is no label is asked for once only."""
    judge = Judge(lambda *_: reply, style="completion")
    value = labelled(judge)
    assert label == value["label"]
    assert (label is None) == value["reason"].startswith("no label: ")
    assert 1 == len(judge.prompts)
