"""``xling train stance``: make weights of the annotator ``stance_reader`` from labelled pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_xling.analysis.labelled import BUNDLED, read_labels
from pytest_xling.annotators.stance.pair import Pair
from pytest_xling.annotators.stance.reader.training.pairs import (
    LabelledPair,
    bundled_pairs,
    check_apart,
    digest,
    read_pairs,
)
from pytest_xling.cli.printing import color, print_text, width
from pytest_xling.cli.progress import shown_progress
from pytest_xling.cli.train_folder import unfinished
from pytest_xling.errors import ConfigError
from pytest_xling.reports.sheet import Sheet, plain
from pytest_xling.reports.terminal.calibration_table import measure_text, measure_with_interval
from pytest_xling.stats.labelling import labelling
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_xling.text.stance import Stance

_ALL: Final = "all"


def run(args: argparse.Namespace) -> int:
    """Train, write the weights into a folder and print what was measured."""
    if args.output is None:
        msg = "name a folder for the weights, and for what is done if training is cut off: -o DIR"
        raise ConfigError(msg)
    folder = Path(args.output)
    paths = args.pairs or [Path(BUNDLED)]
    pairs = [pair for path in paths for pair in _pairs(path)]
    check_apart(pairs)
    learnt = [pair for pair in pairs if pair.split == "train"]
    held_out = [pair for pair in pairs if pair.split == "held_out"]
    from pytest_xling.annotators.stance.reader.network import open_model  # noqa: PLC0415  torch
    from pytest_xling.annotators.stance.reader.training.fitting import train  # noqa: PLC0415  torch
    from pytest_xling.annotators.stance.reader.weights import FILE, save_weights  # noqa: PLC0415  numpy
    from pytest_xling.files.whole import whole_bytes  # noqa: PLC0415  with the above
    from pytest_xling.models.devices import choose_device  # noqa: PLC0415  with the above

    with unfinished(folder, FILE, force=args.force) as kept:
        with shown_progress() as progress:
            trained = train(
                learnt,
                seed=args.seed,
                folder=kept,
                progress=progress,
                device=choose_device(args.device),
            )
        raw = save_weights(trained.weights)
        with whole_bytes(folder / FILE) as file:
            file.write(raw)
    about = f"Pairs: {digest(learnt)[:12]}. Temperature {trained.weights.temperature:g}, set here."
    title = f"Claims left out ({len(trained.left_out)} of {len(learnt)} pairs)"
    _print(trained.left_out, trained.stances, title=title, notes=(about,))
    if held_out:
        model = open_model(folder / FILE, device=args.device)
        likely = model.probabilities([pair.pair for pair in held_out])
        stances = [STANCES[place] for place in likely.argmax(axis=1)]
        _print(held_out, stances, title=f"Held out ({len(held_out)} pairs)")
    print_text(
        f"{folder / FILE}: {len(raw):,} bytes. Use it with --xling-param=stance=reader:{folder}"
    )
    return 0


def _pairs(path: Path) -> list[LabelledPair]:
    """Read pairs, or the labels of raters as ``xling calibrate stance --labels`` does."""
    if path.suffix.lower() != ".csv":
        return bundled_pairs() if str(path) == BUNDLED else read_pairs(path)
    return [
        LabelledPair(
            pair=Pair(claim=item.claim, response=item.response, language=item.language),
            label=next(stance for stance in STANCES if stance == item.label),
            claim_id=item.cluster,
            where=str(path),
        )
        for item in read_labels(path, "stance").items
    ]


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
    for language in (*languages, _ALL):
        of = [n for n, p in enumerate(pairs) if language in {p.pair.language, _ALL}]
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
