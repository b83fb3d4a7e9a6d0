"""``xling transcripts LAYOUT PATH``: answers stored elsewhere, as a transcript to gate."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_xling.cli.printing import print_text, written
from pytest_xling.config.values import path as parse_path
from pytest_xling.datasets.calmqa import answers as _calmqa_answers
from pytest_xling.datasets.lcb import answers as _lcb_answers
from pytest_xling.datasets.uphill import answers as _uphill_answers
from pytest_xling.datasets.uphill.rows import missing_levels
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_xling.keys import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """One layout of stored answers."""

    about: str
    rows: Callable[..., Iterable[Mapping[str, JsonValue]]]
    then: str
    """How pytest is called with what is written."""
    notices: Callable[[Path], Sequence[str]] = lambda _: ()
    """What is odd about the data."""


LAYOUTS = {
    "calmqa": _Layout(
        about="PATH is a checkout of CaLMQA; MODEL such as 'GPT 4o'",
        rows=_calmqa_answers.transcript_rows,
        then="pytest benchmarks/culture --model=transcript:FILE --xling-data culture=PATH",
    ),
    "uphill": _Layout(
        about="PATH is UPHILL's file (.csv, .tsv, .json, .jsonl); MODEL such as gpt-3.5-turbo",
        rows=_uphill_answers.transcript_rows,
        then=(
            "pytest benchmarks/presupposition --model=transcript:FILE "
            "--xling-data presupposition=PATH"
        ),
        notices=missing_levels,
    ),
    "lcb": _Layout(
        about=(
            "PATH is a clone of language-confusion, or a .csv such as those in its outputs; MODEL "
            "such as command-r"
        ),
        rows=_lcb_answers.transcript_rows,
        then="pytest FOLDER --model=transcript:FILE --langs=all --xling-data NAME=CLONE",
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
        "--answers-by",
        metavar="MODEL",
        help='as stored there, such as "GPT 4o"; lcb needs it only where there are several',
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=parse_path, required=True, help="write there"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run(args: argparse.Namespace) -> int:
    """Write the transcript."""
    layout = LAYOUTS[args.layout]
    if args.answers_by is None and args.layout != "lcb":
        msg = f"transcripts {args.layout} needs --answers-by=MODEL: {layout.about}"
        raise ConfigError(msg)
    rows = layout.rows(args.folder, answers_by=args.answers_by)
    answers: Counter[tuple[JsonValue, JsonValue]] = Counter()
    left_out: Counter[tuple[JsonValue, JsonValue]] = Counter()
    with written(Path(args.output), force=args.force) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            counts = answers if row.get("asked", True) else left_out
            counts[row["sample_id"], row["language"]] += 1
    languages = len({language for _, language in answers})
    plural = "" if languages == 1 else "s"
    print_text(f"{args.output}: {answers.total():,} answers in {languages} language{plural}")
    for notice in (*_counted(answers, left_out), *layout.notices(args.folder)):
        print_text(notice)
    return 0


def _counted(answers: Counter[Any], left_out: Counter[Any]) -> Iterable[str]:
    """Say how to ask for all answers, and how many are not there; nothing where that is plain.

    Args:
        answers: their number by question.
        left_out: likewise, of those that nobody asked for.
    """
    most = max(answers.values())
    fewer = len(left_out.keys() & answers.keys())
    if most > 1:
        to = f"to each of {len(answers):,} questions"
        yield f"{'up to ' if fewer else ''}{most} {to}: add --xling-samples={most}"
    if left_out:
        none = len(left_out) - fewer
        total = answers.total() + left_out.total()
        not_asked = f"{left_out.total():,} of {total:,} were not asked and are left out: "
        parts = [f"{_questions(none)} no answer"] if none else []
        parts += [f"{_questions(fewer)} fewer than {most}"] if fewer else []
        yield not_asked + ", ".join(parts)


def _questions(count: int) -> str:
    return "1 question has" if count == 1 else f"{count:,} questions have"
