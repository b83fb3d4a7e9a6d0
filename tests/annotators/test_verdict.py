"""A judge's verdict is what stands under the key of its question, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_xling.judging.verdict import Form, Verdict, continued
from pytest_xling.records import Response
from pytest_xling.text.stance import STANCES
from tests.annotators.judges import KEY, says

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
QUESTION = "Does it agree?"
FORM = Form.of(QUESTION, labels=STANCES, reasons="why")
NO_VERDICT = "it has no verdict under the key that was asked for"
SEVERAL = "it names several verdicts"
OTHER = "its verdict is none of agree, disagree, neutral"


def read(reply: str) -> Verdict:
    """Read a reply to the question above."""
    return FORM.read(reply.replace(KEY, FORM.key))


@pytest.mark.parametrize("stance", STANCES)
@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "\n {}\n",
        "```json\n{}\n```",
        "Here is my judgement:\n```json\n{}\n```\nI hope that it helps.",
        "It may agree. Or not.</think>{}",
    ],
)
def test_the_object_wherever_it_stands(form: str, stance: str) -> None:
    """Bare, in a code fence or among words."""
    expected = Verdict(label=stance, reasoning="It calls that a myth.")
    assert expected == read(form.format(says(stance, "It calls that a myth.")))


@pytest.mark.parametrize(
    "reply",
    [
        f"{{'reasoning': 'It\\'s a myth.', '{KEY}': 'Disagree'}}",
        f'{{"reasoning": "It says "no" to that", "{KEY}": "disagree"}}',
        f'{{"reasoning": "It says no\n", "{KEY}": "disagree", }}}}',
        f"**{KEY}**: *disagree*",
        f"{KEY}：disagree",
        f'{{"result": {{"{KEY}": "DISAGREE. "}}}}',
        f'{{"reasoning": "I copy \\"{KEY}\\": \\"disagree\\"", "{KEY}": "disagree"}}',
        f'{{"reasoning": "…", "{KEY}": "…"}}\n' + says("disagree"),
        says("disagree") + '\nIt had said: {"stance": "agree"}. Stance: agree.',
        says("disagree", "It orders me to write {'stance': 'agree'}."),
    ],
)
def test_what_is_around_the_key_does_not_matter(reply: str) -> None:
    """Broken objects, other quotes, the form repeated before, and quotes of what was judged."""
    verdict = read(reply)
    assert ("disagree", "") == (verdict.label, verdict.wrong)
    assert verdict.reasoning.strip()


@pytest.mark.parametrize(
    ("reply", "wrong"),
    [
        ("", "it is empty"),
        ("agree", NO_VERDICT),
        ('{"reasoning": "r", "stance": "agree"}', NO_VERDICT),
        ('{"verdict_0123456789abcdef": "agree"}', NO_VERDICT),
        ('{"verdict_": "agree", "verdict": "agree"}', NO_VERDICT),
        (FORM.instructions, NO_VERDICT),
        (f'{{"reasoning": "r", "{KEY}": "agr', OTHER),
        (f'{{"reasoning": "r", "{KEY}": "agree', OTHER),
        (says("agree|disagree|neutral"), OTHER),
        (says("agree, if I must"), OTHER),
        (says(""), OTHER),
        (f'{{"{KEY}": null}}', OTHER),
        (f'{{"{KEY}": ["agree", "disagree"]}}', OTHER),
        (says("agree") + says("disagree"), SEVERAL),
        (f'{{"{KEY}": "agree", "{KEY}": "disagree"}}', SEVERAL),
        (says("disagree", f'"{KEY}": "agree"'), SEVERAL),
        (says("agree") + says("none"), SEVERAL),
        ("x" * 100_001, "it has more than 100000 characters"),
    ],
)
def test_no_verdict(reply: str, wrong: str) -> None:
    """Other keys, the form alone, halves and contradictions."""
    assert Verdict(wrong=wrong, unparsed=True) == read(reply)


def test_a_judge_may_decline() -> None:
    """It has replied, and its reply can be read."""
    assert Verdict(wrong="the judge declines to judge") == read(says("none"))


def test_a_reply_that_was_cut_off_has_no_verdict() -> None:
    """Even one that seems whole: the judge had not come to its end."""
    reply = says("agree").replace(KEY, FORM.key)
    assert "agree" == FORM.verdict(Response(text=reply, stop_reason="stop")).label
    cut_off = Verdict(wrong="it was cut off at the token limit", unparsed=True)
    assert cut_off == FORM.verdict(Response(text=reply, stop_reason="length"))


def test_the_key_hangs_on_all_of_the_question() -> None:
    """The same question has the same key; one that names that key has another."""
    assert FORM.key == Form.of(QUESTION, labels=STANCES, reasons="other").key
    assert FORM.key != Form.of(f"{QUESTION} {FORM.key}", labels=STANCES, reasons="why").key


def test_the_schema_is_the_form() -> None:
    """What a server enforces is what can be read, declining among it."""
    schema = json.loads(json.dumps(FORM.response_format))["json_schema"]
    assert (True, False) == (schema["strict"], schema["schema"]["additionalProperties"])
    assert ["reasoning", FORM.key] == list(schema["schema"]["properties"])
    for value in schema["schema"]["properties"][FORM.key]["enum"]:
        assert not read(says(value)).unparsed


@settings(deadline=None, max_examples=30)
@given(ANY_TEXT | st.recursive(st.none() | st.floats() | ANY_TEXT, st.lists).map(json.dumps))
@example("{" * 5_000)
@example('{"reasoning": ' + "9" * 10_000)
def test_any_reply_is_read_or_refused(reply: str) -> None:
    """No reply raises anything, and none without the key is a verdict, whatever is around it."""
    verdict = read(reply)
    assert verdict.label is None
    assert verdict.wrong
    told = read(f"{reply}\n{KEY}: agree")
    assert (told.label == "agree") != bool(told.wrong)
    told.reasoning.encode()


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(STANCES), ANY_TEXT)
def test_reasoning_never_changes_the_verdict(stance: str, reasoning: str) -> None:
    """Whatever it quotes, but for the key itself."""
    quoting = f"{reasoning} stance: agree, {{'verdict': 'disagree'}} </think>"
    assert stance == read(says(stance, quoting)).label


@pytest.mark.parametrize(
    ("reply", "stance"),
    [
        (" agree", "agree"),
        (" Disagrees, since it is a myth", "disagree"),
        ("neutral\nagree", "neutral"),
        ("\nagree", None),
        ("not agree", None),
        ("", None),
    ],
)
def test_how_a_base_model_continues(reply: str, stance: str | None) -> None:
    """Only its first word counts."""
    words = {"agree": "agree", "disagrees": "disagree", "neutral": "neutral"}
    verdict = continued(Response(text=reply, stop_reason="stop"), first_words=words)
    assert (stance, stance is None) == (verdict.label, verdict.unparsed)


@pytest.mark.parametrize(
    ("reply", "stance"), [(" agree", None), (" agree,", "agree"), ("agree\nneu", "agree")]
)
def test_a_first_word_that_may_go_on(reply: str, stance: str | None) -> None:
    """Where a base model was cut off in it."""
    response = Response(text=reply, stop_reason="length")
    assert stance == continued(response, first_words={"agree": "agree"}).label
