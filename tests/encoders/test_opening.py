"""Open encoders, and refuse what is none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants

from pytest_xling.encoders.opening import check_encoder, open_encoder
from pytest_xling.encoders.source import Source
from pytest_xling.encoders.transformer import TransformerEncoder
from pytest_xling.errors import ConfigError
from pytest_xling.models import loading
from tests.encoders.tiny_models import add_modules, make_gpt2, make_t5
from tests.servers.hf_hub import COMMIT, ask_hub, serving_hub

if TYPE_CHECKING:
    from pathlib import Path

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _open(spec: str, *, device: str = "cpu") -> TransformerEncoder:
    encoder = open_encoder(spec, device=device)
    assert isinstance(encoder, TransformerEncoder)
    return encoder


def test_one_for_all(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same arguments give the same object, however the directory is spelled."""
    encoder = _open(str(bert))
    monkeypatch.chdir(bert.parent)
    assert encoder is _open(bert.name)
    assert encoder is _open(f"./{bert.name}/")
    assert encoder is not open_encoder(str(bert), device="cpu", dtype="bfloat16")


def test_signature_without_weights(bert: Path, tmp_path: Path) -> None:
    """It names the weights' hash, dtype, pooling, windows and versions; nothing of the machine."""
    directory = shutil.copytree(bert, tmp_path / "mine")
    encoder = _open(str(directory))
    signed = dict(encoder.signed())
    assert "_forward" not in vars(encoder)
    assert str(tmp_path) not in json.dumps(signed)
    assert ("mine", "float32", "mean", "", "windows:64/32") == tuple(
        signed[key] for key in ("name", "dtype", "pooling", "prefix", "long_texts")
    )
    sums = subprocess.run(
        ["sha256sum", directory / "model.safetensors", directory / "tokenizer.json"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert [line.split()[0] for line in sums] == [signed["sha256"], signed["tokenizer_sha256"]]
    assert {"torch", "transformers", "tokenizers"} < signed.keys()


def test_other_weights_sign_otherwise(bert: Path, tmp_path: Path) -> None:
    """Two models of one name are told apart, by nothing but their weights."""
    one, two = (shutil.copytree(bert, tmp_path / folder / "bert") for folder in "ab")
    weights = two / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    signed = [dict(_open(str(directory)).signed()) for directory in (one, two)]
    assert {"sha256"} == {key for key in signed[0] if signed[0][key] != signed[1][key]}


@pytest.mark.parametrize("spec", ["/no/such/directory", "./nowhere", "a/b/c", "~/nowhere at all"])
def test_no_such_directory(spec: str) -> None:
    """The spec is named, and what else could be."""
    with pytest.raises(ConfigError, match=r"there is no such directory.*or 'embedded'"):
        open_encoder(spec)


def test_directory_without_a_model(tmp_path: Path) -> None:
    """A folder of something else is named."""
    with pytest.raises(
        ConfigError, match=r"neither config\.json nor modules\.json.*save_pretrained"
    ):
        open_encoder(str(tmp_path))


@pytest.mark.parametrize("make", [make_gpt2, make_t5])
def test_models_that_generate_are_no_encoders(tmp_path: Path, make: object) -> None:
    """GPT-2 and T5 are refused by name, with what to use in their place."""
    assert callable(make)
    with pytest.raises(
        ConfigError, match=r"generates text \((GPT2LMHeadModel|T5For.*)\).*name one"
    ):
        open_encoder(str(make(tmp_path)))


def test_model_type_alone_tells(tmp_path: Path) -> None:
    """A decoder saved without its head is still none, and so is a BERT made one."""
    for config in (
        {"model_type": "gpt2", "architectures": ["GPT2Model"]},
        {"model_type": "llama"},
        {"model_type": "bert", "is_decoder": True},
        {"model_type": "marian"},
    ):
        (tmp_path / "config.json").write_text(json.dumps(config))
        with pytest.raises(ConfigError, match="generates text"):
            open_encoder(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("config.json", "{", r"cannot read .*/broken/config\.json as JSON"),
        ("config.json", "[]", "config.json holds no settings"),
        ("modules.json", '[{"type": 1}]', "modules.json is no list of modules"),
        ("modules.json", "3", "modules.json is no list of modules"),
        (
            "config.json",
            '{"model_type": "nothing known"}',
            r"its settings in config\.json cannot be loaded \(ValueError\)",
        ),
        (
            "config.json",
            '{"model_type": "bert", "max_position_embeddings": 3}',
            "takes only 3 tokens",
        ),
    ],
)
def test_broken_settings(bert: Path, tmp_path: Path, name: str, content: str, what: str) -> None:
    """File and fault are named."""
    directory = shutil.copytree(bert, tmp_path / "broken")
    (directory / name).write_text(content)
    with pytest.raises(ConfigError, match=what):
        open_encoder(str(directory)).signed()


def test_no_safe_weights(bert: Path, tmp_path: Path) -> None:
    """Weights as pickles are not read."""
    directory = shutil.copytree(bert, tmp_path / "pickled")
    (directory / "model.safetensors").rename(directory / "pytorch_model.bin")
    encoder = open_encoder(str(directory))
    for ask in (encoder.signed, encoder.load):
        with pytest.raises(
            ConfigError, match=r"has no weights \(\*\.safetensors\).*save_pretrained"
        ):
            ask()


def test_weights_of_another_model(bert: Path, tmp_path: Path) -> None:
    """Layers that the files hold no weights for would be random: refused, and named."""
    directory = shutil.copytree(bert, tmp_path / "mixed")
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 4}))
    with pytest.raises(ConfigError, match=r"no weights for encoder\.layer\.3\..* and others"):
        open_encoder(str(directory), device="cpu").load()


