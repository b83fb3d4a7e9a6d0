"""How each family of translation models is told which languages it goes between."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import PermanentFault
from pytest_xling.languages import (
    codes,
    find,
    languages_named,
    translation_code,
    translation_languages,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pytest_xling.languages import TranslationFamily
    from pytest_xling.providers.hf.files import ModelFiles

_LABEL = re.compile(r">>(.+)<<")
# The pair as Opus-MT models are named: opus-mt-hi-en, opus-mt-tc-big-zls-en.
_NAMED = re.compile(r"opus-mt-(?:tc-\w+-)?([\w+]+)-([\w+]+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """What tells a model one pair of languages."""

    reads_as: str | None = None
    """What the tokenizer's ``src_lang`` is set to."""
    label: str = ""
    """A token before the text."""
    begins_with: int | None = None
    """The token every answer begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Languages:
    """The languages of ours that a translation model goes between."""

    reads: frozenset[str]
    writes: frozenset[str]
    labels: Mapping[str, str]
    """What it is told a language to write by, by our codes; of an Opus-MT model for several."""

    @classmethod
    def of(cls, files: ModelFiles, vocabulary: Iterable[str]) -> Languages:
        """Return those of the model's family; one that was cut down may lack some."""
        if files.family == "opus":
            labels = opus_targets(vocabulary)
            reads, writes = opus_pair(files)
            return cls(reads=reads, writes=frozenset(labels) or writes, labels=labels)
        codes = frozenset(translation_languages(_table(files)))
        return cls(reads=codes, writes=codes, labels={})

    def lacking(self, source: str, target: str) -> str:
        """Say which of two languages is not there; "" if both are."""
        return _lacks(source, self.reads, "read") or _lacks(target, self.writes, "write")


class Directions:
    """Gives the direction for a pair of our languages.

    Args:
        files: of a translation model.
        tokenizer: of the model.
    """

    def __init__(self, files: ModelFiles, tokenizer: Any) -> None:  # noqa: ANN401  untyped
        self._files = files
        self._tokenizer = tokenizer
        self._languages = Languages.of(files, tokenizer.get_vocab())
        if files.family != "opus":
            known = self._languages.reads
            codes = frozenset(code for code in known if self._token(code) is not None)
            self._languages = Languages(reads=codes, writes=codes, labels={})

    def __call__(self, source: str, target: str) -> Direction:
        """Return how the model is told to go from *source* to *target*.

        Raises:
            PermanentFault: it lacks one of them, or none is given.
        """
        for name, code in (("source_language", source), ("target_language", target)):
            if not code:
                msg = f"hf:{self._files.name} translates: the request needs {name!r} in its params"
                raise PermanentFault(msg)
        if wrong := self._languages.lacking(source, target):
            msg = f"hf:{self._files.name} {wrong}"
            raise PermanentFault(msg)
        labels = self._languages.labels
        match self._files.family:
            case "opus":
                return Direction(label=labels.get(_served(target, labels), ""))
            case "small100":
                # It is told the target where others are told the source, and finds that itself.
                return Direction(reads_as=self._code(target))
            case _:
                return Direction(reads_as=self._code(source), begins_with=self._token(target))

    def _code(self, code: str) -> str | None:
        return translation_code(_table(self._files), code)

    def _token(self, code: str) -> int | None:
        """Return the token of one of our languages; None where table or model lack it."""
        model_code = self._code(code)
        if model_code is None:
            return None
        if self._files.family in {"m2m100", "small100"}:
            token = self._tokenizer.lang_code_to_id.get(model_code)
        else:
            token = self._tokenizer.convert_tokens_to_ids(model_code)
        return None if token in {None, self._tokenizer.unk_token_id} else int(token)


def why_not(files: ModelFiles, source: str, target: str) -> str:
    """Say why a model cannot translate from *source* to *target*; "" if its files tell no reason.

    They tell it of the model's family; one that was cut down may lack more.

    Args:
        files: of a translation model; its tokenizer is not loaded.
        source: code of a language of ours.
        target: likewise.

    Raises:
        ConfigError: the family of the model is not known.
    """
    vocabulary = files.settings("vocab.json") or {} if files.family == "opus" else ()
    wrong = Languages.of(files, vocabulary).lacking(source, target)
    return f"hf:{files.name} {wrong}" if wrong else ""


def _served(code: str, has: Collection[str]) -> str:
    """Return what a model takes a language for: one of a region for its base."""
    return code if code in has else find(code).base


def _lacks(code: str, has: Collection[str], verb: str) -> str:
    if _served(code, has) in has:
        return ""
    return (
        f"cannot {verb} {find(code).english_name} ({code}). "
        f"It can: {', '.join(sorted(has)) or 'none of our languages'}. Use another "
        "translator or leave the language out"
    )


def _table(files: ModelFiles) -> TranslationFamily:
    """Return whose codes the model's family goes by."""
    match files.family:
        case "m2m100" | "small100":
            return "m2m100"
        case "mbart50":
            return "mbart50"
        case _:
            return "nllb"


def opus_pair(files: ModelFiles) -> tuple[frozenset[str], frozenset[str]]:
    """Return the codes of our languages that an Opus-MT model reads, and that it writes.

    Its tokenizer_config.json says so, or else its name.
    """
    config = files.tokenizer_config
    source, target = config.get("source_lang"), config.get("target_lang")
    if not (source and target):
        match = _NAMED.search(str(files.config.get("_name_or_path") or "")) or _NAMED.search(
            files.name
        )
        source, target = match.groups() if match else ("", "")
    return languages_named(str(source)), languages_named(str(target))


def opus_targets(vocabulary: Iterable[str]) -> dict[str, str]:
    """Return, by our codes, the labels ``>>xxx<<`` of the languages an Opus-MT model writes.

    Empty for a model that writes but one language. A label may be any code of the language, with
    its script (``>>cmn_Hans<<``) or without; our script's goes first, then the shortest.
    """
    labels = [token for token in vocabulary if _LABEL.fullmatch(token)]
    label_of = {}
    for code in codes():
        spellings, script = _spellings(code), _script(code)

        def order(label: str, *, code: str = code, script: str = script) -> tuple[Any, ...]:
            language, _, written = label[2:-2].partition("_")
            return written not in {"", script}, language != code, len(label), label

        of_language = [x for x in labels if x[2:-2].partition("_")[0].lower() in spellings]
        if of_language:
            label_of[code] = min(of_language, key=order)
    return label_of


@cache
def _spellings(code: str) -> frozenset[str]:
    language = find(code)
    return frozenset({code, *(a for a in language.aliases if len(a) <= len("xxx"))})


def _script(code: str) -> str:
    # Opus-MT tells the two Chinese scripts apart; ours is the simplified one.
    return "Hans" if code == "zh" else find(code).script
