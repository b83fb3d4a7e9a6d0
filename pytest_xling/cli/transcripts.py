"""``xling transcripts calmqa DIR``: answers stored elsewhere, as a transcript to gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.cli.printing import print_text, written
from pytest_xling.config.values import path as parse_path
from pytest_xling.datasets._calmqa_answers import transcript_rows

if TYPE_CHECKING:
    import argparse

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = (
        "Then, with the questions of the same checkout:\n"
        "  pytest benchmarks/culture --model=transcript:FILE --xling-data culture=DIR"
    )
    parser.add_argument(
        "layout", choices=["calmqa"], metavar="LAYOUT", help="of the files in DIR: calmqa"
    )
    parser.add_argument("folder", metavar="DIR", type=parse_path, help="a checkout of CaLMQA")
    parser.add_argument(
        "--answers-by", metavar="MODEL", required=True, help='as stored there, such as "GPT 4o"'
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=parse_path, required=True, help="write there"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run(args: argparse.Namespace) -> int:
    """Write the transcript."""
    rows = transcript_rows(args.folder, answers_by=args.answers_by)
    languages = set()
    count = 0
    with written(Path(args.output), force=args.force) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            languages.add(row["language"])
            count += 1
    print_text(f"{args.output}: {count:,} answers in {len(languages)} languages")
    return 0
