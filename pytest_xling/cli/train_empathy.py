"""``xling train empathy``: make weights of the annotator ``empathy_head`` from labelled pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.annotators.empathy.head.training.examples import read_epitome, read_pairs
from pytest_xling.annotators.empathy.pair import BUNDLED_PAIRS
from pytest_xling.cli.printing import color, print_text, width
from pytest_xling.cli.progress import shown_progress
from pytest_xling.cli.train_folder import unfinished
from pytest_xling.errors import ConfigError
from pytest_xling.reports.sheet import Sheet, plain
from pytest_xling.reports.terminal.calibration_table import measure_with_interval
from pytest_xling.text.empathy import PRESENCES

if TYPE_CHECKING:
    import argparse

    from pytest_xling.annotators.empathy.head.training.fitting import Trained


def run(args: argparse.Namespace) -> int:
    """Train, write the weights into a folder and print what was measured."""
    if args.output is None:
        msg = "name a folder for the weights, and for what is done if training is cut off: -o DIR"
        raise ConfigError(msg)
    folder = Path(args.output)
    if args.data is None:
        examples = read_pairs(BUNDLED_PAIRS, seed=args.seed)
    else:
        data = Path(args.data)
        read = read_pairs if data.suffix == ".jsonl" else read_epitome
        examples = read(data, seed=args.seed)
    from pytest_xling.annotators.empathy.head.training.fitting import train  # noqa: PLC0415  torch
    from pytest_xling.annotators.empathy.head.weights import FILE, save_weights  # noqa: PLC0415  numpy
    from pytest_xling.encoders.opening import open_encoder  # noqa: PLC0415  looks for torch
    from pytest_xling.files.whole import whole_bytes  # noqa: PLC0415  with the above

    with unfinished(folder, FILE, force=args.force) as kept:
        encoder = open_encoder(args.encoder, device=args.device, dtype="float32")
        encoder.load()
        with shown_progress() as progress:
            trained = train(
                examples,
                encoder,
                spec=args.encoder,
                seed=args.seed,
                folder=kept,
                progress=progress,
            )
        with whole_bytes(folder / FILE) as file:
            file.write(save_weights(trained.weights))
    _print(trained)
    print_text(f"Use it with --xling-param=empathy=head:{folder}")
    return 0


def _print(trained: Trained) -> None:
    about = trained.weights.about
    columns: dict[str, list[str]] = {
        name: [] for name in ("mechanism", "by", "n", "present", "macro F1 (95%)", "accuracy (95%)")
    }
    for mechanism, by_method in trained.measured.items():
        rows = [*by_method.items()]
        rows += [
            (f"classifier, {language}", quality)
            for (own, language), quality in trained.by_language.items()
            if own == mechanism
        ]
        for number, (method, quality) in enumerate(rows):
            present = next(label for label in quality.labels if label.label == PRESENCES[0])
            cells = (
                "" if number else mechanism,
                method,
                str(quality.n),
                f"{present.support}",
                measure_with_interval(quality.macro_f1),
                measure_with_interval(quality.accuracy),
            )
            for column, cell in zip(columns.values(), cells, strict=True):
                column.append(cell)
    losses = ", ".join(f"{tried}: {loss:.3f}" for tried, loss in about["dev_loss"].items())
    tuned = (
        f"Learning rate {about['rate']:g}, {about['epochs']} epochs: of those tried the least "
        f"loss on dev ({losses})."
    )
    split = "A post is in one part for all mechanisms. Intervals: bootstrap over posts."
    sheet = Sheet(title="Posts held out (test)", columns=columns, left=2, notes=(tuned, split))
    print_text(plain(sheet, width=width(), color=color()))
