"""Open the steps that score: metrics, and the annotators they need."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from pytest_xling.engine.annotating import Annotating, AnnotatingAnswers
from pytest_xling.engine.asking import Asking
from pytest_xling.engine.making import parameters_of
from pytest_xling.engine.memo import Memo
from pytest_xling.engine.scoring import Scoring, annotated_with
from pytest_xling.engine.set_scoring import SetScoring
from pytest_xling.errors import XlingError
from pytest_xling.interfaces.annotator import AnswerAnnotator, AskingAnnotator
from pytest_xling.records import Annotation
from pytest_xling.store.runs import signature_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from pytest_xling.engine.making import Making
    from pytest_xling.engine.parties import Parties
    from pytest_xling.engine.scoring import Annotate
    from pytest_xling.engine.store_writer import Ledger
    from pytest_xling.records import Answer

__all__ = ["Steps", "signature"]


class Steps:
    """Opens the memos of metrics and annotators, each once.

    Args:
        ledger: to the store.
        executor: the thread that imports, loads and scores.
        making: what they are made with.
        parties: whom annotators may ask.
    """

    def __init__(
        self, ledger: Ledger, *, executor: Executor, making: Making, parties: Parties
    ) -> None:
        self._ledger = ledger
        self._executor = executor
        self._making = making
        self._parties = parties
        self._memos: dict[tuple[str, str], asyncio.Task[Memo[Any, Any]]] = {}
        self._made: list[Any] = []
        self._needed: dict[str, dict[str, Annotate]] = {}
        """By annotator: those whose output it reads."""

    async def scorer(self, name: str) -> Memo[Any, Any]:
        """Return the memo of a metric."""
        return await self._memo("metric", name)

    async def load(self) -> None:
        """Load what the steps opened so far need for their first batch."""
        loop = asyncio.get_running_loop()
        for made in self._made:
            await loop.run_in_executor(self._executor, made.load)

    async def _memo(self, kind: Literal["annotator", "metric"], name: str) -> Memo[Any, Any]:
        task = self._memos.get((kind, name))
        if task is None:
            task = asyncio.create_task(self._open(kind, name))
            self._memos[kind, name] = task
        return await task

    async def _open(self, kind: Literal["annotator", "metric"], name: str) -> Memo[Any, Any]:
        # Imports take their time; meanwhile the loop goes on.
        loop = asyncio.get_running_loop()
        made = await loop.run_in_executor(self._executor, self._making.make, kind, name)
        self._made.append(made)
        parameters = await loop.run_in_executor(self._executor, parameters_of, made)
        annotators: dict[str, Annotate] = {}
        for need in made.needs:
            parameters[need], annotators[need] = await self.annotator(need)
        if kind == "annotator":
            self._needed[name] = annotators
            if isinstance(made, AskingAnnotator):
                ask = await self._parties.ask(made.asks)
                parameters |= self._parties.identity(made.asks)
                step: Any = Asking(made, parameters=parameters, ask=ask)
            else:
                by_answer = isinstance(made, AnswerAnnotator)
                annotating = AnnotatingAnswers if by_answer else Annotating
                step = annotating(made, parameters=parameters, executor=self._executor)
            return await Memo.open(step, self._ledger)
        scoring = Scoring if made.unit == "answer" else SetScoring
        step = scoring(made, parameters=parameters, annotators=annotators, executor=self._executor)
        return await Memo.open(step, self._ledger)

    async def annotator(self, name: str) -> tuple[str, Annotate]:
        """Return an annotator's signature, and it as a function over answers."""
        memo = await self._memo("annotator", name)
        signed = signature(memo)
        by_text = isinstance(memo.step, Annotating)
        target = memo.step.parameters.get("target")

        async def annotate(answers: Sequence[Answer]) -> list[Annotation | XlingError | None]:
            # Nothing is translated into the language it is in.
            wanted = [i for i, answer in enumerate(answers) if answer.language != target]
            known = await annotated_with(self._needed[name], [answers[i] for i in wanted])
            found: list[Annotation | XlingError | None] = [None] * len(answers)
            ready: list[tuple[int, Any]] = []
            for i, answer in zip(wanted, known, strict=True):
                if isinstance(answer, XlingError):
                    found[i] = answer
                else:
                    ready.append((i, (answer.text, answer.language) if by_text else answer))
            values = await memo.many([given for _, given in ready])
            for (i, _), value in zip(ready, values, strict=True):
                if isinstance(value, XlingError):
                    found[i] = value
                else:
                    found[i] = Annotation(kind=name, value=value, signature=signed)
            return found

        return signed, annotate


def signature(memo: Memo[Any, Any]) -> str:
    """Return the signature of the numbers a step gives."""
    step = memo.step
    return signature_of(step.name, step.version, dict(step.parameters))
