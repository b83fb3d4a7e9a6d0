"""A model that writes: where its files are and what they say of it, read without loading it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pytest_xling.errors import ConfigError
from pytest_xling.files.cache_folder import cache_folder
from pytest_xling.files.digest import file_sha256, kept_sha256
from pytest_xling.keys import canonical_json
from pytest_xling.models import hub, loading
from pytest_xling.models.directory import ModelDirectory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle

Family: TypeAlias = Literal["m2m100", "mbart50", "nllb", "opus", "small100"]
"""The translation models there are; they differ in how they are told the languages."""

_GENERATES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_TRANSLATORS = "NLLB-200, M2M-100, SMaLL-100, mBART-50 and Opus-MT (Marian)"
_SEQUENCE_TO_SEQUENCE = {"m2m_100", "marian", "mbart", "nllb-moe"}
_TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
    "source.spm",
)
# Twelve layers that read and three that write: no M2M-100 proper is made so.
_SMALL100_LAYERS = (12, 3)
_WEIGHTS = re.compile(r"model(-\d+-of-\d+)?\.safetensors")
_SMALL = {pattern.removeprefix("*") for pattern in hub.SETTINGS}
_KEEP_FROM = 64 * 1024 * 1024
"""Bytes from which on the digest is kept in a file: reading a large model takes a minute."""


def check_packages(*, family: Family | None = None) -> None:
    """Raise ConfigError unless the packages that run a model are installed."""
    needs_sentencepiece = family in {"m2m100", "opus", "small100"}
    extra = ("sentencepiece",) if needs_sentencepiece else ()
    loading.check_packages("hf: needs", ("torch", "transformers", *extra))


@dataclass(frozen=True, kw_only=True)
class ModelFiles(ModelDirectory):
    """A directory with a model, as ``save_pretrained`` writes it or the hub's cache holds it."""

    label: ClassVar[str] = "hf:{}"
    named_by: ClassVar[str] = "hf:{}"
    advice: ClassVar[str] = "name a directory, or a model of the hub"
    weights_named: ClassVar[str] = "model.safetensors or model-…-of-….safetensors"

    @classmethod
    def find(cls, spec: str) -> Self:
        """Find the model that *spec* names, a directory or ``NAME@REVISION``; fetches no weights.

        Raises:
            ConfigError: there is no such directory or model, or the hub does not give it.
        """
        if not spec.strip():
            msg = "hf: needs a model: hf:DIRECTORY, or hf:NAME for one from the Hugging Face hub"
            raise ConfigError(msg)
        return super().find(spec)

    @staticmethod
    def has_settings(path: Path) -> bool:
        """Tell whether a directory has both configuration and tokenizer."""
        return (path / "config.json").is_file() and _has_tokenizer(path)

    @cached_property
    def tokenizer_config(self) -> Mapping[str, Any]:
        """What tokenizer_config.json says; empty where there is none."""
        return self.settings("tokenizer_config.json") or {}

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """What stands in the signature for weights, settings and tokenizer."""
        if self.revision is not None:
            return {"revision": self.revision}
        return {"sha256": digest(self)}

    @property
    def translates(self) -> bool:
        """Whether the model reads one sequence and writes another."""
        return bool(self.config.get("is_encoder_decoder")) or self._type in _SEQUENCE_TO_SEQUENCE

    @property
    def _type(self) -> str:
        return str(self.config.get("model_type", ""))

    @cached_property
    def style(self) -> PromptStyle:
        """How the model wants to be asked."""
        if self.translates:
            return "translation"
        has_template = (
            bool(self.tokenizer_config.get("chat_template"))
            or (self.path / "chat_template.jinja").is_file()
            or any((self.path / "additional_chat_templates").glob("*.jinja"))
        )
        return "chat" if has_template else "completion"

    @cached_property
    def family(self) -> Family:
        """Which translation model this is.

        Raises:
            ConfigError: none that we know how to tell the languages.
        """
        tokenizer = str(self.tokenizer_config.get("tokenizer_class", ""))
        layers = (self.config.get("encoder_layers"), self.config.get("decoder_layers"))
        small100 = re.search(r"small-?100", f"{self.name} {tokenizer}", re.IGNORECASE)
        match self._type:
            case "marian":
                return "opus"
            case "nllb-moe":
                return "nllb"
            case "m2m_100" if tokenizer.startswith("Nllb"):
                return "nllb"
            case "m2m_100" if small100 or layers == _SMALL100_LAYERS:
                return "small100"
            case "m2m_100":
                return "m2m100" if (self.path / "vocab.json").is_file() else "nllb"
            case "mbart" if tokenizer.startswith("MBart50"):
                return "mbart50"
        msg = (
            f"{self.title} is a sequence-to-sequence model of type {self._type!r}"
            f"{f' ({tokenizer})' if tokenizer else ''}, and how to tell it the languages is not "
            f"known; use one of {_TRANSLATORS}, or a model that chats"
        )
        raise ConfigError(msg)

    @property
    def dtype(self) -> str:
        """The type of the numbers, as config.json has it; the model is run in it."""
        inner = self.config.get("text_config") or {}
        for config in (self.config, inner):
            if dtype := config.get("dtype") or config.get("torch_dtype"):
                return str(dtype)
        return "as stored"

    def check(self) -> None:
        """Raise ConfigError where the folder holds no model that generates text."""
        architectures = [str(name) for name in self.config.get("architectures") or ()]
        if self.translates:
            check_packages(family=self.family)
        elif architectures and not any(name.endswith(_GENERATES) for name in architectures):
            msg = (
                f"{self.title} cannot write: it is a {', '.join(architectures)}, an encoder or "
                "classifier; name a model that generates text (…ForCausalLM). Encoders go to "
                "--xling-param=encoder"
            )
            raise ConfigError(msg)
        if not _has_tokenizer(self.path):
            names = ", ".join(_TOKENIZERS)
            msg = (
                f"{self.title}: no tokenizer in {self.path} (looked for {names}); "
                "save it there with tokenizer.save_pretrained"
            )
            raise ConfigError(msg)

    @staticmethod
    def weight_files(names: Sequence[str]) -> list[str]:
        """Return the file with the weights, or all its parts; none where a part is missing."""
        files = sorted(name for name in names if _WEIGHTS.fullmatch(name))
        parts = re.search(r"-of-(\d+)", files[0]) if files else None
        return files if parts is None or len(files) == int(parts[1]) else []


def _has_tokenizer(path: Path) -> bool:
    return any((path / name).is_file() for name in _TOKENIZERS)


def digest(files: ModelFiles) -> str:
    """Return the SHA-256 over weights, configuration and tokenizer: names and contents.

    For a large model it is kept in the user's cache folder.
    """
    paths = sorted({*files.weights, *_small_files(files.path)})
    if sum(path.stat().st_size for path in paths) < _KEEP_FROM:
        return _digest(paths)
    place = hashlib.sha256(str(files.path).encode()).hexdigest()[:16]
    return kept_sha256(cache_folder() / f"hf-{place}.json", paths, partial(_digest, paths))


def _small_files(folder: Path) -> list[Path]:
    templates = (folder / "additional_chat_templates").glob("*.jinja")
    return [p for p in (*folder.iterdir(), *templates) if p.is_file() and p.suffix in _SMALL]


def _digest(paths: list[Path]) -> str:
    digests: dict[str, JsonValue] = {path.name: file_sha256(path) for path in paths}
    return hashlib.sha256(canonical_json(digests).encode()).hexdigest()
