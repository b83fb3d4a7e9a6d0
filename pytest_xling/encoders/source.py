"""An encoder's directory: how it pools, what it puts before texts, and how long they may be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pytest_xling.encoders.e5.directory import E5_SHA256, e5_directory
from pytest_xling.errors import ConfigError
from pytest_xling.files.digest import files_sha256
from pytest_xling.models.directory import ModelDirectory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from pytest_xling.keys import JsonValue

EMBEDDED = "embedded"

Pooling: TypeAlias = Literal["mean", "cls", "sentence-transformers"]
"""How states of tokens become one vector; the last: as only that library knows."""

_GENERATING = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "DoubleHeadsModel")
_PLAIN_MODULES = {"Transformer", "Pooling", "Normalize"}
_LEGACY_POOLING: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
}
_OTHER_PROGRAMS = {"onnx", "openvino"}
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "sentencepiece.bpe.model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a directory of sentence-transformers or of transformers says of itself."""

    transformer: Path | None
    """Where the transformer is; None where the model has none."""
    pooling: Pooling
    prefix: str = ""
    """What is put before a text whose sentence embedding is wanted."""
    sentence_limit: int | None = None
    """Most tokens of a text whose sentence embedding is wanted, where the model's makers set it
    apart from what the transformer takes."""


@dataclass(frozen=True, kw_only=True)
class Source(ModelDirectory):
    """An encoder that was found; its weights may still have to be fetched."""

    label: ClassVar[str] = "encoder {!r}"
    named_by: ClassVar[str] = "--xling-param=encoder={}"
    advice: ClassVar[str] = (
        "name a directory, a model of the hub, or 'embedded' (--xling-param=encoder=…)"
    )

    @classmethod
    def find(cls, spec: str) -> Self:
        """Find the encoder *spec* names; see :func:`pytest_xling.encoders.opening.open_encoder`.

        Raises:
            ConfigError: there is none, or it is no encoder.
        """
        source = cls(path=e5_directory(), name=EMBEDDED) if spec == EMBEDDED else super().find(spec)
        _ = source.layout
        return source

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """What stands in the signature for the weights and the tokenizer."""
        if self.revision is not None:
            return {"revision": self.revision}
        if self.name == EMBEDDED:
            return {"sha256": E5_SHA256}
        folder = self.layout.transformer or self.path
        tokenizer = [path for name in _TOKENIZERS if (path := folder / name).is_file()]
        return {
            "sha256": files_sha256(self.weights),
            "tokenizer_sha256": files_sha256(tokenizer) if tokenizer else None,
        }

    @cached_property
    def layout(self) -> Layout:
        """What the directory says of itself, without its weights.

        Raises:
            ConfigError: no directory of a model, or one of a model that is no encoder.
        """
        modules = self.json("modules.json")
        if modules is None:
            self._check_encoder()
            return Layout(transformer=self.path, pooling="mean")
        try:
            kinds = [str(module["type"]).rpartition(".")[2] for module in modules]
            folders = [PurePath(str(module["path"])) for module in modules]
        except (TypeError, KeyError) as error:
            msg = f"{self.title}: modules.json is no list of modules with a type and a path"
            raise ConfigError(msg) from error
        # Newer versions of the library save the path of a module that is not a folder as "".
        prompts = self.settings("config_sentence_transformers.json") or {}
        by_name = prompts.get("prompts")
        name = prompts.get("default_prompt_name")
        prefix = by_name.get(name) if isinstance(by_name, dict) else None
        prefix = prefix if isinstance(prefix, str) else ""
        if kinds[:1] != ["Transformer"]:
            return Layout(transformer=None, pooling="sentence-transformers", prefix=prefix)
        settings = self.settings(str(folders[0] / "sentence_bert_config.json")) or {}
        pooling: Pooling = "sentence-transformers"
        plain = (
            kinds[:2] == ["Transformer", "Pooling"]
            and _PLAIN_MODULES.issuperset(kinds)
            and settings.get("transformer_task", "feature-extraction") == "feature-extraction"
            and not settings.get("do_lower_case")
        )
        if plain:
            pooling = _pooling(self.settings(str(folders[1] / "config.json")) or {})
        limit = settings.get("max_seq_length")
        return Layout(
            transformer=self.path / folders[0],
            pooling=pooling,
            prefix=prefix,
            sentence_limit=limit if isinstance(limit, int) and limit > 0 else None,
        )

    @staticmethod
    def weight_files(names: Sequence[str]) -> list[str]:
        """Return the files of weights of all modules, which lie in folders."""
        paths = (PurePosixPath(name) for name in names if name.endswith(".safetensors"))
        # In the order of paths, which signatures know.
        return [str(path) for path in sorted(paths) if _OTHER_PROGRAMS.isdisjoint(path.parts)]

    def _check_encoder(self) -> None:
        config = self.settings("config.json")
        if config is None:
            msg = (
                f"{self.title}: has neither config.json nor modules.json in {self.path}; name a "
                "directory as save_pretrained(…) of transformers or save(…) of "
                "sentence-transformers writes it"
            )
            raise ConfigError(msg)
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
                f"{self.title}: generates text ({', '.join(generating) or kind}), but an encoder "
                "is needed: name one such as bert-base-multilingual-cased, or a model of "
                "sentence-transformers"
            )
            raise ConfigError(msg)


def _pooling(config: Mapping[str, Any]) -> Pooling:
    if not config.get("include_prompt", True):
        return "sentence-transformers"
    mode = config.get("pooling_mode")
    if mode is None:
        modes = [
            name for name in config if name.startswith("pooling_mode_") and config[name] is True
        ]
        if len(modes) != 1:
            return "sentence-transformers"
        return _LEGACY_POOLING.get(modes[0], "sentence-transformers")
    if mode == "mean":
        return "mean"
    return "cls" if mode == "cls" else "sentence-transformers"


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
