"""``xling review RUN``: have people look at a sample of a run's answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.cli.opening import reading
from pytest_xling.cli.printing import check_free, color, print_text, width, written
from pytest_xling.config.values import count
from pytest_xling.config.values import path as parse_path
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.reports.review.document import draw_review, review_page
from pytest_xling.reports.review.label_studio import label_studio_config, label_studio_tasks
from pytest_xling.reports.review.population import read_population
from pytest_xling.reports.review.scheme import CORRECTNESS, scheme_of
from pytest_xling.reports.sheet import Sheet, plain
from pytest_xling.store.runs import get_run

if TYPE_CHECKING:
    import argparse

    from pytest_xling.reports.review.document import Review

__all__ = ["add_arguments", "run"]

DEFAULT_SAMPLE = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = (
        "The sample is spread evenly over languages, and in each over what the judge said, so\n"
        "that people see what is rare; each answer keeps the weight that brings the run's rates\n"
        "back. The page needs no network and shows the judge only when asked to. What raters save\n"
        "there, or export from Label Studio as JSON, is compared by `xling agreement`."
    )
    parser.add_argument("run", metavar="RUN", help="a run's name, or `latest`")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        required=True,
        help=f"a flag, stance_score or another metric that reads a stance, or {CORRECTNESS}",
    )
    parser.add_argument(
        "--sample",
        metavar="N",
        type=count(1),
        default=DEFAULT_SAMPLE,
        help="how many answers (default: %(default)s)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=parse_path, help="write the page there"
    )
    parser.add_argument(
        "--label-studio",
        metavar="FILE",
        type=parse_path,
        help="write tasks to import there (.json), and their configuration beside it (.xml)",
    )
    parser.add_argument("--benchmark", metavar="NAME", help="which one, if the run has several")
    parser.add_argument(
        "--language",
        metavar="LANG",
        action="append",
        default=[],
        help="answers in this one only; may be given several times",
    )
    parser.add_argument(
        "--seed", metavar="N", type=count(0), default=0, help="of the draw (default: 0)"
    )
    parser.add_argument(
        "--veracity", action="store_true", help="tell raters whether claims are true"
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def run(args: argparse.Namespace) -> int:
    """Draw the sample and write it."""
    files = _files(args)
    languages = [find(code).code for text in args.language for code in text.split(",")]
    with reading(args) as connection:
        record = get_run(connection, args.run)
        scheme = scheme_of(connection, record.run_id, metric=args.metric, benchmark=args.benchmark)
        population = read_population(connection, record.run_id, scheme, languages=languages)
        review = draw_review(
            connection,
            record,
            scheme,
            population,
            size=args.sample,
            seed=args.seed,
            veracity=args.veracity,
        )
    for kind, path in files.items():
        with written(path, force=args.force) as file:
            file.write(_content(kind, review))
    print_text(_summary(review, files, unanswered=population.unanswered))
    return 0


def _files(args: argparse.Namespace) -> dict[str, Path]:
    """Return what to write where.

    Raises:
        ConfigError: nothing is to be written, or one file twice; or a file is there already.
    """
    files: dict[str, Path] = {}
    if args.output is not None:
        files["page"] = Path(args.output)
    if args.label_studio is not None:
        files["tasks"] = Path(args.label_studio)
        files["configuration"] = files["tasks"].with_suffix(".xml")
    if not files:
        msg = "say where to write: -o review.html, --label-studio tasks.json or both"
        raise ConfigError(msg)
    if len({path.absolute() for path in files.values()}) < len(files):
        msg = f"{args.label_studio}: would be written twice; name a file that ends in .json"
        raise ConfigError(msg)
    for path in files.values():
        # Before anything is written: half of a review is of no use.
        check_free(path, force=args.force)
    return files


def _content(kind: str, review: Review) -> str:
    if kind == "page":
        return review_page(review)
    if kind == "configuration":
        return label_studio_config(review)
    return json.dumps(label_studio_tasks(review), ensure_ascii=False, indent=1) + "\n"


def _summary(review: Review, files: dict[str, Path], *, unanswered: int) -> str:
    strata = sorted(review.strata.items())
    sheet = Sheet(
        title=f"{len(review.items)} of {review.population:,} answers of run {review.run.run_id}, "
        f"by what {review.scheme.metric} said",
        columns={
            "language": [language for (language, _), _ in strata],
            "said": [label for (_, label), _ in strata],
            "answers": [f"{answers:,}" for _, (answers, _) in strata],
            "drawn": [f"{drawn:,}" for _, (_, drawn) in strata],
            "each stands for": [f"{answers / drawn:.1f}" for _, (answers, drawn) in strata],
        },
        left=2,
    )
    lines = [f"{kind}: {path}" for kind, path in files.items()]
    if unanswered:
        lines.append(f"{unanswered:,} cases without an answer are left out.")
    if review.scheme.kind == "correctness" and not any(item.reference for item in review.items):
        lines.append(
            "The run does not keep its references: raters need the benchmark's data beside."
        )
    if "page" in files:
        lines.append(f"Then: xling agreement labels-{review.scheme.metric}-*.json")
    return "\n".join([plain(sheet, width=width(), color=color()), *lines])
