"""What a directory of a model says of itself: its kind, how it pools, how long a text may be."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ModelDirectory", "Pooling", "describe", "sha256_of"]

Pooling: TypeAlias = Literal["mean", "cls", "sentence-transformers"]
"""How states of tokens become one vector; the last: as only that library knows."""

_GENERATING = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "DoubleHeadsModel")
_PLAIN_MODULES = {"Transformer", "Pooling", "Normalize"}
_LEGACY_POOLING: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
}
_OTHER_PROGRAMS = {"onnx", "openvino"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDirectory:
    """A directory of sentence-transformers or of transformers."""

    root: Path
    transformer: Path | None
    """Where the transformer is; None where the model has none."""
    pooling: Pooling
    prefix: str
    """What is put before a text whose sentence embedding is wanted."""
    sentence_limit: int | None
    """Most tokens of a text whose sentence embedding is wanted, where the model's makers set it
    apart from what the transformer takes."""

    @property
    def weights(self) -> tuple[Path, ...]:
        """The files of weights, sorted.

        Raises:
            ConfigError: there are none in a format that runs no code when it is read.
        """
        files = sorted(
            path
            for path in self.root.rglob("*.safetensors")
            if not _OTHER_PROGRAMS.intersection(path.relative_to(self.root).parts)
        )
        if not files:
            msg = (
                f"encoder {str(self.root)!r}: has no weights (*.safetensors); load it with "
                "transformers and save it with save_pretrained(…), which writes that format"
            )
            raise ConfigError(msg)
        return tuple(files)


def describe(root: Path) -> ModelDirectory:
    """Read what *root* says of itself; no weights.

    Raises:
        ConfigError: no directory of a model, or one of a model that is no encoder.
    """
    modules = _json(root, "modules.json")
    if modules is None:
        _check_encoder(root)
        return ModelDirectory(
            root=root, transformer=root, pooling="mean", prefix="", sentence_limit=None
        )
    try:
        kinds = [str(module["type"]).rpartition(".")[2] for module in modules]
        folders = [root / str(module["path"]) for module in modules]
    except (TypeError, KeyError) as error:
        msg = f"encoder {str(root)!r}: modules.json is no list of modules with a type and a path"
        raise ConfigError(msg) from error
    # Newer versions of the library save the path of a module that is not a folder as "".
    transformer = folders[0] if kinds[:1] == ["Transformer"] else None
    settings = {} if transformer is None else _mapping(transformer, "sentence_bert_config.json")
    pooling: Pooling = "sentence-transformers"
    plain = (
        kinds[:2] == ["Transformer", "Pooling"]
        and _PLAIN_MODULES.issuperset(kinds)
        and settings.get("transformer_task", "feature-extraction") == "feature-extraction"
        and not settings.get("do_lower_case")
    )
    if plain:
        pooling = _pooling(_mapping(folders[1], "config.json"))
    prompts = _mapping(root, "config_sentence_transformers.json")
    named = prompts.get("prompts")
    prefix = named.get(prompts.get("default_prompt_name")) if isinstance(named, dict) else None
    limit = settings.get("max_seq_length")
    return ModelDirectory(
        root=root,
        transformer=transformer,
        pooling=pooling,
        prefix=prefix if isinstance(prefix, str) else "",
        sentence_limit=limit if isinstance(limit, int) and limit > 0 else None,
    )


def sha256_of(files: tuple[Path, ...]) -> str:
    """Return the SHA-256 of a file, or of the list of those of several.

    That of a file with the size and the time it had before is not computed again.
    """
    digests = []
    for path in files:
        status = path.stat()
        digests.append(_sha256(path, status.st_size, status.st_mtime_ns))
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


@cache
def _sha256(path: Path, size: int, modified: int) -> str:
    del size, modified  # what tells a changed file from the one already read
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pooling(config: dict[str, Any]) -> Pooling:
    if not config.get("include_prompt", True):
        return "sentence-transformers"
    mode = config.get("pooling_mode")
    if mode is None:
        on = [name for name in config if name.startswith("pooling_mode_") and config[name] is True]
        return (
            _LEGACY_POOLING.get(on[0], "sentence-transformers")
            if len(on) == 1
            else ("sentence-transformers")
        )
    if mode == "mean":
        return "mean"
    return "cls" if mode == "cls" else "sentence-transformers"


def _check_encoder(root: Path) -> None:
    if not (root / "config.json").is_file():
        msg = (
            f"encoder {str(root)!r}: has neither config.json nor modules.json; name a directory "
            "as save_pretrained(…) of transformers or save(…) of sentence-transformers writes it"
        )
        raise ConfigError(msg)
    config = _mapping(root, "config.json")
    kind = str(config.get("model_type"))
    names = [str(name) for name in config.get("architectures") or []]
    generating = [name for name in names if name.endswith(_GENERATING)]
    if (
        generating
        or config.get("is_encoder_decoder")
        or config.get("is_decoder")
        or _generates(kind)
    ):
        msg = (
            f"encoder {str(root)!r}: generates text ({', '.join(generating) or kind}), but an "
            "encoder is needed: name one such as bert-base-multilingual-cased, or a model of "
            "sentence-transformers"
        )
        raise ConfigError(msg)


def _generates(kind: str) -> bool:
    """Tell whether models of *kind* generate text and cannot fill in blanks, as encoders do."""
    from transformers.models.auto.modeling_auto import (  # noqa: PLC0415  a second to import
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    )

    if kind in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return False
    return (
        kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        or kind in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    )


def _mapping(folder: Path, name: str) -> dict[str, Any]:
    """Return a file's settings; none where there is no such file."""
    found = _json(folder, name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        msg = f"encoder {str(folder)!r}: {name} holds no settings"
        raise ConfigError(msg)
    return found


def _json(folder: Path, name: str) -> Any:  # noqa: ANN401  as the file has it
    try:
        return json.loads((folder / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        msg = f"encoder {str(folder)!r}: cannot read {name} as JSON: {error}"
        raise ConfigError(msg) from error
