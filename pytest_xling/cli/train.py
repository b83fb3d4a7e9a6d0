"""``xling train``: make weights of the annotators ``stance_reader`` and ``empathy_head``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.analysis.labelled import BUNDLED
from pytest_xling.config.values import count
from pytest_xling.config.values import device as parse_device
from pytest_xling.config.values import model as parse_model
from pytest_xling.config.values import path as parse_path
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = (
        "A pair is a JSON object a line:\n"
        '  {"claim_id": "c1", "split": "train", "language": "hi", "claim": "…", "response": "…",\n'
        '   "label": "agree|disagree|neutral"}\n'
        "Pairs of the split held_out are measured on, once. Weights go into a folder, in which\n"
        "training that was cut off goes on:\n"
        "  xling train stance --pairs FILE -o OUT\n"
        "  pytest … --xling-param=stance=reader:OUT\n"
        "For empathy, DIR holds EPITOME's three files, or FILE.jsonl our own layout:\n"
        "  xling train empathy --data DIR -o OUT\n"
        "  pytest … --xling-param=empathy=head:OUT"
    )
    parser.add_argument(
        "what", choices=["stance", "empathy"], metavar="WHAT", help="for what: stance or empathy"
    )
    parser.add_argument(
        "--pairs",
        metavar="FILE",
        type=parse_path,
        nargs="+",
        help=f"of stance: learn from these; {BUNDLED} (the default) stands for the pairs that"
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
        metavar="DIR",
        type=parse_path,
        help="write the weights into this folder, in which training that was cut off goes on",
    )
    parser.add_argument("--force", action="store_true", help="replace weights that are in DIR")
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
    from pytest_xling.cli.train_stance import run as train_stance  # noqa: PLC0415  rich

    return train_stance(args)
