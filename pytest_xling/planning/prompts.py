"""Turn a sample into the messages a provider is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_xling.config.yaml import read_yaml
from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.languages import find, names
from pytest_xling.planning.checks import CHECKS_KEY, read_checks
from pytest_xling.planning.data_map import DATA_KEY, read_data_map
from pytest_xling.planning.design import DESIGN_KEYS, Design
from pytest_xling.planning.expand import ANSWER_LANGUAGE, LEVELS_KEY, read_levels
from pytest_xling.planning.templates import fields_of, wrong_with
from pytest_xling.records import Message

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_xling.config.yaml import YamlFile
    from pytest_xling.interfaces.dataset import DataMap
    from pytest_xling.planning.checks import Check
    from pytest_xling.records import PromptStyle, Sample

__all__ = ["Completion", "Prompts"]

CHAT, COMPLETION = "chat", "completion"
DEFAULT = "default"
"""The completion prompt for languages that have none of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A few-shot prompt for models that only continue text."""

    question: str
    """Label before a question."""
    answer: str
    """Label before an answer."""
    shots: tuple[tuple[str, str], ...]
    template: str | None = None
    """What stands after the question label, with fields in braces; None: the chat prompt."""

    def render(self, question: str) -> str:
        """Return the text a model is to continue with its answer."""
        asked = [f"{self.question} {q}\n{self.answer} {a}\n\n" for q, a in self.shots]
        return "".join(asked) + f"{self.question} {question}\n{self.answer}"

    @property
    def stop(self) -> list[str]:
        """Texts at which the model has begun the next question."""
        return [f"\n{self.question}", "\n\n"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What prompts.yaml says."""

    chat: Mapping[str, str]
    """Templates of the one user turn by language code, and ``default``; they name fields of the
    sample in braces."""
    completion: Mapping[str, Completion]
    """By language code, and ``default``."""
    design: Design
    levels: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Templates of queries by language code and level of presupposition, where there are levels."""
    checks: Mapping[str, type[Check]] = field(default_factory=dict)
    """By name, the flags it declares."""
    data: DataMap | None = None
    """Where the rows are and what their columns are called, where it says that."""

    @classmethod
    def read(cls, path: Path) -> Prompts:
        """Read a prompts.yaml.

        Raises:
            ConfigError: names file, line, key and fix.
        """
        file = read_yaml(path)
        known = (CHAT, COMPLETION, LEVELS_KEY, CHECKS_KEY, DATA_KEY, *DESIGN_KEYS)
        for key in file.data:
            if key not in known:
                what = f"unknown key.{did_you_mean(key, known)} Known: {', '.join(known)}"
                raise file.error(str(key), what=what)
        completion = file.get("completion")
        if completion is not None and not isinstance(completion, dict):
            what = "needs one entry per language code"
            raise file.error(COMPLETION, what=what)
        design = Design.read(file)
        return cls(
            chat=_chat(file),
            completion={
                _language(file, COMPLETION, code): _completion(file, code)
                for code in completion or {}
            },
            design=design,
            levels=read_levels(file, expanded=design.levels),
            checks=read_checks(file),
            data=read_data_map(file),
        )

    def messages(self, sample: Sample, style: PromptStyle) -> tuple[Message, ...]:
        """Return the messages that ask *sample* in *style*."""
        asked = self._asked(sample, style)
        if style == "completion":
            asked = self._completion(sample.language).render(asked)
        return (Message(role="user", content=asked),)

    def stop(self, sample: Sample, style: PromptStyle) -> list[str]:
        """Return the texts at which an answer to *sample* ends; none for chat."""
        return self._completion(sample.language).stop if style == "completion" else []

    def missing_fields(self, sample: Sample) -> list[str]:
        """Return the fields the template names and *sample* lacks."""
        return [name for name in self._fields(sample) if name not in sample.prompt]

    def named_fields(self) -> frozenset[str]:
        """Return all fields that templates and checks name."""
        templates = [
            *self.chat.values(),
            *(form.template or "" for form in self.completion.values()),
            *(
                text
                for levels in self.levels.values()
                for texts in levels.values()
                for text in texts
            ),
        ]
        named = {name for template in templates for name in fields_of(template)}
        return frozenset(named.union(*(check.fields() for check in self.checks.values())))

    def unnamed_answer_language(self, sample: Sample) -> str | None:
        """Return a field of *sample* that asks literally for an answer in {answer_language}."""
        blank = f"{{{ANSWER_LANGUAGE}}}"
        return next((name for name in self._fields(sample) if blank in sample.prompt[name]), None)

    def _fields(self, sample: Sample) -> list[str]:
        """Return the fields that the templates for *sample* name."""
        form = self._completion(sample.language)
        return fields_of(self._chat(sample.language)) + fields_of(form.template or "")

    def names_answer_language(self, sample: Sample) -> bool:
        """Tell whether *sample*, as it is asked, names the language its answer should be in."""
        known = [name.casefold() for name in names(sample.language)]
        asked = [self._asked(sample, style).casefold() for style in (CHAT, COMPLETION)]
        return all(any(name in text for name in known) for text in asked)

    def level_templates(self, sample: Sample) -> Mapping[str, tuple[str, ...]]:
        """Return the templates of the queries about a claim, by level.

        Raises:
            ConfigError: there are none in its language, or one names a field the claim lacks.
        """
        if sample.asked_in not in self.levels:
            listed = ", ".join(sorted(self.levels)) or "none"
            msg = (
                f"levels: there are no templates in the language {sample.asked_in!r} for the claims"
                f" in it; there are: {listed}"
            )
            raise ConfigError(msg)
        templates = self.levels[sample.asked_in]
        for level, texts in templates.items():
            for name in (name for text in texts for name in fields_of(text)):
                if name not in sample.prompt:
                    msg = (
                        f"levels: {sample.asked_in}: {level}: names the field {name!r}, which claim"
                        f" {sample.id!r} lacks; it has: {', '.join(sorted(sample.prompt))}"
                    )
                    raise ConfigError(msg)
        return templates

    def _asked(self, sample: Sample, style: str) -> str:
        """Return what asks *sample* in *style*, without a completion's labels and shots."""
        template = self._chat(sample.language)
        if style == COMPLETION:
            template = self._completion(sample.language).template or template
        return template.format_map(sample.prompt)

    def _chat(self, language: str) -> str:
        return self.chat.get(language) or self.chat[DEFAULT]

    def _completion(self, language: str) -> Completion:
        plain = Completion(question="Question:", answer="Answer:", shots=())
        return self.completion.get(language, self.completion.get(DEFAULT, plain))


