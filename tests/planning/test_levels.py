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

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.planning.prompts import Prompts

CLAIM = Sample(
    id="c07",
    benchmark="b",
    language="en",
    prompt={"claim": "tea cures colds", "claim_topic": "tea as a cure for {colds}"},
    reference="false",
    metadata={"veracity": "false"},
)
TEMPLATES = {level: tuple(f"{level} {n}: {{claim}}?" for n in range(5)) for level in LEVELS}
HEAD = 'chat: "{question}"\nexpand: levels\n'


def lines(code: str, *, templates: int = 2, skip: str = "") -> str:
    """Return the templates of one language as they stand in prompts.yaml."""
    rows = [f"  {code}:"]
    for level in LEVELS:
        if level != skip:
            rows += [f"    {level}:", *(f'      - "{n} {{claim}}?"' for n in range(templates))]
    return "\n".join(rows) + "\n"


def test_a_claim_is_asked_about_at_each_level() -> None:
    """Five samples with their query, level and template, all of one cluster."""
    made = levels_of(CLAIM, TEMPLATES, seed=0)
    assert [f"c07-l{n}" for n in range(5)] == [one.id for one in made]
    assert [0, 1, 2, 3, 4] == [one.level for one in made]
    assert {"c07"} == {one.parallel_id for one in made}
    assert {"false"} == {one.reference for one in made}
    for level, one in zip(LEVELS, made, strict=True):
        number = int(one.metadata["template"]) - 1
        assert f"{level} {number}: tea cures colds?" == one.prompt["question"]
        assert one.metadata["level"] == one.prompt["level"]


def test_languages_are_asked_in_parallel_words() -> None:
    """The same claim takes the same templates in another language."""
    other = replace(CLAIM, language="es", prompt={"claim": "el té cura"})
    numbers = [
        [one.metadata["template"] for one in levels_of(sample, TEMPLATES, seed=4)]
        for sample in (CLAIM, other)
    ]
    assert numbers[0] == numbers[1]


def test_braces_in_a_claim_stay() -> None:
    """What a claim says is no template."""
    templates = dict.fromkeys(LEVELS, ("about {claim_topic}",))
    made = levels_of(CLAIM, templates, seed=0)
    assert {"about tea as a cure for {colds}"} == {one.prompt["question"] for one in made}


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


def test_templates_are_read_by_language(prompts_of: Callable[[str], Prompts]) -> None:
    """By the language's code, whatever alias the file has."""
    prompts = prompts_of(f"{HEAD}levels:\n{lines('en')}{lines('iw')}")
    assert {"en", "he"} == prompts.levels.keys()
    assert ("0 {claim}?", "1 {claim}?") == prompts.levels["he"]["mild"]
    assert prompts.level_templates(CLAIM) == prompts.levels["en"]


def test_a_language_without_templates_is_refused(prompts_of: Callable[[str], Prompts]) -> None:
    """And so is a field that the claim lacks."""
    prompts = prompts_of(f"{HEAD}levels:\n{lines('en')}")
    with pytest.raises(ConfigError, match="no templates in the language 'es'"):
        prompts.level_templates(replace(CLAIM, language="es"))
    with pytest.raises(ConfigError, match="names the field 'claim', which claim 'c07' lacks"):
        prompts.level_templates(replace(CLAIM, prompt={"question": "Why?"}))
