"""The questions of a run: their digests, clusters, samples, and fields of their metadata."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import select

from pytest_xling.records import Sample
from pytest_xling.store.dialects import text_at
from pytest_xling.store.schema import cases

if TYPE_CHECKING:
    from sqlalchemy import Connection


def labels(
    connection: Connection, run_id: str, *, benchmark: str, key: str
) -> dict[tuple[str, str], str]:
    """Return a field of the samples' metadata, by sample and language.

    Args:
        connection: to the store.
        run_id: the run.
        benchmark: one of the run's.
        key: of the metadata, in letters; samples without it are left out.
    """
    field = text_at(cases.c.sample_metadata, f"$.{key}")
    query = (
        select(cases.c.sample_id, cases.c.language, field)
        .where(cases.c.run_id == run_id, cases.c.benchmark == benchmark, field.is_not(None))
        .distinct()
    )
    return {(sample, language): str(value) for sample, language, value in connection.execute(query)}


_DIGITS = 12
"""Of 48 bits: among a million questions the chance that two are confused is below 1 in 500."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is known of a question without its text."""

    digest: str
    """As :func:`digest_of` makes it."""
    cluster: str
    """An id shared by samples of one question; never empty."""

    def is_same(self, other: Question) -> bool:
        """Tell whether both are one question, by their digests.

        References have to agree, too, unless one is not known: early versions did not keep them.
        """
        if self.digest == other.digest:
            return True
        asked, _, right = self.digest.partition("-")
        other_asked, _, other_right = other.digest.partition("-")
        return asked == other_asked and (right == other_right or not right or not other_right)


Questions: TypeAlias = "dict[tuple[str, str], Question]"
"""By sample and language."""


def digest_of(question: str, reference: str | None) -> str:
    """Return a short digest of a question, and after a hyphen that of its reference if any."""
    digest = sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return digest if reference is None else f"{digest}-{digest_of(reference, None)}"


def question_digests(connection: Connection, run_id: str, *, benchmark: str) -> Questions:
    """Return what a run asked in a benchmark."""
    c = cases.c
    query = (
        select(c.sample_id, c.language, c.cluster, c.question, c.reference)
        .where(c.run_id == run_id, c.benchmark == benchmark)
        .distinct()
    )
    return {
        (sample, language): Question(
            digest=digest_of(question, reference), cluster=cluster or sample
        )
        for sample, language, cluster, question, reference in connection.execute(query).all()
    }


def samples_asked(connection: Connection, run_id: str, *, benchmark: str) -> list[Sample]:
    """Return the samples of a benchmark that a run asked, each once, as far as they are stored.

    Their prompt fields are the question alone, or none.
    """
    c = cases.c
    query = (
        select(c.sample_id, c.language, c.cluster, c.question, c.reference, c.sample_metadata)
        .where(c.run_id == run_id, c.benchmark == benchmark)
        .order_by(c.position)
    )
    samples = {
        (sample_id, language): Sample(
            id=sample_id,
            benchmark=benchmark,
            language=language,
            prompt={"question": question} if question else {},
            reference=reference,
            parallel_id=cluster or None,
            metadata=json.loads(metadata),
        )
        for sample_id, language, cluster, question, reference, metadata in connection.execute(query)
    }
    return list(samples.values())