def test_damaged_weights(bert: Path, tmp_path: Path) -> None:
    """A file that ends too early is said to be one."""
    directory = shutil.copytree(bert, tmp_path / "cut")
    weights = directory / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ConfigError, match="cannot be loaded"):
        open_encoder(str(directory), device="cpu").load()


def test_no_tokenizer(bert: Path, tmp_path: Path) -> None:
    """A model without one cannot read."""
    directory = shutil.copytree(bert, tmp_path / "mute")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (directory / name).unlink()
    with pytest.raises(ConfigError, match="has no tokenizer; save it there, too"):
        open_encoder(str(directory), device="cpu").load()


def test_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the command that helps."""
    monkeypatch.setattr(loading, "find_spec", lambda name: None if name == "torch" else object())
    with pytest.raises(
        ConfigError, match=r"encoders need torch: pip install 'pytest-xling\[torch\]'"
    ):
        open_encoder("embedded")


def _hub(monkeypatch: pytest.MonkeyPatch, cache: Path, model: Path | None) -> None:
    """Have a cache of the hub with *model* in it as some/model, and no network."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    if model is not None:
        folder = cache / "models--some--model"
        (folder / "refs").mkdir(parents=True)
        (folder / "refs" / "main").write_text(_COMMIT)
        shutil.copytree(model, folder / "snapshots" / _COMMIT)


def test_hub_name(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the hub's cache has is used, and its commit signed in place of a hash."""
    _hub(monkeypatch, tmp_path / "hub", bert)
    encoder = _open("some/model")
    signed = encoder.signed()
    assert ("some/model", _COMMIT) == (signed["name"], signed["revision"])
    assert "sha256" not in signed
    same = _open(f"some/model@{_COMMIT}")
    assert (same.sentence_embeddings(["no"]) == encoder.sentence_embeddings(["no"])).all()


def test_hub_does_not_give_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network the message still says what to name instead."""
    _hub(monkeypatch, tmp_path / "hub", None)
    with pytest.raises(
        ConfigError, match="'no/model': no such directory, and the Hugging Face hub"
    ):
        open_encoder("no/model")


def test_hub_weights_fetched_at_the_commit(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings are enough to sign; the weights are asked for when loaded, at the same commit."""
    with serving_hub("some/encoder", bert) as (address, asked):
        ask_hub(monkeypatch, address, cache=tmp_path / "hub")
        check_encoder("some/encoder")
        encoder = _open("some/encoder")
        assert COMMIT == encoder.signed()["revision"]
        assert not [path for path in asked if path.endswith(".safetensors")]
        encoder.load()
        assert f"/some/encoder/resolve/{COMMIT}/model.safetensors" in asked


def test_weights_of_modules_lie_in_folders() -> None:
    """Those of other programs do not count."""
    names = ["2_Dense/model.safetensors", "onnx/model.safetensors", "pytorch_model.bin"]
    assert ["2_Dense/model.safetensors"] == Source.weight_files(names)


def test_prefix_and_limit_of_sentence_transformers(bert: Path, tmp_path: Path) -> None:
    """Prefix, pooling and the makers' own limit stand in the signature."""
    directory = add_modules(
        shutil.copytree(bert, tmp_path / "st"),
        pooling={"pooling_mode_cls_token": True},
        prefix="query: ",
        limit=24,
    )
    signed = _open(str(directory)).signed()
    assert ("cls", "query: ", "windows:64/32", "windows:24/12") == tuple(
        signed[key] for key in ("pooling", "prefix", "long_texts", "long_texts_of_sentences")
    )


def test_nothing_large_is_imported_to_load_the_module() -> None:
    """Opening is what costs; importing the function does not import torch or numpy."""
    code = (
        "import sys; import pytest_xling.encoders.opening; "
        "print(sorted({'numpy', 'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout


def test_checked_before_anything_is_loaded(tmp_path: Path) -> None:
    """A directory of something else is refused without torch."""
    script = (
        "import sys\n"
        "from pytest_xling.encoders.opening import check_encoder\n"
        "from pytest_xling.errors import ConfigError\n"
        "check_encoder('embedded')\n"
        f"for place in ({str(tmp_path)!r}, {str(tmp_path / 'none')!r}):\n"
        "    try:\n"
        "        check_encoder(place)\n"
        "    except ConfigError as error:\n"
        "        print(error)\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert 2 == done.stdout.count(str(tmp_path))
