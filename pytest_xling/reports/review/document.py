"""What raters are given to label: answers drawn from a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pytest_xling.keys import content_key
from pytest_xling.languages import find
from pytest_xling.store.cases import texts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord
    from pytest_xling.reports.review.population import Drawn, Judged, Population, Stratum
    from pytest_xling.reports.review.scheme import Scheme

FORMAT: Final = "xling-review"
VERSION: Final = 1
"""Raised whenever a reader of what raters save would have to change."""
_ENGLISH: Final = "en"
_HEX: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An answer as it is shown."""

    judged: Judged
    weight: float
    question: str
    claim: str
    """Where a stance is asked for; "" elsewhere, or where it is not known."""
    reference: str
    """Not where a stance is asked for, since it says what is true; "" where it is not known."""
    veracity: str
    """"" unless asked for."""
    answer: str

    @property
    def digest(self) -> str:
        """What tells the answer from any other; stands beside its label."""
        return answer_digest(self.question, self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Items to be labelled, and what they are a sample of."""

    run: RunRecord
    scheme: Scheme
    seed: int
    population: int
    strata: Mapping[Stratum, tuple[int, int]]
    """How many answers there are, and how many are items."""
    items: tuple[Item, ...]
    asks: ClassVar = "labels"

    @property
    def title(self) -> str:
        """What the page is called."""
        return f"Review of {self.scheme.metric}, run {self.run.run_id}"

    @property
    def id(self) -> str:
        """The same for the same items of one run, judged in the same way; told from any other."""
        named: JsonValue = [
            self.run.run_id,
            self.run.created_at,
            self.scheme.benchmark,
            self.scheme.metric,
            self.scheme.signature,
            [item.judged.case_id for item in self.items],
        ]
        return review_id(named)

    def as_json(self) -> dict[str, Any]:
        """Return the review as the page reads it."""
        scheme = self.scheme
        return {
            "format": FORMAT,
            "version": VERSION,
            "id": self.id,
            "run": self.run.run_id,
            "model": self.run.model,
            "benchmark": scheme.benchmark,
            "metric": scheme.metric,
            "kind": scheme.kind,
            "signature": scheme.signature,
            "labeller": scheme.labeller,
            "seed": self.seed,
            "population": self.population,
            "asked": scheme.question,
            "labels": [{"name": name, "meaning": scheme.meanings[name]} for name in scheme.labels],
            "languages": languages_of({item.judged.language for item in self.items}),
            "strata": [
                {"language": language, "said": label, "answers": answers, "drawn": drawn}
                for (language, label), (answers, drawn) in sorted(self.strata.items())
            ],
            "items": [
                {
                    "case": item.judged.case_id,
                    "language": item.judged.language,
                    "weight": item.weight,
                    "question": item.question,
                    "claim": item.claim,
                    "reference": item.reference,
                    "veracity": item.veracity,
                    "answer": item.answer,
                    "digest": item.digest,
                    "judge": item.judged.label,
                    "reasoning": item.judged.reasoning,
                }
                for item in self.items
            ],
        }


def review_id(named: JsonValue) -> str:
    """Return the short name of a review that all of *named* makes what it is."""
    return content_key(named).hex()[:_HEX]


def answer_digest(question: str, answer: str) -> str:
    """Return what is the same for the same answer to the same question only."""
    return content_key([question, answer]).hex()[:_HEX]


def languages_of(codes: Collection[str]) -> dict[str, dict[str, str]]:
    """Return what the page needs to know of languages, by their codes."""
    languages = {code: find(code) for code in sorted(codes)}
    return {
        code: {"name": language.english_name, "dir": language.direction}
        for code, language in languages.items()
    }


def draw_review(
    connection: Connection,
    run: RunRecord,
    scheme: Scheme,
    population: Population,
    drawn: Sequence[Drawn],
    *,
    seed: int,
    veracity: bool = False,
) -> Review:
    """Return a review of what was drawn.

    Args:
        connection: to the store.
        run: the run.
        scheme: what people are asked.
        population: what can be reviewed.
        drawn: the sample.
        seed: of the draw.
        veracity: tell raters whether claims are true.
    """
    texts = texts_of(
        connection,
        run.run_id,
        benchmark=scheme.benchmark,
        case_ids=[draw.name for draw in drawn],
    )
    items = []
    for draw in drawn:
        judged_answer = population.items[draw.name]
        question, reference, answer = texts[draw.name]
        known = judged_answer.metadata
        stance = scheme.kind == "stance"
        items.append(
            Item(
                judged=judged_answer,
                weight=draw.weight,
                question=question,
                claim=known.get("claim", "") if stance else "",
                reference="" if stance else reference or known.get("reference", ""),
                veracity=known.get("veracity", "") if veracity else "",
                answer=answer,
            )
        )
    sizes = population.sizes()
    return Review(
        run=run,
        scheme=scheme,
        seed=seed,
        population=len(population.items),
        strata={
            stratum: (answers, sum(item.judged.stratum == stratum for item in items))
            for stratum, answers in sizes.items()
        },
        items=tuple(items),
    )


def english_claims(items: Iterable[Judged]) -> dict[str, str]:
    """Return the English texts of claims, by sample."""
    return {
        item.sample_id: item.metadata["claim"]
        for item in items
        if item.language == _ENGLISH and item.metadata.get("claim")
    }
