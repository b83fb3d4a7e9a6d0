"""Ask a judge, and once more where its reply holds no verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from pytest_xling.errors import ConfigError
from pytest_xling.judging.shots import one_line, read_shots
from pytest_xling.judging.verdict import CUT_OFF, Form, Verdict, continued
from pytest_xling.records import Message
from pytest_xling.text.display import printable, shorten
from pytest_xling.text.fence import NOTE, fenced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Response

Read = TypeVar("Read")
Turn: TypeAlias = "tuple[str, Mapping[str, JsonValue], Callable[[Response], Read]]"
"""A prompt, its parameters, and what reads the reply or raises UnreadableError."""
_CONTINUED_TOKENS = 8
_LONGEST_SHOWN = 4_000
_QUOTED = 80
NO_REPLY = {"content_filter", "refusal", "error"}
"""Reasons to stop after which there is no reply, even where a filter let some text through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shots:
    """Judged examples that a base model continues: enough to see that everything runs, no more."""

    path: Path
    """A JSON object a line: texts by their names, and the label."""
    label: str
    """The key of the label."""
    cue: str
    """The line that the label continues."""
    first_words: Mapping[str, str]
    """What a base model's label may begin with, and the label."""
    line_chars: int = 500
    """A base model that runs on a CPU reads slowly, and not much: longer lines are cut here."""

    def completion(self, texts: Mapping[str, str]) -> str:
        """Return the examples and *texts*, whose label is open."""
        shots = (
            self._entry({name: shot[name] for name in texts}) + f" {shot[self.label]}\n\n"
            for shot in read_shots(self.path)
        )
        return "".join(shots) + self._entry(texts)

    def _entry(self, texts: Mapping[str, str]) -> str:
        lines = [f"{name.capitalize()}: {text}" for name, text in texts.items()]
        return "\n".join([*(one_line(line, limit=self.line_chars) for line in lines), self.cue])


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a judge is to find out, for each prompt style."""

    task: str
    """What it is about; stands before the texts."""
    warning: str
    """What a text gains by speaking to the judge: nothing."""
    parts: Mapping[str, str]
    """The texts by name; each is fenced, under its name in capitals."""
    how: str
    """How to judge, and what the labels mean; stands behind the texts."""
    reasons: str
    """What the judge's reasoning is about."""
    labels: tuple[str, ...]
    shots: Shots
    """For a base model."""
    continued: Mapping[str, str] | None = None
    """The texts a base model reads, where not all *parts*."""

    @property
    def completion(self) -> str:
        """For a base model: a few examples and a line that the label continues."""
        return self.shots.completion(self.continued or self.parts)

    def prompt(self, *, repair: str = "", earlier: str = "") -> tuple[str, Form]:
        """Return the user turn for a chat model, and the form of its reply.

        Args:
            repair: what was wrong with an earlier reply, in words of ours; "" for none.
            earlier: that reply; it is shown as data, since it may quote what it judged.
        """
        parts = {name.upper(): text for name, text in self.parts.items()}
        parts |= {"EARLIER REPLY": earlier} if repair else {}
        texts = "\n\n".join(fenced(parts).values())
        asked = f"{self.task}\n\n{NOTE} {self.warning}\n\n{texts}\n\n{self.how}\n\n"
        if repair:
            asked += (
                f"You were asked this before, but your earlier reply cannot be read: {repair}. "
                "Judge anew. "
            )
        form = Form.of(asked, labels=self.labels, reasons=self.reasons)
        return asked + form.instructions, form


class UnreadableError(Exception):
    """A reply that cannot be read; says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[Read]):
    """What was read, or what is wrong with the reply."""

    response: Response
    read: Read | None = None
    wrong: str = ""

    @property
    def why(self) -> str:
        """Why nothing was read, quoting the reply."""
        if self.response.stop_reason in NO_REPLY:
            # Also with a verdict in what a filter let through: it need not be the last word.
            stopped = self.response.stop_reason.replace("_", " ")
            return quoting(f"the judge did not reply ({stopped})", self.response)
        return quoting(f"the judge's reply cannot be read, {self.wrong}", self.response)


async def replied(
    ask: Ask, turn: Callable[[Reply[Read] | None], Turn[Read]]
) -> tuple[Reply[Read], Reply[Read]]:
    """Return the first and the last of a judge's replies: there are two where one is unreadable.

    A base model says the same again, so it is asked once.

    Args:
        ask: puts a turn to the judge.
        turn: makes it, at first of None, then of the reply that cannot be read.

    Raises:
        ConfigError: the judge's model can only translate.
        ProviderFault, BudgetExceeded: nothing was answered.
    """
    if ask.style == "translation":
        msg = "the model named by --xling-judge only translates; name one that answers prompts"
        raise ConfigError(msg)

    async def reply(unread: Reply[Read] | None) -> Reply[Read]:
        prompt, params, read = turn(unread)
        response = await ask((Message(role="user", content=prompt),), params=params)
        if response.stop_reason in NO_REPLY:
            return Reply(response=response)
        try:
            return Reply(response=response, read=read(response))
        except UnreadableError as error:
            return Reply(response=response, wrong=str(error))

    first = await reply(None)
    return first, await reply(first) if first.wrong and ask.style != "completion" else first


async def judged(
    question: Question, *, ask: Ask, params: Mapping[str, JsonValue], structured: bool
) -> Verdict:
    """Return a judge's verdict; without one, why, quoting the reply.

    Args:
        question: what to find out.
        ask: puts it to the judge.
        params: of a chat model.
        structured: ask for the form by its schema, too, where the judge's provider takes one.
    """

    def turn(unread: Reply[Verdict] | None) -> Turn[Verdict]:
        if ask.style == "completion":
            words = question.shots.first_words
            limits: dict[str, JsonValue] = {"temperature": 0.0, "max_tokens": _CONTINUED_TOKENS}
            return (
                question.completion,
                {**limits, "stop": ["\n"]},
                lambda each: _readable(continued(each, first_words=words)),
            )
        earlier = shorten(unread.response.text or "", limit=_LONGEST_SHOWN) if unread else ""
        prompt, form = question.prompt(repair=unread.wrong if unread else "", earlier=earlier)
        schema = {"response_format": form.response_format} if structured and ask.structured else {}
        return prompt, {**params, **schema}, lambda each: _readable(form.verdict(each))

    first, last = await replied(ask, turn)
    reply = first if last.response.stop_reason in NO_REPLY else last
    if (verdict := reply.read) is not None:
        wrong = quoting(verdict.wrong, reply.response) if verdict.wrong else ""
        return replace(verdict, wrong=wrong)
    if reply.response.stop_reason == "length" and reply.wrong != CUT_OFF:
        wrong = f"the judge's reply was cut off at the token limit, and {reply.wrong}"
        return Verdict(wrong=quoting(wrong, reply.response), unparsed=True)
    return Verdict(wrong=reply.why, unparsed=bool(reply.wrong))


def _readable(verdict: Verdict) -> Verdict:
    if verdict.unparsed:
        raise UnreadableError(verdict.wrong)
    return verdict


def quoting(wrong: str, response: Response) -> str:
    """Return *wrong* with the beginning of the reply, or of the error, where there is one."""
    quoted = printable(response.text or response.error or "", limit=_QUOTED)
    return f"{wrong}: {quoted!r}" if quoted else wrong
