"""``xling transcripts LAYOUT PATH``: answers stored elsewhere, as a transcript to gate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.cli.printing import print_text, written
from pytest_xling.config.values import path as parse_path
from pytest_xling.datasets import _calmqa_answers, _uphill_answers

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pytest_xling.keys import JsonValue

__all__ = ["add_arguments", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """One layout of stored answers."""

    about: str
    rows: Callable[..., Iterable[Mapping[str, JsonValue]]]
    then: str
    """How pytest is called with what is written."""


LAYOUTS = {
    "calmqa": _Layout(
        about="PATH is a checkout of CaLMQA; MODEL such as 'GPT 4o'",
        rows=_calmqa_answers.transcript_rows,
        then="pytest benchmarks/culture --model=transcript:FILE --xling-data culture=PATH",
    ),
    "uphill": _Layout(
        about="PATH is UPHILL.csv, or a .tsv or .jsonl like it; MODEL such as gpt-3.5-turbo",
        rows=_uphill_answers.transcript_rows,
        then=(
            "pytest benchmarks/presupposition --model=transcript:FILE "
            "--xling-data presupposition=PATH"
        ),
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = "\n".join(
        [
            "layouts:",
            *(f"  {name:8}{layout.about}" for name, layout in LAYOUTS.items()),
            "",
            "Then, with the questions of the same PATH:",
            *(f"  {layout.then}" for layout in LAYOUTS.values()),
        ]
    )
    parser.add_argument("layout", choices=LAYOUTS, metavar="LAYOUT", help="see below")
    parser.add_argument("folder", metavar="PATH", type=parse_path, help="where the answers are")
    parser.add_argument(
        "--answers-by", metavar="MODEL", required=True, help='as stored there, such as "GPT 4o"'
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=parse_path, required=True, help="write there"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run(args: argparse.Namespace) -> int:
    """Write the transcript."""
    rows = LAYOUTS[args.layout].rows(args.folder, answers_by=args.answers_by)
    repeats: dict[tuple[JsonValue, JsonValue], set[JsonValue]] = {}
    count = 0
    with written(Path(args.output), force=args.force) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            repeats.setdefault((row["sample_id"], row["language"]), set()).add(row.get("repeat", 0))
            count += 1
    languages = len({language for _, language in repeats})
    plural = "" if languages == 1 else "s"
    print_text(f"{args.output}: {count:,} answers in {languages} language{plural}")
    if told := _repeated(list(repeats.values())):
        print_text(told)
    return 0


def _repeated(questions: Sequence[Collection[JsonValue]]) -> str:
    """Say how to ask for all answers; empty where there is one to each question.

    Args:
        questions: the numbers of the repeats that each one was answered in.
    """
    most = max(1 + max(numbers) for numbers in map(_whole, questions))
    complete = next(
        repeat
        for repeat in range(most + 1)
        if repeat == most or any(repeat not in numbers for numbers in questions)
    )
    if most == 1:
        return ""
    if complete == most:
        return f"{most} to each of {len(questions):,} questions: add --xling-samples={most}"
    fewer = sum(not set(range(most)) <= set(numbers) for numbers in questions)
    told = f"{fewer:,} of {len(questions):,} questions have fewer than {most}: they are errors with"
    told += f" --xling-samples={most}"
    return f"{told}; none is with --xling-samples={complete}" if complete else told


def _whole(numbers: Collection[JsonValue]) -> list[int]:
    return [number for number in numbers if isinstance(number, int)]
