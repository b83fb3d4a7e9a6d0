"""A judge's reply is read strictly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.annotators.correctness_label.prompts import LABELS
from pytest_xling.annotators.correctness_label.reply import continued, structured

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


def says(label: str) -> str:
    """Return a reply in form."""
    return json.dumps({"reasoning": "Both name two litres.", "label": label})


@pytest.mark.parametrize(
    "reply",
    [
        says("dissimilar"),
        f"\n  {says('dissimilar')}\n",
        f"```json\n{says('dissimilar')}\n```",
        f"```\n{says('dissimilar')}```",
        f"<think>Is it {{contradictory}}?\n</think>\n\n{says('dissimilar')}",
        '{"label": "dissimilar",\n "reasoning": "Off the point. \\ud800"}',
    ],
)
def test_replies_in_form(reply: str) -> None:
    """One JSON object, bare or in a code fence, perhaps after thoughts."""
    verdict = structured(reply)
    assert ("dissimilar", "") == (verdict.label, verdict.wrong)
    verdict.reasoning.encode()


GARBAGE = {
    "": "it is empty",
    "<think>hm</think>": "it is empty",
    "contradictory": "not one JSON object alone",
    f"Here you are: {says('dissimilar')}": "not one JSON object alone",
    f"{says('dissimilar')}\n{says('dissimilar')}": "not one JSON object alone",
    f"{says('dissimilar')} I hope this helps.": "not one JSON object alone",
    "{'reasoning': 'r', 'label': 'dissimilar'}": "not one JSON object alone",
    '{"reasoning": "r", "label": "dissimilar"': "not one JSON object alone",
    f"[{says('dissimilar')}]": "with the keys reasoning and label",
    '"dissimilar"': "with the keys reasoning and label",
    "null": "with the keys reasoning and label",
    '{"label": "dissimilar"}': "with the keys reasoning and label",
    '{"reasoning": "r", "label": "dissimilar", "score": 1}': "with the keys reasoning and label",
    '{"reasoning": "r", "label": "dissimilar", "label": "contradictory"}': "a key occurs twice",
    '{"reasoning": NaN, "label": "dissimilar"}': "NaN is not JSON",
    '{"reasoning": "", "label": "dissimilar"}': "its reasoning is no text",
    '{"reasoning": ["r"], "label": "dissimilar"}': "its reasoning is no text",
    says("Dissimilar"): "its label is none of the four",
    says("dissimilar "): "its label is none of the four",
    says("more_comprehensive, contradictory"): "its label is none of the four",
    '{"reasoning": "r", "label": ["dissimilar"]}': "its label is none of the four",
    '{"reasoning": "r", "label": null}': "its label is none of the four",
    "[" * 100_000: "not JSON that can be read",
    "9" * 10_000: "not JSON that can be read",
    "x" * 100_001: "more than 100000 characters",
}


@pytest.mark.parametrize("reply", GARBAGE, ids=[str(n) for n in range(len(GARBAGE))])
def test_replies_that_are_none(reply: str) -> None:
    """What is not exactly in form is no label, and the reason says how."""
    verdict = structured(reply)
    assert (None, "") == (verdict.label, verdict.reasoning)
    assert GARBAGE[reply] in verdict.wrong


@settings(deadline=None, max_examples=60)
@given(ANY_TEXT | st.recursive(st.none() | st.floats() | ANY_TEXT, st.lists).map(json.dumps))
def test_any_reply_is_read_or_refused(reply: str) -> None:
    """No reply raises anything."""
    for verdict in (structured(reply), continued(reply)):
        assert (verdict.label in LABELS) != bool(verdict.wrong)
