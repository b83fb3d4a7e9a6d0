"""Where an encoder runs, and in which numbers."""

from __future__ import annotations

import pytest
import torch

from pytest_xling.errors import ConfigError
from pytest_xling.models.devices import choose_device, choose_dtype


def test_auto_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the CPU, in float32."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert "cpu" == choose_device("auto", quantized=False)
    assert "float32" == choose_dtype("auto", device="cpu", quantized=False)


def test_auto_with_mps(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken where there is no cuda, in float32; but not by quantized encoders."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert "mps" == choose_device("auto", quantized=False)
    assert "cpu" == choose_device("auto", quantized=True)
    assert "float32" == choose_dtype("auto", device="mps", quantized=False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="'mps' is not there"):
        choose_device("mps")


def test_auto_with_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers take turns; matrices are multiplied in bfloat16 where the GPU can."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw3")
    assert "cuda:1" == choose_device("auto", quantized=False)
    assert "cuda:1" == choose_device("cuda")
    monkeypatch.delenv("PYTEST_XDIST_WORKER")
    assert "cuda:0" == choose_device("auto", quantized=False)
    assert "cpu" == choose_device("auto", quantized=True)
    for able, dtype in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda able=able: able)
        assert dtype == choose_dtype("auto", device="cuda:0", quantized=False)


@pytest.mark.parametrize(
    ("device", "quantized", "what"),
    [
        ("gpu", False, "unknown device 'gpu'"),
        ("cuda:99", False, "'cuda:99' is not there"),
        ("meta", True, "quantized is for the CPU"),
    ],
)
def test_no_such_device(device: str, quantized: bool, what: str) -> None:  # noqa: FBT001  a case
    """Device and fix are named."""
    with pytest.raises(ConfigError, match=what):
        choose_device(device, quantized=quantized)


def test_no_such_dtype() -> None:
    """What was meant is guessed."""
    with pytest.raises(ConfigError, match="Did you mean 'bfloat16'"):
        choose_dtype("bfloat", device="cpu", quantized=False)


def test_quantized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs a CPU that has the instructions, and no other dtype beside it."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    assert "bfloat16" == choose_dtype("auto", device="cpu", quantized=True)
    with pytest.raises(ConfigError, match="not in float32"):
        choose_dtype("float32", device="cpu", quantized=True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    with pytest.raises(ConfigError, match="needs a CPU that multiplies bfloat16"):
        choose_dtype("auto", device="cpu", quantized=True)
