"""The rows that ``xling import`` makes of stored answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.planning.importing import transcripts

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.interfaces.importer import Importer


def transcript_rows(
    importer: Importer, path: Path, *, answers_by: str | None = None
) -> list[dict[str, Any]]:
    """Return the rows of the only model there is, or of *answers_by*."""
    questions = {(each.id, each.language): None for each in importer.questions(path)}
    (transcript,) = transcripts(
        importer.answers(path), questions=questions.keys(), answers_by=answers_by
    )
    return transcript.rows
