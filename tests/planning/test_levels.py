"""Claims asked about at every level of presupposition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.errors import ConfigError
from pytest_xling.planning.expand import levels_of, template_number
from pytest_xling.records import Sample
from pytest_xling.text.stance import LEVELS
from tests.planning.bread import level_templates

if TYPE_CHECKING:
    from tests.planning.bread import Bread

CLAIM = Sample(
    id="c07",
    benchmark="b",
    language="en",
    prompt={"claim": "tea cures colds"},
    reference="false",
    metadata={"veracity": "false"},
)
TEMPLATES = {level: tuple(f"{level} {n}: {{claim}}?" for n in range(5)) for level in LEVELS}
HEAD = 'chat: "{question}"\nexpand: levels\n'


def test_a_claim_is_asked_about_at_each_level() -> None:
    """Five samples with their query, level and template, all of one cluster."""
    made = levels_of(CLAIM, TEMPLATES, seed=0)
    assert [(f"c07-l{n}", n, "c07", "false") for n in range(5)] == [
        (one.id, one.level, one.parallel_id, one.reference) for one in made
    ]
    for level, one in zip(LEVELS, made, strict=True):
        number = int(one.metadata["template"]) - 1
        assert f"{level} {number}: tea cures colds?" == one.prompt["question"]
        assert one.metadata["level"] == one.prompt["level"]


def test_languages_are_asked_in_parallel_words() -> None:
    """The same claim takes the same templates in another language, and its braces stay."""
    other = replace(CLAIM, language="es", prompt={"claim": "el {té} cura"})
    ours, others = (levels_of(sample, TEMPLATES, seed=4) for sample in (CLAIM, other))
    assert [one.metadata["template"] for one in ours] == [o.metadata["template"] for o in others]
    assert all(one.prompt["question"].endswith(": el {té} cura?") for one in others)


@given(st.text(min_size=1, max_size=8), st.integers(0, 4), st.integers(0, 99), st.integers(1, 9))
def test_a_template_number_is_one_of_those_there_are(
    claim: str, level: int, seed: int, of: int
) -> None:
    """And the same one again for the same claim, level and seed."""
    number = template_number(claim, level, seed=seed, of=of)
    assert number in range(of)
    assert number == template_number(claim, level, seed=seed, of=of)


def test_templates_are_mixed_over_claims() -> None:
    """Each of five is used about as often as the others."""
    used = [template_number(f"c{n}", level, seed=0, of=5) for n in range(400) for level in range(5)]
    assert all(300 < used.count(number) < 500 for number in range(5))


def test_templates_are_read_by_language(bread: Bread) -> None:
    """By the language's code, whatever alias the file has."""
    prompts = bread.prompts(f"{HEAD}levels:\n{level_templates('en')}{level_templates('iw')}")
    assert {"en", "he"} == prompts.levels.keys()
    assert ("0 {claim}?", "1 {claim}?") == prompts.levels["he"]["mild"]
    assert prompts.level_templates(CLAIM) == prompts.levels["en"]


def test_a_language_without_templates_is_refused(bread: Bread) -> None:
    """And so is a field that the claim lacks."""
    prompts = bread.prompts(f"{HEAD}levels:\n{level_templates('en')}")
    with pytest.raises(ConfigError, match="no templates in the language 'es'"):
        prompts.level_templates(replace(CLAIM, language="es"))
    with pytest.raises(ConfigError, match="names the field 'claim', which claim 'c07' lacks"):
        prompts.level_templates(replace(CLAIM, prompt={"question": "Why?"}))
