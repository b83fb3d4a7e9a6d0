"""Annotators: what metrics need to know of a text, found once and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, Message, PromptStyle, Response

__all__ = [
    "Annotator",
    "AnswerAnnotator",
    "Ask",
    "AskingAnnotator",
    "Role",
    "called",
    "is_calibrated",
]

Role: TypeAlias = Literal["judge", "translator"]
"""Whom an annotator asks: ``--xling-judge`` and ``--xling-translator`` name their models."""


class Annotator(Protocol):
    """Annotates texts in batches; a frozen dataclass whose fields are its parameters."""

    name: ClassVar[str]
    version: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]]
    """Distributions whose version may change a value; they stand in the signature."""

    def annotate(self, texts: Sequence[str], languages: Sequence[str]) -> list[JsonValue]:
        """Return one value per text, in order.

        ``languages[i]`` is the language ``texts[i]`` should be in.
        """
        ...


class AnswerAnnotator(Protocol):
    """Annotates answers in batches, knowing what was asked; else as :class:`Annotator`.

    It may name in ``needs`` (as any annotator may) the annotators whose output it reads; answers
    then come with that.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]]

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return all of *answer* that determines its annotation."""
        ...

    def annotate(self, answers: Sequence[Answer]) -> list[JsonValue]:
        """Return one value per answer, in order; on a batch what it gives one by one."""
        ...


class Ask(Protocol):
    """Puts a question to the model of a role.

    Answers are kept, retried, limited and paid for as those of the model under test: asking the
    same again costs nothing. Calls made side by side (``asyncio.gather``) go out together.
    """

    style: PromptStyle
    """How that model wants to be asked."""
    structured: bool
    """Whether its provider takes ``response_format``, a JSON schema of the reply."""

    async def __call__(
        self, messages: Sequence[Message], *, params: Mapping[str, JsonValue] = ..., repeat: int = 0
    ) -> Response:
        """Return what the model answers; it is told neither the sample nor the language.

        Args:
            messages: one user turn for the styles ``completion`` and ``translation``.
            params: ``max_tokens``, ``temperature``, ``top_p``, ``seed``, ``stop``; where it is
                ``structured`` also ``response_format``; for the style
                ``translation`` also ``source_language`` and ``target_language``, codes of ours.
            repeat: another one asks the same anew.

        Raises:
            ProviderFault, BudgetExceeded: nothing was answered.
        """
        ...


class AskingAnnotator(Protocol):
    """Annotates one answer by asking a model; a frozen dataclass whose fields are its parameters.

    That model stands in the signature. Faults of the model are let through: they are errors of
    the case, and nothing is kept. Many run at once.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    libraries: ClassVar[tuple[str, ...]]
    asks: ClassVar[Role]

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return all of *answer* that determines its annotation."""
        ...

    async def annotate(self, answer: Answer, ask: Ask) -> JsonValue:
        """Return the annotation of *answer*."""
        ...


def called(annotator: type) -> str:
    """Return what to call an annotator where people read of it.

    A judge is a model that is asked; any other says in ``called`` what it is.
    """
    if getattr(annotator, "asks", None) == "judge":
        return "the judge"
    name: str = getattr(annotator, "called", "the detector")
    return name


def is_calibrated(annotator: str) -> bool:
    """Tell whether there are labelled answers that the annotator called so can be measured on.

    These are the ones that find stances.
    """
    return annotator.startswith("stance_")
