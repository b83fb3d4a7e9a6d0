"""What raters are given: a page, and the document it reads, of answers drawn from runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pytest_xling.keys import content_key
from pytest_xling.languages import find
from pytest_xling.reports.offline import asset, page
from pytest_xling.store.cases import texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord
    from pytest_xling.reports.review.population import Drawn, Population, Stratum
    from pytest_xling.reports.review.scheme import Scheme

VERSION: Final = 1
"""Raised whenever a reader of what raters save would have to change."""
_HEX: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Answers that people are asked about, and what they are a sample of."""

    asks: Literal["labels", "ratings"]
    title: str
    strata: Mapping[Stratum, tuple[int, int]]
    """How many there are, and how many are drawn."""
    left_out: int = 0
    """How many cannot be asked about."""
    document: Mapping[str, Any]
    """All that the page reads, its items among it."""


def review_page(review: Review) -> str:
    """Return the page for *review*."""
    parts = ("kept", "showing", review.asks, "review")
    program = "".join(asset(f"review/{name}.js") for name in parts)
    return page(
        "review/review.html",
        style=asset("review/review.css"),
        # One scope for all parts, so that nothing of theirs is global.
        script=f'"use strict";\n(() => {{\n{program}}})();\n',
        data=review.document,
        title=review.title,
    )


def new_document(named: JsonValue, codes: set[str], **fields: object) -> dict[str, Any]:
    """Return a document that all of *named* tells from any other, in languages with these codes."""
    languages = {code: find(code) for code in sorted(codes)}
    return {
        "format": "xling-review",
        "version": VERSION,
        "id": _short(named),
        **fields,
        "languages": {
            code: {"name": language.english_name, "dir": language.direction}
            for code, language in languages.items()
        },
    }


def answer_digest(question: str, answer: str) -> str:
    """Return what is the same for the same answer to the same question only."""
    return _short([question, answer])


def _short(named: JsonValue) -> str:
    return content_key(named).hex()[:_HEX]


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
    """Return a review of what was *drawn* from *population* by *seed*.

    With *veracity* raters are told whether claims are true.
    """
    names = [draw.name for draw in drawn]
    texts = texts_of(connection, run.run_id, benchmark=scheme.benchmark, case_ids=names)
    stance = scheme.kind == "stance"
    items = []
    for draw in drawn:
        judged = population.items[draw.name]
        question, reference, answer = texts[draw.name]
        known = judged.metadata
        items.append(
            {
                "case": judged.case_id,
                "language": judged.language,
                "weight": draw.weight,
                "question": question,
                "claim": known.get("claim", "") if stance else "",
                # Of a claim it says whether that is true.
                "reference": "" if stance else reference or known.get("reference", ""),
                "veracity": known.get("veracity", "") if veracity else "",
                "answer": answer,
                "digest": answer_digest(question, answer),
                "judge": judged.label,
                "reasoning": judged.reasoning,
            }
        )
    shown = Counter(draw.stratum for draw in drawn)
    strata = {stratum: (many, shown[stratum]) for stratum, many in population.sizes().items()}
    document = new_document(
        [run.run_id, run.created_at, scheme.benchmark, scheme.metric, scheme.signature, names],
        {population.items[name].language for name in names},
        run=run.run_id,
        model=run.model,
        benchmark=scheme.benchmark,
        metric=scheme.metric,
        kind=scheme.kind,
        signature=scheme.signature,
        labeller=scheme.labeller,
        seed=seed,
        population=len(population.items),
        asked=scheme.question,
        labels=[{"name": name, "meaning": scheme.meanings[name]} for name in scheme.labels],
    )
    document["strata"] = [
        {"language": language, "said": label, "answers": answers, "drawn": many}
        for (language, label), (answers, many) in sorted(strata.items())
    ]
    return Review(
        asks="labels",
        title=f"Review of {scheme.metric}, run {run.run_id}",
        strata=strata,
        left_out=population.unanswered,
        document=document | {"items": items},
    )