def _chat(file: YamlFile) -> dict[str, str]:
    """Read one template, or one per language and a default."""
    chat = file.get(CHAT)
    if not isinstance(chat, dict):
        template = chat if isinstance(chat, str) else ""
        if wrong := wrong_with(template):
            raise file.error(CHAT, what=wrong)
        return {DEFAULT: template}
    templates: dict[str, str] = {}
    for code, value in chat.items():
        text = value if isinstance(value, str) else ""
        if wrong := wrong_with(text):
            raise file.error(CHAT, code, what=wrong)
        templates[_language(file, CHAT, code)] = text
    if DEFAULT not in templates:
        what = f"needs an entry {DEFAULT!r} for languages without one of their own"
        raise file.error(CHAT, what=what)
    return templates


def _language(file: YamlFile, key: str, code: str) -> str:
    if code == DEFAULT:
        return code
    try:
        return find(code).code
    except ConfigError as error:
        raise file.error(key, code, what=str(error)) from error


def _completion(file: YamlFile, code: str) -> Completion:
    at = ("completion", code)
    entry = file.get(*at)
    if not isinstance(entry, dict):
        raise file.error(*at, what="needs question, answer and shots")
    for key in entry:
        if key not in Completion.__slots__:
            what = f"unknown key.{did_you_mean(key, Completion.__slots__)}"
            raise file.error(*at, key, what=what)
    labels = {}
    for key in ("question", "answer"):
        label = entry.get(key)
        if not isinstance(label, str) or not label.strip():
            raise file.error(*at, key, what="needs a label, such as 'Question:'")
        labels[key] = label
    template = entry.get("template")
    if template is not None and (wrong := wrong_with(str(template))):
        raise file.error(*at, "template", what=wrong)
    shots = entry.get("shots") or []
    pairs = []
    if not isinstance(shots, list):
        raise file.error(*at, "shots", what="needs a list of [question, answer] pairs")
    for number, shot in enumerate(shots):
        match shot:
            case [str(question), str(answer)]:
                pairs.append((question, answer))
            case _:
                raise file.error(*at, "shots", number, what="needs a [question, answer] pair")
    return Completion(
        question=labels["question"],
        answer=labels["answer"],
        shots=tuple(pairs),
        template=None if template is None else str(template),
    )
