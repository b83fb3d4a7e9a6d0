"""One sample asked several times: for each answer language, level of presupposition, candidate."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError
from pytest_xling.keys import content_key
from pytest_xling.languages import find
from pytest_xling.planning.templates import wrong_with
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.config.yaml import YamlFile
    from pytest_xling.records import Sample

ANSWER_LANGUAGE = "answer_language"
"""The field that stands for the English name of the language to answer in."""

LEVELS_KEY = "levels"
_ENGLISH = "en"


def read_levels(file: YamlFile, *, expanded: bool) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read the templates of queries by language and level: as many at a level in every language.

    Args:
        file: a prompts.yaml.
        expanded: whether claims are asked about at all levels.

    Raises:
        ConfigError: names file, line, key and fix.
    """
    given = file.get(LEVELS_KEY)
    if not expanded:
        if given is not None:
            raise file.error(LEVELS_KEY, what="means something only with `expand: levels`")
        return {}
    if not isinstance(given, dict) or not given:
        what = "`expand: levels` needs `levels:` with templates by language and level"
        raise file.error("expand" if given is None else LEVELS_KEY, what=what)
    by_language: dict[str, dict[str, tuple[str, ...]]] = {}
    for code, by_level in given.items():
        at = (LEVELS_KEY, code)
        if not isinstance(by_level, dict) or by_level.keys() != set(LEVELS):
            raise file.error(*at, what=f"needs templates at the levels {', '.join(LEVELS)}")
        templates = {level: _templates(file, *at, level) for level in LEVELS}
        for level, texts in templates.items():
            first, others = next(iter(by_language.items()), (code, templates))
            if len(texts) != len(others[level]):
                what = (
                    f"has {len(texts)} templates, and {first} has {len(others[level])}: the same "
                    "one is asked in all languages"
                )
                raise file.error(*at, level, what=what)
        try:
            language = find(code).code
        except ConfigError as error:
            raise file.error(*at, what=str(error)) from error
        if language in by_language:
            raise file.error(*at, what=f"the language {language!r} is there twice; keep one")
        by_language[language] = templates
    return by_language


def _templates(file: YamlFile, *at: str) -> tuple[str, ...]:
    given = file.get(*at)
    if not isinstance(given, list) or not given:
        raise file.error(*at, what="needs a list of templates")
    for number, text in enumerate(given):
        if wrong := wrong_with(text if isinstance(text, str) else ""):
            raise file.error(*at, number, what=wrong.replace("{question}", "{claim}"))
    return tuple(str(text) for text in given)


def answered_in(sample: Sample, language: str) -> Sample:
    """Return *sample* to be answered in *language*, whichever language it is asked in.

    The new sample is called ``<id>-<language asked in>``. Its prompt has the English name of the
    language as ``answer_language``, also wherever the sample's own texts say
    ``{answer_language}``; its metadata has the language of the question as ``asked_in``.
    """
    name = find(language).english_name
    prompt = {
        key: text.replace(f"{{{ANSWER_LANGUAGE}}}", name) for key, text in sample.prompt.items()
    }
    if sample.language == _ENGLISH and "question" in prompt:
        prompt.setdefault("question_english", prompt["question"])
    return replace(
        sample,
        id=f"{sample.id}-{sample.language}",
        language=language,
        prompt={**prompt, ANSWER_LANGUAGE: name},
        parallel_id=sample.parallel_id or sample.id,
        metadata={**sample.metadata, "asked_in": sample.language},
    )


def levels_of(sample: Sample, templates: Mapping[str, Sequence[str]], *, seed: int) -> list[Sample]:
    """Return *sample*, a claim, once for each level: what its query takes for granted.

    The new samples are called ``<id>-l0`` to ``<id>-l4``; their prompt has the query as
    ``question`` and the level as ``level``, and their metadata the level and the template's number.

    Args:
        sample: its prompt has the fields that templates name.
        templates: by level, as many in every language.
        seed: which template is taken depends on it, the claim and the level only, so that parallel
            samples are asked in parallel words.
    """
    made = []
    for level, name in enumerate(LEVELS):
        number = template_number(sample.id, level, seed=seed, of=len(templates[name]))
        query = templates[name][number].format_map(sample.prompt)
        made.append(
            replace(
                sample,
                id=f"{sample.id}-l{level}",
                prompt={**sample.prompt, "question": query, "level": str(level)},
                parallel_id=sample.parallel_id or sample.id,
                metadata={**sample.metadata, "level": str(level), "template": str(number + 1)},
            )
        )
    return made


def template_number(claim: str, level: int, *, seed: int, of: int) -> int:
    """Return which of *of* templates a claim is asked with at a level, counted from 0."""
    return int.from_bytes(content_key([seed, claim, level])[:8]) % of


def turns_of(sample: Sample) -> list[Sample]:
    """Return *sample* once for each reply of the model, so that each is an answer.

    The new samples are called ``<id>-u1`` to the last turn's, which has all turns; their metadata
    has the number as ``turn``. A sample without turns stays as it is.
    """
    if not sample.turns:
        return [sample]
    return [
        replace(
            sample,
            id=f"{sample.id}-u{number + 1}",
            parallel_id=sample.parallel_id or sample.id,
            turns=sample.turns[:number],
            metadata={**sample.metadata, "turn": str(number + 1)},
        )
        for number in range(len(sample.turns) + 1)
    ]


def candidates(sample: Sample, *, seed: int, wrong: int | None = None) -> list[Sample]:
    """Return *sample* once for its reference and once for each wrong answer, mixed.

    The mix depends on the seed and the sample's id only, so parallel samples stay parallel. The
    new samples are called ``<id>-a1`` and so on; their reference, and ``gold`` in their metadata,
    is ``right`` or ``wrong``.

    Args:
        sample: with a reference, wrong answers or both; an empty one only keeps its place.
        seed: of the mix.
        wrong: the most wrong answers any parallel sample has, so that all are mixed alike; None:
            those of this one.
    """
    answers = [] if sample.reference is None else [(0, "right", sample.reference)]
    answers += [(number, "wrong", text) for number, text in enumerate(sample.wrong, start=1)]
    order = list(range(1 + max(wrong or 0, len(sample.wrong))))
    # Not for secrets: the same mix again is what is wanted.
    random.Random(content_key([seed, sample.id])).shuffle(order)  # noqa: S311
    place = {number: at for at, number in enumerate(order, start=1)}
    made = [
        replace(
            sample,
            id=f"{sample.id}-a{place[number]}",
            prompt={**sample.prompt, "answer": text},
            reference=gold,
            wrong=(),
            parallel_id=sample.parallel_id or sample.id,
            metadata={**sample.metadata, "gold": gold},
        )
        for number, gold, text in answers
        if text.strip()
    ]
    return sorted(made, key=lambda candidate: int(candidate.id.rpartition("-a")[2]))
