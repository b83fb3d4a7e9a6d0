"""``xling calibrate WHAT``: measure per language what gates rest on.

Annotators are measured on labelled answers; for the translator see ``calibrate_translation``.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.analysis.calibration import calibrate
from pytest_xling.analysis.labelled import CHOSEN, TASKS, bundled_labels, read_labels
from pytest_xling.cli import calibrate_translation
from pytest_xling.cli.asking import given_option, measuring, settled_for_judge
from pytest_xling.cli.opening import settled
from pytest_xling.cli.printing import color, print_json, print_text, width
from pytest_xling.config.options import add_cli_options, option
from pytest_xling.config.values import path as parse_path
from pytest_xling.engine.models import make_provider, make_roles
from pytest_xling.engine.steps import make_step_factory
from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.reports.sheet import plain
from pytest_xling.reports.terminal.calibration_table import calibration_rows, calibration_sheets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.analysis.labelled import LabelledSet, Task
    from pytest_xling.config.settings import Settings
    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.store.calibrations import Calibration

__all__ = ["add_arguments", "run"]

SHARED = (
    *CHOSEN,
    "model",
    "judge",
    "judge-price",
    "translator",
    "translator-price",
    "text-in",
    "encoder",
    "langs",
    "param",
    "price",
    "max-cost",
    "max-connections",
    "timeout",
    "patience",
    "seed",
    "device",
)
"""Options of pytest's that mean the same here: what is measured must be that of the run."""
TRANSLATION = "translation"
LISTED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments, for each WHAT its own."""
    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True, title="what")
    for name, task in TASKS.items():
        labelled = kinds.add_parser(
            name,
            help=f"what labels a {task.labelled} as {_any_of(task.labels)}",
            description=f"Measure an annotator on labelled {task.labelled}s.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            epilog="Give the options of the run whose annotator is to be measured. What comes of "
            "it is kept\nin the store, where gates with `min_judge_f1` look it up; if they find "
            "nothing, pytest\nmeasures on the labels that come along. Your own labels go before "
            f"those:\n  {','.join((*task.required, 'rater'))}\n  {_example(task)}",
        )
        labelled.add_argument(
            "--labels",
            metavar="FILE",
            type=parse_path,
            help=f"CSV of {task.labelled}s with the labels people gave them. Default: the ones that"
            " come along",
        )
    translation = kinds.add_parser(
        TRANSLATION,
        help="what translation alone does to metrics",
        description="Measure what translation alone does to metrics.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    calibrate_translation.add_arguments(translation)
    for kind in kinds.choices.values():
        kind.add_argument("--json", action="store_true", help="print a list of rows, not rounded")
        add_cli_options(kind, SHARED)


def _any_of(labels: Sequence[str]) -> str:
    """Return the first of many *labels*, or all of a few."""
    return ", ".join(labels[:LISTED]) + (" …" if len(labels) > LISTED else "")


def _example(task: Task) -> str:
    """Return a line of a file of labels."""
    texts = ["…"] * (len(task.required) - 1 - len(task.columns))
    return ",".join(["hi", *texts, *(task.labels[-1] for _ in task.columns), "ana"])


def run(args: argparse.Namespace) -> int:
    """Measure, keep and print."""
    if args.what == TRANSLATION:
        return calibrate_translation.run(args)
    settings = _settings(args)
    if args.labels is None:
        labelled = bundled_labels(args.what)
    else:
        labelled = read_labels(Path(args.labels), args.what)
    languages = _languages(settings, labelled)
    made = asyncio.run(_calibrated(settings, args.what, labelled, languages))
    if args.json:
        print_json(calibration_rows(made))
        return 0
    sheets = calibration_sheets(made)
    print_text("\n".join(plain(sheet, width=width(), color=color()) for sheet in sheets))
    if labelled.undecided:
        left_out = f"{labelled.undecided} {TASKS[args.what].labelled}s"
        print_text(f"{left_out} left out: their raters were split evenly.")
    return 0


def _settings(args: argparse.Namespace) -> Settings:
    """Settle the options as pytest does; only who judges needs to be a model."""
    if given_option(args, "model"):
        return settled(vars(args))
    if _how(args) == "llm" and not given_option(args, "judge"):
        chosen = f"--xling-{args.what}=llm" if TASKS[args.what].chosen else args.what
        msg = f"{chosen} asks a judge: name one with --xling-judge=MODEL"
        raise ConfigError(msg)
    return settled_for_judge(args)


def _how(args: argparse.Namespace) -> str:
    """Return what annotates, as the option says that chooses it."""
    if not TASKS[args.what].chosen:
        return "llm"
    how: str = given_option(args, args.what) or option(args.what).default
    return how


def _languages(settings: Settings, labelled: LabelledSet) -> list[str]:
    """Return the languages to measure in.

    Raises:
        ConfigError: there are no labelled answers in one of them.
    """
    known = labelled.languages
    if settings.languages == "all" or "all" in settings.languages:
        return list(known)
    for language in settings.languages:
        if language not in known:
            msg = (
                f"{labelled.source} has no labelled answers in {language!r}."
                f"{did_you_mean(language, known)} It has: {', '.join(known)}; give others with "
                "--labels=FILE"
            )
            raise ConfigError(msg)
    return list(settings.languages)


async def _calibrated(
    settings: Settings, what: str, labelled: LabelledSet, languages: list[str]
) -> list[Calibration]:
    chosen: str = getattr(settings, what) if TASKS[what].chosen else "llm"
    annotator = f"{what}_{chosen.partition(':')[0]}"
    factory = make_step_factory(settings)
    made = factory.make("annotator", annotator)
    made.check()
    if getattr(made, "text_in", "native") == "english":
        _check_english(labelled, languages)
    provider = make_provider(settings)
    roles = make_roles(settings, provider)
    if made.asks is not None:
        _check_judge(roles[made.asks])
    async with measuring(settings, provider, roles, factory) as (run, database):
        return await calibrate(
            run, database, annotator=annotator, labelled=labelled, languages=languages
        )


def _check_english(labelled: LabelledSet, languages: Iterable[str]) -> None:
    """Refuse claims without an English version: all answers to them would count as misread.

    A post or a question may be read in its own language, beside a translated response.
    """
    for language in languages:
        claims = [item for item in labelled.of(language) if item.prompt_field == "claim"]
        lacking = next((item for item in claims if item.claim_english is None), None)
        if language != "en" and lacking is not None:
            msg = (
                f"{labelled.source}: with texts in English each claim needs one, too; fill the "
                f"column 'claim_english' of {lacking.claim!r} ({language})"
            )
            raise ConfigError(msg)


def _check_judge(provider: Provider) -> None:
    provider.check()
    if not getattr(provider, "answers_prompts", True) or provider.style == "translation":
        msg = f"{provider.name!r} cannot judge: name a model that answers prompts, --xling-judge"
        raise ConfigError(msg)
