"""A checkpoint of natural language inference: where it is, and which of its outputs means what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pytest_xling.errors import ConfigError
from pytest_xling.files.digest import files_sha256
from pytest_xling.models import loading
from pytest_xling.models.directory import ModelDirectory
from pytest_xling.models.hub import split_name
from pytest_xling.text.display import printable
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from pytest_xling.keys import JsonValue
    from pytest_xling.text.stance import Stance

__all__ = ["Checkpoint", "check_checkpoint", "check_packages", "find_checkpoint"]

_MEANS: Final[Mapping[str, Stance]] = {
    "entailment": "agree",
    "entail": "agree",
    "entails": "agree",
    "contradiction": "disagree",
    "contradict": "disagree",
    "contradicts": "disagree",
    "neutral": "neutral",
}
_UNNAMED = re.compile(r"label_?\d+|\d+", re.IGNORECASE)
_TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spm.model",
    "sentencepiece.bpe.model",
    "spiece.model",
)
_SETTINGS = ("config.json", "tokenizer_config.json", "special_tokens_map.json")
_ADVICE = (
    "name a three-way NLI model (entailment, neutral, contradiction), such as "
    "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
)


@dataclass(frozen=True, kw_only=True)
class Checkpoint(ModelDirectory):
    """A checkpoint that was found; its weights may still have to be fetched."""

    label: ClassVar[str] = "stance nli:{}"
    advice: ClassVar[str] = _ADVICE

    @classmethod
    def find(cls, spec: str) -> Self:
        """Find the checkpoint that *spec* names: a directory, or a name on the hub.

        Raises:
            ConfigError: there is none, or it does not tell entailment, contradiction and neither
                apart.
        """
        checkpoint = super().find(spec)
        _ = checkpoint.labels
        return checkpoint

    @cached_property
    def labels(self) -> tuple[Stance, ...]:
        """What each output says of the hypothesis, given the premise: config.json names them.

        Raises:
            ConfigError: it does not, or the outputs are not those of three-way NLI.
        """
        classes = [str(name) for name in self.config.get("architectures") or ()]
        if not any(name.endswith("ForSequenceClassification") for name in classes):
            what = ", ".join(classes) or "no architecture that its config.json names"
            msg = f"{self.called}: is no classifier of sequences ({what}); {self.advice}"
            raise ConfigError(msg)
        names = _in_order(self.config.get("id2label"))
        shown = printable(", ".join(names), limit=120) or "none"
        if not names or all(_UNNAMED.fullmatch(name) for name in names):
            msg = (
                f"{self.called}: the names of its labels are not known (config.json has {shown}), "
                "and their order differs between models; write id2label with entailment, neutral "
                "and contradiction there, as the model's makers say, or name another model"
            )
            raise ConfigError(msg)
        meanings = [_MEANS.get(name.strip().lower()) for name in names]
        labels = tuple(stance for stance in meanings if stance is not None)
        if len(labels) != len(names) or sorted(labels) != sorted(STANCES):
            msg = f"{self.called}: tells these apart: {shown}; {self.advice}"
            raise ConfigError(msg)
        return labels

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """What stands in the signature for weights, settings and tokenizer."""
        if self.revision is not None:
            return {"revision": self.revision}
        rest = [path for name in (*_SETTINGS, *_TOKENIZERS) if (path := self.path / name).is_file()]
        return {"sha256": files_sha256(self.weights), "settings_sha256": files_sha256(rest)}


def check_packages() -> None:
    """Raise ConfigError unless the packages that run a checkpoint are installed."""
    loading.check_packages("--xling-stance=nli:… needs")


def check_checkpoint(stance: str) -> None:
    """Raise ConfigError where *stance* leads to no three-way NLI model, or an extra is missing.

    Loads neither torch nor weights. Names on the hub are looked up when the checkpoint is opened.
    """
    check_packages()
    spec = _spec(stance)
    path = Path(spec).expanduser()
    if path.exists() or path.is_absolute() or split_name(spec) is None:
        _ = find_checkpoint(stance).weights


def find_checkpoint(stance: str) -> Checkpoint:
    """Find the checkpoint that *stance* names: ``nli:`` and a directory or a name on the hub.

    Raises:
        ConfigError: there is none, or it does not tell entailment, contradiction and neither apart.
    """
    return Checkpoint.find(_spec(stance))


def _spec(stance: str) -> str:
    kind, _, spec = stance.partition(":")
    if kind != "nli" or not spec.strip():
        msg = f"--xling-stance={stance}: stance_nli needs nli:NAME or nli:DIRECTORY; {_ADVICE}"
        raise ConfigError(msg)
    return spec.strip()


def _in_order(id2label: Any) -> list[str]:  # noqa: ANN401  as the file has it
    """Return the names of the outputs in order; none where they are not numbered from 0 on."""
    if not isinstance(id2label, dict):
        return []
    by_number = {int(key): str(name) for key, name in id2label.items() if str(key).isdecimal()}
    if len(by_number) != len(id2label) or sorted(by_number) != list(range(len(by_number))):
        return []
    return [by_number[number] for number in range(len(by_number))]
