"""``xling train``: make weights of the annotators ``stance_head`` and ``empathy_head``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_xling.annotators.stance.head.training.pairs import (
    check_apart,
    digest,
    read_pairs,
)
from pytest_xling.annotators.stance.pair import BUNDLED_PAIRS
from pytest_xling.cli.printing import color, print_text, width, written
from pytest_xling.config.values import count
from pytest_xling.config.values import device as parse_device
from pytest_xling.config.values import model as parse_model
from pytest_xling.config.values import path as parse_path
from pytest_xling.errors import ConfigError
from pytest_xling.reports.sheet import Sheet, plain
from pytest_xling.reports.terminal.calibration_table import measure_text, measure_with_interval
from pytest_xling.stats.labelling import labelling
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_xling.annotators.stance.head.training.fitting import Trained
    from pytest_xling.annotators.stance.head.training.pairs import LabelledPair
    from pytest_xling.encoders import Encoder
    from pytest_xling.text.stance import Stance

__all__ = ["add_arguments", "run"]

ALL = "all"
BUNDLED_NAME = "bundled"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = (
        "A pair is a JSON object a line:\n"
        '  {"claim_id": "c1", "split": "train", "language": "hi", "claim": "…", "response": "…",\n'
        '   "label": "agree|disagree|neutral"}\n'
        "Pairs of the split held_out are measured on, once. Then use the weights with\n"
        "  pytest … --xling-stance=head --xling-param=stance_head.weights=FILE\n"
        "For empathy, DIR holds EPITOME's three files, or FILE.jsonl our own layout; weights go "
        "into a folder:\n"
        "  xling train empathy --data DIR -o OUT\n"
        "  pytest … --xling-empathy=head:OUT"
    )
    parser.add_argument(
        "what", choices=["stance", "empathy"], metavar="WHAT", help="for what: stance or empathy"
    )
    parser.add_argument(
        "--pairs",
        metavar="FILE",
        type=parse_path,
        nargs="+",
        help=f"of stance: learn from these; {BUNDLED_NAME} (the default) stands for the pairs that"
        " come along",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=parse_path,
        help="of empathy: learn from EPITOME's three files in this folder, or from a .jsonl of"
        " pairs; default: the pairs that come along",
    )
    parser.add_argument(
        "--encoder",
        type=parse_model,
        default="embedded",
        help="of empathy: what reads the texts, and stays as it is: embedded (default), or a"
        " transformers model by name or directory",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=parse_path,
        help="write the weights there (.npz); of empathy a folder, in which training that was cut"
        " off goes on",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument(
        "--seed", metavar="N", type=count(0), default=0, help="of whatever is drawn (default 0)"
    )
    parser.add_argument(
        "--device", type=parse_device, default="auto", help="auto, cpu, mps, cuda or cuda:N"
    )


def run(args: argparse.Namespace) -> int:
    """Train, write the weights and print what was measured."""
    if (args.pairs if args.what == "empathy" else args.data) is not None:
        other = "--pairs is for stance" if args.what == "empathy" else "--data is for empathy"
        msg = f"xling train {args.what}: {other}; see `xling train --help`"
        raise ConfigError(msg)
    if args.what == "empathy":
        from pytest_xling.cli.train_empathy import run as train_empathy  # noqa: PLC0415  rich

        return train_empathy(args)
    paths = args.pairs or [Path(BUNDLED_NAME)]
    pairs = [
        pair
        for path in paths
        for pair in read_pairs(BUNDLED_PAIRS if str(path) == BUNDLED_NAME else path)
    ]
    check_apart(pairs)
    if args.output is None:
        trained = _train(pairs, args)
        print_text("Nothing is written: name a file with -o.")
        return 0
    # Opened before the minutes of training, so that they are not lost to a wrong name.
    with written(Path(args.output), force=args.force) as file:
        trained = _train(pairs, args)
        from pytest_xling.annotators.stance.head.weights import save_weights  # noqa: PLC0415  numpy

        raw = io.BytesIO()
        save_weights(raw, trained.weights)
        binary: Any = file
        binary.buffer.write(raw.getvalue())
    print_text(f"{args.output}: weights of stance_head, {len(raw.getvalue()):,} bytes")
    return 0


def _train(pairs: Sequence[LabelledPair], args: argparse.Namespace) -> Trained:
    from pytest_xling.annotators.stance.head.features import stance_features  # noqa: PLC0415  numpy
    from pytest_xling.annotators.stance.head.training.fitting import predicted, train  # noqa: PLC0415  scipy
    from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  looks for torch

    encoder: Encoder = open_encoder("embedded", device=args.device, dtype="float32")
    encoder.load()
    learnt = [pair for pair in pairs if pair.split == "train"]
    held_out = [pair for pair in pairs if pair.split == "held_out"]
    trained = train(learnt, encoder, seed=args.seed)
    _print(
        learnt,
        trained.unseen,
        title=f"Claims left out in turn ({len(learnt)} pairs, penalty {trained.penalty:g})",
        notes=(f"Pairs: {digest(learnt)[:12]}. The penalty was chosen on these numbers.",),
    )
    if held_out:
        stances = predicted(
            trained.weights, stance_features([pair.pair for pair in held_out], encoder)
        )
        _print(held_out, stances, title=f"Held out ({len(held_out)} pairs)")
    return trained


def _print(
    pairs: Sequence[LabelledPair],
    stances: Sequence[Stance],
    *,
    title: str,
    notes: tuple[str, ...] = (),
) -> None:
    names = ("language", "pairs", *(f"F1 {stance}" for stance in STANCES), "macro F1 (95%)")
    columns: dict[str, list[str]] = {name: [] for name in names}
    languages = sorted({pair.pair.language for pair in pairs})
    for language in (*languages, ALL):
        of = [n for n, p in enumerate(pairs) if language in {p.pair.language, ALL}]
        quality = labelling(
            [pairs[n].label for n in of],
            [stances[n] for n in of],
            labels=STANCES,
            clusters=[pairs[n].group for n in of],
        )
        cells = (
            language,
            str(quality.n),
            *(measure_text(label.f1) for label in quality.labels),
            measure_with_interval(quality.macro_f1),
        )
        for name, cell in zip(names, cells, strict=True):
            columns[name].append(cell)
    notes = (*notes, "Intervals: bootstrap over claims.")
    sheet = Sheet(title=title, columns=columns, left=1, notes=notes)
    print_text(plain(sheet, width=width(), color=color()))
