"""A model's folder: what its files say of it, read without loading anything."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_xling.records import PromptStyle

__all__ = ["Family", "ModelFiles", "check_packages", "weight_names"]

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
_PICKLED = re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin")


def check_packages(*, family: Family | None = None) -> None:
    """Raise ConfigError unless the packages that run a model are installed."""
    needed = ["torch", "transformers"]
    if family in {"m2m100", "opus", "small100"}:
        needed.append("sentencepiece")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        msg = (
            f"--model=hf needs {' and '.join(missing)}, which is not installed: pip install "
            "'pytest-xling[torch]' (a bare torch may bring gigabytes for CUDA along; "
            "torch==2.13.0, as constraints.txt has it, does not)"
        )
        raise ConfigError(msg)


def weight_names(names: list[str], *, of: str) -> list[str]:
    """Return which of a folder's files hold the weights, in the one format that runs no code.

    Args:
        names: of the files.
        of: what messages call the model.

    Raises:
        ConfigError: there are only pickled ones, which may run any code when they are read.
    """
    found = sorted(name for name in names if _WEIGHTS.fullmatch(name))
    pickled = [name for name in names if _PICKLED.fullmatch(name)]
    if not found and pickled:
        msg = (
            f"--model=hf:{of} has its weights in {min(pickled)} only, a pickle, which may run any "
            "code when it is read, and so is not; where you trust it, load it with transformers "
            "and save it with save_pretrained(…), which writes model.safetensors"
        )
        raise ConfigError(msg)
    return found


@dataclass(frozen=True)
class ModelFiles:
    """A folder with a model, as ``save_pretrained`` writes it or the hub's cache holds it."""

    folder: Path
    name: str
    """What the model is called in messages and keys: its name on the hub, or the folder's."""
    revision: str | None = None
    """The hub's commit; None for a folder of the user's own."""

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """What config.json says.

        Raises:
            ConfigError: it is not there, or is not JSON.
        """
        path = self.folder / "config.json"
        if not path.is_file():
            adapter = (self.folder / "adapter_config.json").is_file()
            hint = (
                "this is an adapter; merge it into its model and save that"
                if adapter
                else "name the folder that save_pretrained wrote, config.json and all"
            )
            msg = f"--model=hf: no config.json in {self.folder}: {hint}"
            raise ConfigError(msg)
        return _read(path)

    @cached_property
    def tokenizer_config(self) -> Mapping[str, Any]:
        """What tokenizer_config.json says; empty where there is none."""
        path = self.folder / "tokenizer_config.json"
        return _read(path) if path.is_file() else {}

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
            or (self.folder / "chat_template.jinja").is_file()
            or any((self.folder / "additional_chat_templates").glob("*.jinja"))
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
        named = re.search(r"small-?100", f"{self.name} {tokenizer}", re.IGNORECASE)
        match self._type:
            case "marian":
                return "opus"
            case "nllb-moe":
                return "nllb"
            case "m2m_100" if tokenizer.startswith("Nllb"):
                return "nllb"
            case "m2m_100" if named or layers == _SMALL100_LAYERS:
                return "small100"
            case "m2m_100":
                return "m2m100" if (self.folder / "vocab.json").is_file() else "nllb"
            case "mbart" if tokenizer.startswith("MBart50"):
                return "mbart50"
        msg = (
            f"--model=hf:{self.name} is a sequence-to-sequence model of type {self._type!r}"
            f"{f' ({tokenizer})' if tokenizer else ''}, and how to tell it the languages is not "
            f"known; use one of {_TRANSLATORS}, or a model that chats"
        )
        raise ConfigError(msg)

    @property
    def dtype(self) -> str:
        """The type of the numbers, as config.json has it; the model is run in it."""
        inner = self.config.get("text_config") or {}
        for config in (self.config, inner):
            if found := config.get("dtype") or config.get("torch_dtype"):
                return str(found)
        return "as stored"

    def check(self) -> None:
        """Raise ConfigError where the folder holds no model that generates text."""
        made = [str(name) for name in self.config.get("architectures") or ()]
        if self.translates:
            check_packages(family=self.family)
        elif made and not any(name.endswith(_GENERATES) for name in made):
            msg = (
                f"--model=hf:{self.name} cannot write: it is a {', '.join(made)}, an encoder or "
                "classifier; name a model that generates text (…ForCausalLM). Encoders go to "
                "--xling-encoder"
            )
            raise ConfigError(msg)
        if not self.has_tokenizer:
            msg = (
                f"--model=hf: no tokenizer in {self.folder} (looked for {', '.join(_TOKENIZERS)}): "
                "save it there with tokenizer.save_pretrained"
            )
            raise ConfigError(msg)

    @property
    def has_tokenizer(self) -> bool:
        """Whether there is a tokenizer's file."""
        return any((self.folder / name).is_file() for name in _TOKENIZERS)

    @property
    def weights(self) -> list[Path]:
        """The files with the weights; empty unless all parts are here.

        Raises:
            ConfigError: they are pickled.
        """
        names = weight_names([path.name for path in self.folder.iterdir()], of=self.name)
        parts = re.search(r"-of-(\d+)", names[0]) if names else None
        if parts is not None and len(names) != int(parts[1]):
            return []
        return [self.folder / name for name in names]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"--model=hf: {path} cannot be read as JSON: {error}"
        raise ConfigError(msg) from error
    if not isinstance(data, dict):
        msg = f"--model=hf: {path} holds no JSON object"
        raise ConfigError(msg)
    return data
