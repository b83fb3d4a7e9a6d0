"""A checkpoint of natural language inference: where it is, and which of its outputs means what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from pytest_xling.errors import ConfigError
from pytest_xling.files.digest import files_sha256
from pytest_xling.models import loading
from pytest_xling.models.directory import ModelDirectory
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from pytest_xling.keys import JsonValue

Label: TypeAlias = Literal["entailment", "neutral", "contradiction"]
"""What a premise may be to a hypothesis."""

_MEANS: Final[Mapping[str, Label]] = {
    "entailment": "entailment",
    "entail": "entailment",
    "entails": "entailment",
    "contradiction": "contradiction",
    "contradict": "contradiction",
    "contradicts": "contradiction",
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
ADVICE = (
    "name a three-way NLI model (entailment, neutral, contradiction), such as "
    "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
)


@dataclass(frozen=True, kw_only=True)
class Checkpoint(ModelDirectory):
    """A checkpoint that was found; its weights may still have to be fetched.

    Each option that names one derives from it, so that messages name that option.
    """

    of: ClassVar[str]
    """What it finds: ``stance`` for the parameter and ``stance_nli``."""

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

    @classmethod
    def named(cls, value: str) -> Self:
        """Find the checkpoint that *value* of the option names: ``nli:`` and what ``find`` takes.

        Raises:
            ConfigError: as ``find``.
        """
        return cls.find(cls._spec(value))

    @classmethod
    def check_named(cls, value: str) -> None:
        """Raise ConfigError where *value* leads to no three-way NLI model, or an extra is missing.

        Loads neither torch nor weights: of a name on the hub, its settings and a list of its files.
        """
        cls.check_packages()
        cls.named(value).check_weights()

    @classmethod
    def check_packages(cls) -> None:
        """Raise ConfigError unless the packages that run a checkpoint are installed."""
        loading.check_packages(f"--xling-param={cls.of}=nli:… needs")

    @classmethod
    def _spec(cls, value: str) -> str:
        kind, _, spec = value.partition(":")
        if kind != "nli" or not spec.strip():
            msg = (
                f"--xling-param={cls.of}={value}: {cls.of}_nli needs nli:NAME or nli:DIRECTORY; "
                f"{cls.advice}"
            )
            raise ConfigError(msg)
        return spec.strip()

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """What each output says of the hypothesis, given the premise: config.json names them.

        Raises:
            ConfigError: it does not, or the outputs are not those of three-way NLI.
        """
        classes = [str(name) for name in self.config.get("architectures") or ()]
        if not any(name.endswith("ForSequenceClassification") for name in classes):
            what = ", ".join(classes) or "no architecture that its config.json names"
            msg = f"{self.title}: is no classifier of sequences ({what}); {self.advice}"
            raise ConfigError(msg)
        names = _in_order(self.config.get("id2label"))
        shown = printable(", ".join(names), limit=120) or "none"
        if not names or all(_UNNAMED.fullmatch(name) for name in names):
            msg = (
                f"{self.title}: the names of its labels are not known (config.json has {shown}), "
                "and their order differs between models; write id2label with entailment, neutral "
                "and contradiction there, as the model's makers say, or name another model"
            )
            raise ConfigError(msg)
        meanings = [_MEANS.get(name.strip().lower()) for name in names]
        labels = tuple(label for label in meanings if label is not None)
        if len(labels) != len(names) or sorted(labels) != sorted(get_args(Label)):
            msg = f"{self.title}: tells these apart: {shown}; {self.advice}"
            raise ConfigError(msg)
        return labels

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """What stands in the signature for weights, settings and tokenizer."""
        if self.revision is not None:
            return {"revision": self.revision}
        rest = [path for name in (*_SETTINGS, *_TOKENIZERS) if (path := self.path / name).is_file()]
        return {"sha256": files_sha256(self.weights), "settings_sha256": files_sha256(rest)}


def _in_order(id2label: Any) -> list[str]:  # noqa: ANN401  as the file has it
    """Return the names of the outputs in order; none where they are not numbered from 0 on."""
    if not isinstance(id2label, dict):
        return []
    by_number = {int(key): str(name) for key, name in id2label.items() if str(key).isdecimal()}
    if len(by_number) != len(id2label) or sorted(by_number) != list(range(len(by_number))):
        return []
    return [by_number[number] for number in range(len(by_number))]
