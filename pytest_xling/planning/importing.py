"""Convert imported questions and answers to our own layout: rows of ``data`` and transcripts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.text.display import clean
from pytest_xling.text.numbers import amount

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pytest_xling.interfaces.importer import Answer
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Sample

_FIELDS = ("question", "question_english")


def question_row(sample: Sample) -> dict[str, JsonValue]:
    """Return *sample* as a row of our JSONL, from which the same sample is read."""
    row: dict[str, JsonValue] = {"id": sample.id}
    if sample.parallel_id is not None:
        row["parallel_id"] = sample.parallel_id
    row |= {key: sample.prompt[key] for key in _FIELDS if key in sample.prompt}
    if sample.reference is not None:
        row["reference"] = sample.reference
    if sample.wrong:
        row["wrong"] = [text or None for text in sample.wrong]
    english = sample.prompt.get("question_english")
    row |= {
        key: text
        for key, text in sample.metadata.items()
        if (key, text) != ("english", english)  # it is read of question_english
    }
    if own := {key: text for key, text in sample.prompt.items() if key not in _FIELDS}:
        row["prompt"] = {**own}
    return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The answers of one model, and notices about them."""

    model: str
    rows: list[dict[str, JsonValue]] = field(default_factory=list)
    """As the provider ``transcript`` reads them."""
    repairs: Counter[str] = field(default_factory=Counter)

    def counts(self, *, asked: bool = True) -> Counter[tuple[JsonValue, JsonValue]]:
        """Return by sample and language how many answers there are, or how many nobody asked."""
        return Counter(
            (row["sample_id"], row["language"])
            for row in self.rows
            if row.get("asked", True) is asked
        )

    def summary(self) -> str:
        """Say how many answers there are."""
        answers = self.counts()
        languages = len({language for _, language in answers})
        return f"{amount(answers.total(), 'answer')} in {amount(languages, 'language')}"

    def notices(self) -> list[str]:
        """Return notices: how to ask for all answers, what is missing, and what was repaired."""
        answers, left_out = self.counts(), self.counts(asked=False)
        most, fewer = max(answers.values()), len(left_out.keys() & answers.keys())
        notices = []
        if most > 1:
            to = f"to each of {len(answers):,} questions"
            notices.append(f"{'up to ' if fewer else ''}{most} {to}: add --xling-samples={most}")
        if left_out:
            none = len(left_out) - fewer
            parts = [f"{amount(none, 'question')} {_has(none)} no answer"] if none else []
            if fewer:
                parts.append(f"{amount(fewer, 'question')} {_has(fewer)} fewer than {most}")
            notices.append(
                f"{left_out.total():,} of {len(self.rows):,} were not asked and are left out: "
                + ", ".join(parts)
            )
        if errors := sum(row["text"] is None and "asked" not in row for row in self.rows):
            notices.append(f"{amount(errors, 'answer')} {_has(errors)} an error in place of a text")
        return notices + [f"{count:,}: {repair}" for repair, count in self.repairs.items()]


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def transcripts(
    answers: Iterable[Answer],
    *,
    questions: Collection[tuple[str, str]] = (),
    answers_by: str | None = None,
) -> list[Transcript]:
    """Return the transcripts of all models, sorted by name, or of one.

    A question without an answer of the model, or with fewer than its others, gets rows that say so
    (``asked`` is false), by which a run leaves it out and counts it.

    Args:
        answers: all that are stored.
        questions: ids and languages of those that were asked.
        answers_by: the model's name, in any case; the host in parentheses after it may be left out:
            ``Llama 3 70B`` for ``Llama 3 70B (together.ai)``.

    Raises:
        ConfigError: there is no such model; lists those there are.
        DataError: an answer is there twice.
    """
    chosen = None if answers_by is None else _folded(answers_by)
    by_model: dict[str, dict[tuple[str, str], dict[str, Answer]]] = {}
    for answer in answers:
        of_model = by_model.setdefault(answer.model, {})
        if chosen is not None and chosen not in _names(answer.model):
            continue  # its texts need no memory
        of_question = of_model.setdefault((answer.sample_id, answer.language), {})
        number = str(len(of_question)) if answer.number is None else answer.number
        if (other := of_question.setdefault(number, answer)) is not answer:
            msg = (
                f"{answer.place}: the answer {number}{' ' if number else ''}of {answer.model!r} to "
                f"{answer.sample_id!r} in {answer.language!r} is already at {other.place}; keep "
                "one, or give each its own number"
            )
            raise DataError(msg)
    models = (
        sorted(by_model) if chosen is None else [_find_model(str(answers_by), sorted(by_model))]
    )
    return [_transcript(model, by_model[model], questions) for model in models]


def _transcript(
    model: str,
    answers: Mapping[tuple[str, str], Mapping[str, Answer]],
    questions: Collection[tuple[str, str]],
) -> Transcript:
    transcript = Transcript(model=model)
    most = max(map(len, answers.values()))
    for key in (*answers, *(key for key in questions if key not in answers)):
        stored = _in_order(answers.get(key, {}))
        numbered = most > 1 or any(answer.number != "" for answer in stored)
        for repeat in range(most):
            row: dict[str, JsonValue] = {"sample_id": key[0], "language": key[1], "text": None}
            row |= {"repeat": repeat} if numbered else {}
            if repeat < len(stored):
                answer = stored[repeat]
                row |= {
                    "text": None if answer.text is None else clean(answer.text),
                    "stop_reason": answer.stop_reason,
                    "model": model,
                }
                row |= {"error": answer.error} if answer.error else {}
                transcript.repairs.update([answer.repair] if answer.repair else [])
            else:
                row |= {"model": model, "asked": False}
            transcript.rows.append(row)
    return transcript


def _in_order(answers: Mapping[str, Answer]) -> list[Answer]:
    """Return the answers to one question by their numbers, unsorted where one is no number."""
    if all(number.isascii() and number.isdecimal() for number in answers):
        return [answers[number] for number in sorted(answers, key=int)]
    return [*answers.values()]


def _find_model(answers_by: str, models: list[str]) -> str:
    """Return the one of *models* called *answers_by*, in full or without its host."""
    chosen = _folded(answers_by)
    matches = [name for name in models if _folded(name) == chosen] or [
        name for name in models if chosen in _names(name)
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        msg = f"{answers_by!r} may mean {' or '.join(matches)}; give the name in full"
        raise ConfigError(msg)
    suggestion = did_you_mean(chosen, [_names(name)[-1] for name in models])
    known = ", ".join(models) or "nobody"
    msg = f"no answers by {answers_by!r} here.{suggestion} There are answers by: {known}"
    raise ConfigError(msg)


def _names(model: str) -> tuple[str, str]:
    """Return the names of *model*: in full, and without a host in parentheses."""
    return _folded(model), _folded(re.sub(r"\s*\([^()]*\)$", "", model))


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())
