"""What annotators share that ask a judge."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.interfaces.annotator import AskingAnnotator
from pytest_xling.judging.asking import judged
from pytest_xling.text.answer_text import PairAnnotator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.judging.asking import Question
    from pytest_xling.judging.verdict import Verdict
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer
    from pytest_xling.text.answer_text import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingAnnotator(AskingAnnotator):
    """Asks a judge."""

    display_name = "the judge"
    asks = "judge"
    minimums: ClassVar[Mapping[str, float]] = {"max_tokens": 1, "max_chars": 1}

    temperature: float | None = 0.0
    """None leaves it to the model: some take no other."""
    max_tokens: int = 2048
    """Of a chat model's reply, with what it thinks before."""
    max_chars: int = 50_000
    """No judge is asked about texts that are longer."""
    structured: bool = True
    """Ask by JSON schema, too, where the judge's provider takes one."""

    @property
    def params(self) -> dict[str, JsonValue]:
        """The parameters of a chat model."""
        return {"temperature": self.temperature, "max_tokens": self.max_tokens}

    def too_long(self, texts: Mapping[str, str]) -> str:
        """Say which of *texts*, by name, no judge is asked about for its length; "" for none."""
        return too_long(texts, max_chars=self.max_chars)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabellingJudge(JudgingAnnotator):
    """Asks a judge for labels, with its reasoning.

    A chat model gives its reasoning, then the label under a key that nothing it reads can know, so
    that what it quotes is no label; where its reply has none it is asked once more, and what cannot
    be read then is unparsed. A judge that declines, or is filtered, gives no label and is not
    unparsed. A base model only continues a few examples: enough to see that everything runs, no
    more.
    """

    calibrated = True
    unlabelled: ClassVar[str] = "not judged: "
    """What stands before the reason why a judge gave no label."""

    def read(self, answer: Answer) -> Any:  # noqa: ANN401  what `questions` takes
        """Return what the judge reads of *answer*; where nobody is asked, the reason in words."""
        raise NotImplementedError

    def questions(self, read: Any) -> Mapping[str, Question]:  # noqa: ANN401  what `read` gave
        """Return what a judge is asked of what was read, by aspect."""
        raise NotImplementedError

    def value(self, verdicts: Mapping[str, Verdict]) -> JsonValue:
        """Return the value that *verdicts* come to."""
        return self.labelled_value(
            {aspect: verdict.label for aspect, verdict in verdicts.items()},
            reason="; ".join(
                f"{aspect}{' ' if aspect else ''}{self.unlabelled}{verdict.wrong}"
                for aspect, verdict in verdicts.items()
                if verdict.wrong
            ),
            reasoning={aspect: verdict.reasoning for aspect, verdict in verdicts.items()},
            unparsed=any(verdict.unparsed for verdict in verdicts.values()),
        )

    async def annotate(self, answer: Answer, ask: Ask) -> JsonValue:
        """Return the labels a judge gives *answer*, and its reasoning.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        read = self.read(answer)
        if isinstance(read, str):
            return self.without_label(read)
        questions = self.questions(read)
        # Side by side: each is a question of its own, so that none leads to the next.
        verdicts = await asyncio.gather(
            *(
                judged(question, ask=ask, params=self.params, structured=self.structured)
                for question in questions.values()
            )
        )
        return self.value(dict(zip(questions, verdicts, strict=True)))

    def without_label(self, reason: str) -> JsonValue:
        """Return the value of an answer that no judge is asked about."""
        return self.labelled_value(None, reason=reason)


@dataclass(frozen=True, kw_only=True)  # two bases with slots cannot be combined
class PairJudge(PairAnnotator, LabellingJudge):
    """Asks a judge about an answer, or its translation, beside a text of its sample."""

    called_texts: ClassVar[tuple[str, str] | tuple[()]] = ()
    """What the judge is told the texts are; () for their names in the key of a value."""

    def parts(self, pair: Pair) -> dict[str, str]:
        """Return both texts by what the judge is told they are."""
        names = self.called_texts or self.texts
        return dict(zip(names, (pair.about, pair.response), strict=True))

    def read(self, answer: Answer) -> Pair | str:
        """Return what the judge reads of *answer*; where nobody is asked, the reason in words."""
        pair = self.pair_or_why(answer)
        if isinstance(pair, str):
            return pair
        wrong = self.too_long(self.parts(pair))
        return f"{self.unlabelled}{wrong}" if wrong else pair


def too_long(texts: Mapping[str, str], *, max_chars: int) -> str:
    """Say which of *texts*, by name, has more than *max_chars* characters; "" for none."""
    for name, text in texts.items():
        if len(text) > max_chars:
            return f"the {name} has {len(text)} characters, more than {max_chars}"
    return ""
