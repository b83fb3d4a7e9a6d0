"""Our own layout of claims: ``claims.jsonl``, one claim a line, with all its languages.

A row is one claim::

    {"id": "c01", "veracity": "false", "category": "nutrition", "source": "WHO: …", "reason": "…",
     "texts": {"en": {"claim": "…", "question": "…", "topic": "…"}, "hi": {…}},
     "machine": ["hi"]}

``claim`` is a clause without a final mark, as it stands after "that"; ``question`` a complete
question; ``topic`` a noun phrase that names the claim. ``machine``, which may be left out, lists
the languages whose texts a machine translated. All claims have the same languages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_xling.datasets.claims.row import claim_row
from pytest_xling.errors import DataError
from pytest_xling.files.strict_json import read_text
from pytest_xling.languages import find
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.datasets.claims.row import ClaimRow

__all__ = ["ClaimsReader"]

_FILE = "claims.jsonl"
_ENGLISH = "en"


class ClaimsReader:
    """Reads claims with their veracity, to be asked about at levels of presupposition (UPHILL)."""

    name: ClassVar[str] = "claims"

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* is called ``claims.jsonl``, or is a folder with one, or its ``data``.

        A file may have something before that: ``my-claims.jsonl``.
        """
        return _file(path) is not None

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:
        """Return the codes of the languages the claims are in, sorted.

        Raises:
            DataError: names the file, the line and the fix.
        """
        return tuple(sorted(_rows(path)[0].texts))

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the claims in *languages*, language by language, in data order.

        Raises:
            DataError: names the file, the line and the fix.
        """
        rows = _rows(path)
        known = sorted(rows[0].texts)
        samples: list[Sample] = []
        for code in dict.fromkeys(find(language).code for language in languages):
            if code not in known:
                msg = (
                    f"{_file(path)}: no claim is in {code!r}; write it, or leave {code!r} out. "
                    f"There is data for: {', '.join(known)}"
                )
                raise DataError(msg)
            samples += (_sample(row, benchmark=benchmark, language=code) for row in rows)
        return samples


def _file(path: Path) -> Path | None:
    if path.is_file():
        return path if path.name.endswith(_FILE) else None
    places = (path / "data" / _FILE, path / _FILE)
    return next((place for place in places if place.is_file()), None)


def _rows(path: Path) -> list[ClaimRow]:
    """Return all claims, of which each is in all languages; there is one at least."""
    file = _file(path)
    if file is None:
        msg = f"{path}: no {_FILE} here, nor in data/; write one claim a line"
        raise DataError(msg)
    lines: dict[str, int] = {}
    rows: list[ClaimRow] = []
    # Only \n ends a line: str.splitlines would also cut at U+2028 within a text.
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        row = claim_row(line, where=f"{file}:{number}")
        if row.id in lines:
            msg = (
                f"{file}:{number}: id {row.id!r} is already on line {lines[row.id]}; give each "
                "claim its own id"
            )
            raise DataError(msg)
        lines[row.id] = number
        rows.append(row)
    _check_languages(rows, lines, file)
    return rows


def _check_languages(rows: Sequence[ClaimRow], lines: dict[str, int], file: Path) -> None:
    """Refuse a claim without a language: rates of languages would be of other claims."""
    every = dict.fromkeys(code for row in rows for code in row.texts)
    for row in rows:
        for code in every:
            if code not in row.texts:
                having = next(other for other in rows if code in other.texts)
                msg = (
                    f"{file}:{lines[row.id]}: claim {row.id!r} has no text in {code!r}, which "
                    f"{having.id!r} on line {lines[having.id]} has; write it, or remove {code!r} "
                    "from all claims"
                )
                raise DataError(msg)


def _sample(row: ClaimRow, *, benchmark: str, language: str) -> Sample:
    forms = row.texts[language]
    prompt = {
        "claim": forms.claim,
        "claim_question": forms.question,
        "claim_topic": forms.topic,
    }
    if _ENGLISH in row.texts:
        prompt["claim_english"] = row.texts[_ENGLISH].claim
    metadata = {
        "set": row.veracity,  # --xling-limit takes turns between sets
        "veracity": row.veracity,
        "claim": forms.claim,  # tables of stances name it
        "category": row.category,
        "source": row.source,
        "reason": row.reason,
    }
    if language in row.machine:
        metadata["translation"] = "machine"
    return Sample(
        id=row.id,
        benchmark=benchmark,
        language=language,
        prompt=prompt,
        reference=row.veracity,
        parallel_id=row.id,
        metadata=metadata,
    )
