"""The trainer: AdamW on a rate that rises and falls, and the same numbers after any break."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch", reason="needs pytest-xling[torch]")

STEPS = 130
RATES = {"weight": 0.02, "bias": 0.2}


class CutOffError(Exception):
    """Training ends here."""


def fitted(kept: Path, *, stop_at: int = -1) -> list[float]:
    """Return what a layer behind dropout learns in 130 steps; its parts have rates of their own."""
    from pytest_xling.training.trainer import fit  # noqa: PLC0415  torch

    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 1)
    named = dict(layer.named_parameters())

    def loss(step: int) -> Any:  # noqa: ANN401  torch comes by importorskip
        features = torch.arange(8.0).reshape(2, 4) + step % 3
        return (layer(torch.nn.functional.dropout(features)) - step % 2).square().mean()

    def progress(done: int, whole: int) -> None:
        assert STEPS == whole
        if done == stop_at:
            raise CutOffError

    groups = [({name: named[name]}, rate) for name, rate in RATES.items()]
    fit(groups, loss, steps=STEPS, warm_up=0.1, kept=kept, progress=progress)
    return [number for each in named.values() for number in each.flatten().tolist()]


def test_the_schedule_is_that_of_torch(tmp_path: Path) -> None:
    """The numbers are those of AdamW under a LambdaLR, bit for bit."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 1)
    named = dict(layer.named_parameters())
    optimizer = torch.optim.AdamW(
        [{"params": [named[name]], "lr": rate} for name, rate in RATES.items()], weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (0.1 * STEPS), (STEPS - step) / STEPS, 1.0)
    )
    for step in range(STEPS):
        features = torch.arange(8.0).reshape(2, 4) + step % 3
        loss = (layer(torch.nn.functional.dropout(features)) - step % 2).square().mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    expected = [number for each in named.values() for number in each.flatten().tolist()]
    assert expected == fitted(tmp_path / "kept")


def test_a_break_changes_nothing(tmp_path: Path) -> None:
    """Cut off once or several times, before a step is kept, behind it, at the end: one result."""
    expected = fitted(tmp_path / "whole")
    for stops in ((20,), (77, 99, 129), (130,)):
        cut = tmp_path / str(stops)
        for stop in stops:
            with pytest.raises(CutOffError):
                fitted(cut, stop_at=stop)
        assert expected == fitted(cut), stops


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    """It goes on at the last step that was kept; what is done whole is read."""
    with pytest.raises(CutOffError):
        fitted(tmp_path / "kept", stop_at=120)
    with pytest.raises(CutOffError):
        fitted(tmp_path / "kept", stop_at=100)  # the first it is told of
    whole = fitted(tmp_path / "kept")
    assert whole == fitted(tmp_path / "kept", stop_at=STEPS - 1)
